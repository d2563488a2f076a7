"""Adds probes and coverage to runs: to each collected run, or to all of a store, in a new store.

A run is probed after its end, so that it can't depend on a probe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sentinel_sql.database.executor import time_zone_of
from sentinel_sql.database.probes.probe import Prober, Probing
from sentinel_sql.decision.grounder import Grounder
from sentinel_sql.errors import StoreError
from sentinel_sql.trajectory.derived_store import derive_store, runs_to_change
from sentinel_sql.trajectory.manifest import StoreManifest, read_manifest
from sentinel_sql.trajectory.record import (
    AskedQuestion,
    MissedSpellings,
    NearestValue,
    Probes,
    Step,
    Trajectory,
)


def with_probes(trajectory: Trajectory, prober: Prober) -> Trajectory:
    """Return the run with probes at each step whose query ran, and the question's coverage."""
    return trajectory.model_copy(
        update={
            "question": trajectory.question
            if prober.grounder is None
            else with_coverage(trajectory.question, prober.grounder),
            "steps": tuple(probe_step(step, prober) for step in trajectory.steps),
        }
    )


def with_coverage(question: AskedQuestion, grounder: Grounder) -> AskedQuestion:
    """Return the question with its coverage record."""
    made = grounder.ground(question.text, question.history)
    return question.model_copy(update={"coverage": made})


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeSummary:
    """The result of probing a store.

    Attributes:
        store: folder of the probed runs.
        probed: runs added by this call.
        already_there: runs that the store held before.
        steps: steps probed by this call.
        found: finding (a chain of joins, a join that multiplies rows, NULLs in the result, a text
            that no row has, something not known) → number of steps.
        forgotten: runs that were erased from the new store, and weren't added again.
    """

    store: Path
    probed: int
    already_there: int
    steps: int
    found: Mapping[str, int]
    forgotten: int = 0


def probe_store(
    source: str | Path,
    prober: Prober,
    *,
    store: str | Path,
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> ProbeSummary:
    """Write the runs of a store with probes into another store; can be resumed.

    Args:
        source: a store's folder or a recordings file, which stays unchanged.
        prober: a prober of the runs' database, at their clock.
        store: the new store's folder; made if absent.
        on_progress: called with (runs done, all runs).

    Raises:
        StoreError: there is no run, both stores are the same, the runs have another clock or
            schema, or the new store can't be written.
    """
    runs = runs_to_change(source, store)
    found: Counter[str] = Counter()
    steps = 0

    def probed(run: Trajectory) -> Trajectory:
        nonlocal steps
        made = with_probes(run, prober)
        for step in made.steps:
            if step.observation.probes is not None:
                steps += 1
                found.update(_finding_names(step.observation.probes))
        return made

    derived = derive_store(
        runs,
        store,
        manifest=_manifest(source, runs, prober),
        change=probed,
        on_progress=on_progress,
    )
    return ProbeSummary(
        store=Path(store),
        probed=derived.added,
        already_there=derived.already_there,
        steps=steps,
        found=dict(found),
        forgotten=derived.forgotten,
    )


def _manifest(source: str | Path, runs: Sequence[Trajectory], prober: Prober) -> StoreManifest:
    """Return the source's manifest, completed from the database, after checking that both fit."""
    database = prober.database
    manifest = read_manifest(source) or StoreManifest(agent=runs[0].agent)
    if manifest.schema_sha256 not in (None, database.schema.sha256):
        raise StoreError(
            f"the runs in {source} were made over a database of another schema than "
            f"{database.name}'s: give their database with --database"
        )
    clocks = {manifest.clock, *(run.question.clock for run in runs)} - {None}
    if clocks - {database.clock}:
        other = min(str(clock) for clock in clocks - {database.clock})
        raise StoreError(
            f"the runs in {source} were recorded at the clock {other}, but the database's is "
            f"{database.clock}: give --clock '{other}'"
        )
    return manifest.model_copy(
        update={
            "database": manifest.database or runs[0].question.database or database.name,
            "clock": database.clock,
            "schema_sha256": database.schema.sha256,
            "dialect": database.dialect,
            "time_zone": time_zone_of(database),
        }
    )


def probe_step(step: Step, prober: Prober, *, live: bool = False) -> Step:
    """Return the step with probes of its query, if the query ran.

    Args:
        step: the step.
        prober: the prober of its database.
        live: the run goes on: the probes get no more time than the query took.
    """
    if step.sql is None or step.observation.kind not in ("rows", "empty"):
        return step
    spent = step.seconds.sql if step.seconds is not None else None
    own = (spent or 0.0) if live else None
    probes = probes_record(prober.probe(step.sql, own_seconds=own))
    return step.model_copy(
        update={"observation": step.observation.model_copy(update={"probes": probes})}
    )


def probes_record(probing: Probing) -> Probes:
    """Return the result of probing as a stored record."""
    return Probes(
        chain=probing.chain,
        nulls=probing.nulls,
        lookups=probing.lookups,
        nearest=tuple(NearestValue(**asdict(miss)) for miss in probing.near_misses),
        spellings=None
        if probing.spellings is None
        else tuple(MissedSpellings(**asdict(it)) for it in probing.spellings),
    )


def _finding_names(probes: Probes) -> list[str]:
    return [
        name
        for name, holds in {
            "with a chain of joins": len(probes.chain) > 1,
            "a join multiplies rows": (probes.fan_out or 0.0) > 1.0,
            "NULLs in the result": any(share for share in probes.nulls),
            "a text that no row has": bool(probes.nearest),
            "a text that is stored in other spellings, too": bool(probes.spellings),
            "something not known": probes.lookups is None
            or None in (*probes.chain, *probes.nulls)
            or any(near.similarity is None for near in probes.nearest),
        }.items()
        if holds
    ]
