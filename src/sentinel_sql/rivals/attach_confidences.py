"""Writes collected P(True) into the steps that they are about, in a new store of the same runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sentinel_sql.errors import StoreError
from sentinel_sql.rivals.confidences import Confidence, answer_hash, by_method, read_confidences
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.derived_store import derive_store, runs_to_change
from sentinel_sql.trajectory.manifest import StoreManifest, read_manifest
from sentinel_sql.trajectory.record import Trajectory


@dataclass(frozen=True, kw_only=True, slots=True)
class AttachSummary:
    """The result of attaching.

    Attributes:
        store: folder of the new store.
        runs: runs that it holds.
        answers: answers with P(True) among those that this call added.
        without: answers that nobody asked about, among the same.
        other: confidences of another answer than the run's, which were left out.
    """

    store: Path
    runs: int
    answers: int
    without: int
    other: int


def attach_confidences(
    source: str | Path,
    confidences: str | Path,
    *,
    store: str | Path,
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> AttachSummary:
    """Write the runs of a store with P(True) into another store; can be resumed.

    Args:
        source: a store's folder or a recordings file, which stays unchanged.
        confidences: the folder that `sentinel rivals collect` wrote.
        store: the new store's folder; made if absent.
        on_progress: called with (runs done, all runs).

    Raises:
        StoreError: there is no run or no P(True), the confidences are of another agent, or both
            stores are the same.
    """
    runs = runs_to_change(source, store)
    about, records = read_confidences(confidences)
    agent = runs[0].agent
    if about.agent.fingerprint != agent.fingerprint:
        raise StoreError(
            f"{confidences} is about another agent than {source}: "
            f"{difference(agent.fingerprint, about.agent.fingerprint)}; collect its confidences"
        )
    p_true = by_method(records).get("p-true", {})
    if not p_true:
        raise StoreError(
            f"{confidences} holds no P(True): collect it with `sentinel rivals collect --method "
            "p-true`"
        )
    counts = Counter[str]()

    def attached(run: Trajectory) -> Trajectory:
        said = p_true.get(run.question.id)
        known = said is not None and said.answer == answer_hash(run)
        if run.outcome.kind == "answered":
            counts["answers" if known else "without" if said is None else "other"] += 1
        return with_p_true(run, said) if known and said is not None else run

    derive_store(
        runs,
        store,
        manifest=read_manifest(source) or StoreManifest(agent=agent),
        change=attached,
        on_progress=on_progress,
    )
    return AttachSummary(
        store=Path(store),
        runs=len(runs),
        answers=counts["answers"],
        without=counts["without"],
        other=counts["other"],
    )


def with_p_true(run: Trajectory, said: Confidence) -> Trajectory:
    """Return the run with what its agent's own model said of its answer."""
    if not run.steps:
        return run
    last = run.steps[-1].model_copy(update={"p_true": said.score})
    return run.model_copy(update={"steps": (*run.steps[:-1], last)})
