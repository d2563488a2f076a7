"""Evaluates a frozen monitor: scores one pool, replays every system, computes the exhibits.

Evaluating on the held-out pool spends it. This is recorded beside the bundle before any run is
replayed. The pool may be spent again; the result holds the count of distinct readings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from sentinel_sql.arguments import checked
from sentinel_sql.decision.payoff import STAKES_OF_RECORD, rational
from sentinel_sql.errors import BundleError, InputError, LabelsError, PoolsError, StoreError
from sentinel_sql.evaluation.bootstrap import RESAMPLES, SEED
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation.options import Options, Prices
from sentinel_sql.evaluation.run_facts import RunFacts
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.spending import record_spending, settings_hash
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.bundle import MANIFEST
from sentinel_sql.monitor.prefix_scores import Bools, PrefixScores
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.inputs import (
    AnyLabels,
    AnyMonitor,
    AnyPools,
    AnyRuns,
    labels_from,
    monitor_from,
    pools_from,
    runs_from,
)
from sentinel_sql.pipeline.run_views import sample
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.questions.pools import PoolName, Pools
from sentinel_sql.questions.record import question_id_of
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.codec import encode
from sentinel_sql.trajectory.record import Trajectory


@checked
def evaluate(
    monitor: AnyMonitor,
    trajectories: AnyRuns,
    pools: AnyPools,
    labels: AnyLabels | Mapping[str, Label],
    *,
    stakes: Sequence[float] = STAKES_OF_RECORD,
    pool: PoolName = "heldout",
    exact_bar: bool = False,
    strict: bool = False,
    question_only: bool = False,
    reweight: float | None = None,
    prices: tuple[float, float] | None = None,
    single_runs: bool = False,
    options: Options | None = None,
    schema: Schema | None = None,
    header: LabelsHeader | None = None,
    bundle: str | PathLike[str] | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    workers: int = 1,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Evaluation:
    """Replay every system over one pool of recorded runs.

    Args:
        monitor: the frozen monitor, or the folder of its bundle. With a folder, spending is
            recorded beside it. The bundle itself isn't changed.
        trajectories: the store's runs, the store, or its path; runs of other pools are ignored.
        pools: the manifest that the monitor was fitted with, or its path.
        labels: what `label_runs` or `read_labels` returned, the file's path, or labels by run id.
            Runs of the pool without one, and answers without a verdict, are left out and listed.
        stakes: the λ to evaluate at, at least one.
        pool: `heldout`, or another pool for diagnostics, which spends nothing.
        exact_bar: deliver at (λ+ε)/(1+λ) instead of Chow's λ/(1+λ).
        strict: score the same decisions by the strict labels.
        question_only: evaluate the rival that reads only the question.
        reweight: weigh every figure to this share of unanswerable questions, in (0, 1), or None.
        prices: price of a million prompt tokens and of a million completion tokens, or None.
        single_runs: keep a sample of single runs for a report; they hold rows of data. The runs are
            read a second time, so give a store or a list.
        options: a record of exact_bar, strict, question_only, reweight and prices, instead of them.
        schema: schema of the runs' database, by default that of the labels; refused if it isn't the
            monitor's.
        header: header of labels by run id; a judge or mode other than that of the fit is noted.
        bundle: the folder of a given `Monitor`; spending is recorded beside it.
        seed: seed of the bootstrap.
        resamples: of the bootstrap, at least one; fewer are faster and give coarser intervals.
        workers: processes that score; they don't change the numbers. See `assess_runs`.
        on_progress: called with (runs scored, questions of the pool).

    Raises:
        BundleError: the monitor is for another agent or schema, or spending can't be recorded.
        PoolsError: the monitor was fitted with another manifest, or a run isn't in it.
        StoreError: there is no run of this pool, a run is there twice or contradicts itself, or it
            has no probes though the monitor was fitted on probes.
        LabelsError: the labels don't fit the runs.
        InputError: stakes or resamples are missing or make no sense, or these runs don't allow an
            option.
    """
    monitor, read_from = monitor_from(monitor)
    bundle = read_from if bundle is None else Path(bundle)
    pools = pools_from(pools)
    if header is None and not isinstance(labels, Mapping):
        header, labels = labels_from(labels)
        schema = header.schema if schema is None else schema
    elif not isinstance(labels, Mapping):
        labels = labels_from(labels).by_run
    if single_runs and iter(runs_from(trajectories)) is trajectories:
        raise InputError(
            "single_runs=True reads the runs a second time, but an iterator can be read only once: "
            "give a list or the store's path"
        )
    if options is None:
        options = Options(
            exact_bar=exact_bar,
            strict=strict,
            question_only=question_only,
            reweight=reweight,
            prices=None if prices is None else Prices(prompt=prices[0], completion=prices[1]),
        )
    if not stakes:
        raise InputError("no stakes to evaluate at: give at least one λ, such as 1, 4 or 9")
    if resamples < 1:
        raise InputError(f"resamples={resamples} is too few: give at least 1, or leave it out")
    for level in stakes:
        rational(level)
    _check_fit(monitor, pools, schema)
    thresholds = monitor.thresholds
    asked = [qid for qid, template in pools.templates.items() if pools.pools[template] == pool]
    selected = _PoolRuns(monitor=monitor, pools=pools, pool=pool, labels=labels)
    scores = prefix_scores(
        monitor.estimators,
        _with_progress(selected.runs(runs_from(trajectories)), len(asked), on_progress),
        pools=pools,
        labels=labels,
        workers=workers,
    )
    if len(scores) == 0:
        if left_out := len(selected.unlabelled) + len(selected.unjudged):
            raise LabelsError(
                f"none of the {pool} pool's {left_out} runs has a label with a verdict: label "
                "the store with `sentinel label`"
            )
        raise StoreError(
            f"the store holds no run of the {pool} pool: collect its {len(asked)} questions first"
        )
    hashes = {"pools": pools.sha256, "runs": selected.sha256.hexdigest()}
    if bundle is not None:
        hashes["monitor"] = _monitor_hash(bundle)
    facts = RunFacts(
        strict=selected.strict(scores),
        prompt_tokens=np.array(selected.prompt_tokens, np.float64),  # None becomes NaN
    )
    Evidence.check_options(scores, facts, options)
    spent = None
    if bundle is not None and pool == "heldout":
        spent = record_spending(
            bundle,
            hashes
            | {
                "labels": selected.labels_sha256.hexdigest(),
                "settings": settings_hash(options, stakes, seed, resamples),
            },
        )
    evidence = Evidence.gather(
        scores,
        thresholds,
        stakes=stakes,
        options=options,
        facts=facts,
        calibration=monitor.calibration,
        seed=seed,
        resamples=resamples,
    )
    evaluation = Evaluation(
        pool=pool,
        evidence=evidence,
        early_stops=tuple(
            evidence.replays["early-stop", level].policy for level in evidence.stakes
        ),
        exhibits={name: exhibit(evidence) for name, exhibit in EXHIBITS.items()},
        gaps={
            "questions without a run": tuple(sorted(set(asked) - selected.questions)),
            "runs without a label": tuple(selected.unlabelled),
            "answers without a verdict": tuple(selected.unjudged),
        },
        monitor={
            "agent": monitor.agent,
            "head": monitor.estimators.head.name,
            "delivery": monitor.estimators.delivery.name,
            "facts": dict(monitor.facts),
        },
        hashes=hashes,
        seed=seed,
        spent=spent,
        notes=() if header is None else labels_notes(monitor, header),
    )
    if not single_runs or options.question_only:  # its confidences aren't those of a run's steps
        return evaluation
    views = sample(evaluation, monitor, runs_from(trajectories), labels)
    return replace(evaluation, views=tuple(views))


def labels_notes(monitor: Monitor, header: LabelsHeader) -> tuple[str, ...]:
    """Return notes if the judge or mode of labels isn't that of the monitor's fit.

    This is no error: a monitor may be scored by a stricter judge. But its confidences refer to the
    labels of its fit.
    """
    return tuple(
        f"these labels are by the {what} {now}, but the monitor was fitted on labels by the {what} "
        f"{then}: its confidences and thresholds refer to the latter"
        for what, now, then in (
            ("judge", header.judge, monitor.facts.get("judge")),
            ("mode", header.mode, monitor.facts.get("mode")),
        )
        if then is not None and then != now
    )


class _PoolRuns:
    """Selects the runs of one pool and checks them; collects hashes and gaps on the way."""

    def __init__(
        self, *, monitor: Monitor, pools: Pools, pool: PoolName, labels: Mapping[str, Label]
    ) -> None:
        self._monitor = monitor
        self._pools = pools
        self._pool = pool
        self._labels = labels
        self.questions: set[str] = set()
        self.unlabelled: list[str] = []
        self.unjudged: list[str] = []
        self.prompt_tokens: list[float | None] = []
        self._strict: list[bool | None] = []
        self.sha256 = hashlib.sha256()
        self.labels_sha256 = hashlib.sha256()

    def runs(self, trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
        seen: set[str] = set()
        for trajectory in trajectories:
            name = trajectory.question.id
            if self._pools.pool_of(name) != self._pool:
                continue
            if name in seen:
                raise StoreError(f"run {name} is in the store twice: give each run its own id")
            seen.add(name)
            if trajectory.agent.fingerprint != self._monitor.agent:
                raise BundleError(
                    f"the monitor was fitted on the agent ({self._monitor.agent}), but run "
                    f"{name} is of ({trajectory.agent.fingerprint}); "
                    f"{difference(self._monitor.agent, trajectory.agent.fingerprint)}: fit a "
                    "monitor on its own runs"
                )
            self.questions.add(question_id_of(name, self._pools.templates) or name)
            label = self._labels.get(name)
            if label is None or label.without_verdict:
                (self.unlabelled if label is None else self.unjudged).append(name)
                continue
            if self._monitor.facts.get("probed") and _lacks_probes(trajectory):
                raise StoreError(
                    f"the monitor was fitted on runs with probes, and run {name} has none: add "
                    "them with `sentinel probe`"
                )
            if self._monitor.facts.get("covered") and trajectory.question.coverage is None:
                raise StoreError(
                    f"the monitor was fitted on runs with coverage records, and run {name} has "
                    "none: add them with `sentinel probe`"
                )
            self.sha256.update(encode(trajectory))
            self.labels_sha256.update(label.model_dump_json().encode() + b"\n")
            self._strict.append(label.strict)
            self.prompt_tokens += [
                0.0,
                *(step.usage.prompt_tokens if step.usage else None for step in trajectory.steps),
            ]
            yield trajectory

    def strict(self, scores: PrefixScores) -> Bools | None:
        """Return the strict labels of the runs, or None where an answer to judge has none."""
        judged = scores.answered & scores.answerable
        if any(label is None for label, asked in zip(self._strict, judged, strict=True) if asked):
            return None
        return judged & np.array([label is True for label in self._strict], np.bool_)


def _lacks_probes(run: Trajectory) -> bool:
    """Return whether a live guard would withhold this answer as `missing-probes`."""
    ran = bool(run.steps) and run.steps[-1].observation.kind in ("rows", "empty")
    answered = run.outcome.kind == "answered"
    return answered and ran and all(step.observation.probes is None for step in run.steps)


def _with_progress(
    runs: Iterable[Trajectory], total: int, on_progress: Callable[[int, int], None]
) -> Iterator[Trajectory]:
    for done, run in enumerate(runs, 1):
        yield run
        on_progress(done, max(total, done))


def _check_fit(monitor: Monitor, pools: Pools, schema: Schema | None) -> None:
    if monitor.facts.get("pools_sha256") != pools.sha256:
        raise PoolsError(
            "the monitor was fitted with another pool manifest, so its held-out questions may "
            "be its training questions: give the manifest of the fit"
        )
    fitted = monitor.estimators.schema
    if schema is not None and fitted is not None and schema.sha256 != fitted.sha256:
        raise BundleError(
            "the monitor was fitted on a database with another schema: fit it again on runs "
            "over this one"
        )


def _monitor_hash(bundle: Path) -> str:
    try:
        return hashlib.sha256((bundle / MANIFEST).read_bytes()).hexdigest()
    except OSError as error:
        raise BundleError(f"{bundle} holds no monitor: {MANIFEST}: {error.strerror}") from error
