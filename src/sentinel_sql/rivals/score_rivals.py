"""Scores every rival of a monitor on the runs of the monitor's evaluation.

Rivals are fitted on the train pool only, and calibrated like the monitor on the calibration pool
only. Labels of the evaluated pool aren't read here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentinel_sql.errors import InputError, StoreError
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.prefix_scores import Floats, PrefixScores
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.learning.labelled_pool import FEWEST
from sentinel_sql.pipeline.scoring import label_of
from sentinel_sql.questions.pools import Pools
from sentinel_sql.rivals.confidences import (
    Confidence,
    ConfidencesManifest,
    Method,
    answer_hash,
    by_method,
)
from sentinel_sql.rivals.kinds import RIVALS, Rival, Scorer
from sentinel_sql.rivals.scores import RivalScores, own_scores
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.record import Trajectory

COLLECTED_NAMES: Mapping[Method, str] = {
    "p-true": "P(True)",
    "verbalized": "verbalized",
    "single-turn": "last turn sampled",
    "self-consistency": "whole run sampled",
}
"""Names of the collected confidences in the table; the last two are self-consistency."""

TIMED = 30
"""Answers that are scored one at a time to measure the time of one (our choice)."""


def score_rivals(
    monitor: Monitor,
    evaluation: Evaluation,
    trajectories: Iterable[Trajectory],
    pools: Pools,
    labels: Mapping[str, Label],
    *,
    confidences: tuple[ConfidencesManifest, Sequence[Confidence]] | None = None,
    seed: int = 42,
) -> tuple[PrefixScores, Sequence[RivalScores]]:
    """Score every rival on the answers of an evaluation and of the calibration pool.

    Args:
        monitor: the frozen monitor.
        evaluation: the evaluation of this monitor, whose runs are compared.
        trajectories: the store's runs: train, calibration and the evaluated pool.
        pools: the manifest that the monitor was fitted with.
        labels: labels by run id; only those of the train pool are read.
        confidences: the collected confidences, as `read_confidences` returns them.
        seed: seed of the fits.

    Returns:
        The calibration pool's columns, and the scores, the monitor's own first, for
        `rival_exhibits`.

    Raises:
        InputError: the evaluation reads only the question, so there are no runs to compare.
        StoreError: runs of the monitor's fit or evaluation are missing, or the confidences are of
            another agent or other answers.
    """
    evidence = evaluation.evidence
    calibration = evidence.frozen_on
    if calibration is None or evidence.options.question_only:
        raise InputError(
            "--rivals compares whole runs, and --question-only reads no run: give one of the two"
        )
    scores = evidence.scores
    read = _Answers.read(monitor, trajectories, pools, labels, calibration, scores)
    return calibration, (
        *own_scores(evidence, calibration, read.column(scores, read.monitor_seconds)),
        *(_score_rival(name, read, calibration, scores, seed=seed) for name in RIVALS),
        *_collected_scores(monitor, confidences, read, calibration, scores),
    )


@dataclass(frozen=True, kw_only=True)
class _Answers:
    """The inputs of every rival for every answer, by run id.

    Attributes:
        inputs: rival → run id → its input.
        reading: rival → run id → seconds to read the input.
        train: ids of the answers of the train pool.
        correct: id → whether this answer of the train pool is correct.
        monitor_seconds: id → the monitor's time over all steps of an evaluated run.
        answers: run id → hash of the answer.
    """

    inputs: Mapping[str, Mapping[str, Any]]
    reading: Mapping[str, Mapping[str, float]]
    train: tuple[str, ...]
    correct: Mapping[str, bool]
    monitor_seconds: Mapping[str, float]
    answers: Mapping[str, str]

    @classmethod
    def read(
        cls,
        monitor: Monitor,
        trajectories: Iterable[Trajectory],
        pools: Pools,
        labels: Mapping[str, Label],
        calibration: PrefixScores,
        scores: PrefixScores,
    ) -> _Answers:
        inputs: dict[str, dict[str, Any]] = {name: {} for name in RIVALS}
        reading: dict[str, dict[str, float]] = {name: {} for name in RIVALS}
        wanted, timed = set(calibration.question_ids), set(scores.question_ids)
        correct: dict[str, bool] = {}
        monitor_seconds: dict[str, float] = {}
        answers: dict[str, str] = {}
        for run in trajectories:
            name = run.question.id
            label = labels.get(name)
            train = pools.pool_of(name) == "train" and (
                label is not None and not label.without_verdict
            )
            if not (train or name in wanted or name in timed):
                continue
            wanted.discard(name)
            if run.outcome.kind != "answered":
                continue
            if train:
                label = label_of(run, labels)  # also checks that the label fits the run
                correct[name] = label.answerable and label.correct is True
            prefix = run.prefix(len(run.steps))
            for rival, kind in RIVALS.items():
                started = time.perf_counter()
                inputs[rival][name] = kind.read(prefix)
                reading[rival][name] = time.perf_counter() - started
            if name in timed:
                answers[name] = answer_hash(run)
                started = time.perf_counter()
                for _ in monitor.replay(run):
                    pass
                monitor_seconds[name] = time.perf_counter() - started
            elif not train:
                answers[name] = answer_hash(run)
        if wanted:
            raise StoreError(
                f"the store lacks {len(wanted)} runs on which the monitor was frozen, such as "
                f"{min(wanted)}: give the store of its fit"
            )
        return cls(
            inputs=inputs,
            reading=reading,
            train=tuple(correct),
            correct=correct,
            monitor_seconds=monitor_seconds,
            answers=answers,
        )

    @staticmethod
    def column(scores: PrefixScores, values: Mapping[str, float | None]) -> Floats:
        """Return one value for each run, shape (N,); NaN if there is none."""
        return np.array([values.get(name) for name in scores.question_ids], np.float64)


def _score_rival(
    name: str, read: _Answers, calibration: PrefixScores, scores: PrefixScores, *, seed: int
) -> RivalScores:
    rival, inputs = RIVALS[name], read.inputs[name]
    scorer, missing = _scorer(rival, inputs, read, seed=seed)
    raw_scores: dict[str, float] = {}
    seconds: dict[str, float] = {}
    if scorer is not None:
        all_runs = {**dict.fromkeys(scores.question_ids), **dict.fromkeys(calibration.question_ids)}
        known = [run for run in all_runs if inputs.get(run) is not None]
        if known:
            raw_scores = dict(
                zip(known, scorer([inputs[run] for run in known]).tolist(), strict=True)
            )
            one = _seconds_for_one(scorer, [inputs[run] for run in known[:TIMED]])
            seconds = {run: one + read.reading[name][run] for run in known}
    pool = read.column(scores, raw_scores)
    if not missing and np.isnan(pool[scores.answered]).any():
        missing = rival.missing
    return RivalScores(
        name=name,
        kind=rival.kind,
        calibration=read.column(calibration, raw_scores),
        pool=pool,
        seconds=read.column(scores, seconds),
        missing=missing,
    )


def _scorer(
    rival: Rival, inputs: Mapping[str, Any], read: _Answers, *, seed: int
) -> tuple[Scorer | None, str]:
    """Return a rival's scorer and "", or None and why it can't be fitted."""
    if rival.fit is None:
        return lambda answers: np.array(answers, np.float64), ""
    known = [run for run in read.train if inputs[run] is not None]
    if not known:
        return None, rival.missing or "no answer in the train pool"
    correct = np.array([read.correct[run] for run in known], np.bool_)
    fewest = min(int(correct.sum()), int((~correct).sum()))
    if fewest < FEWEST:
        return None, f"only {fewest} answers of a kind in the train pool, {FEWEST} are needed"
    try:
        return rival.fit([inputs[run] for run in known], correct, seed=seed), ""
    except ValueError:  # an empty vocabulary: texts without a word of two letters
        return None, "the train pool holds nothing to fit it on"


def _seconds_for_one(scorer: Scorer, inputs: Sequence[Any]) -> float:
    """Return the mean time to score one answer by itself, as in a live run."""
    started = time.perf_counter()
    for answer in inputs:
        scorer([answer])
    return (time.perf_counter() - started) / len(inputs)


def _collected_scores(
    monitor: Monitor,
    confidences: tuple[ConfidencesManifest, Sequence[Confidence]] | None,
    read: _Answers,
    calibration: PrefixScores,
    scores: PrefixScores,
) -> Iterator[RivalScores]:
    if confidences is None:
        return
    manifest, records = confidences
    if manifest.agent.fingerprint != monitor.agent:
        raise StoreError(
            f"the confidences are of the agent [{manifest.agent.fingerprint}], but the monitor is "
            f"of [{monitor.agent}]; {difference(monitor.agent, manifest.agent.fingerprint)}: give "
            "those of the monitor's agent"
        )
    for method, found in by_method(records).items():
        for run, record in found.items():
            if read.answers.get(run, record.answer) != record.answer:
                raise StoreError(
                    f"the confidences are about another answer of run {run} than the store holds: "
                    "collect them again in another folder"
                )
        raw_scores = {run: record.score for run, record in found.items()}
        tokens = {run: _tokens(record) for run, record in found.items()}
        seconds = {run: record.seconds for run, record in found.items()}
        pool = read.column(scores, raw_scores)
        yield RivalScores(
            name=COLLECTED_NAMES[method],
            kind="asked",
            calibration=read.column(calibration, raw_scores),
            pool=pool,
            seconds=read.column(scores, seconds),
            tokens=read.column(scores, tokens),
            missing=(
                "not asked, or the reply held none" if np.isnan(pool[scores.answered]).any() else ""
            ),
        )


def _tokens(record: Confidence) -> float | None:
    if record.prompt_tokens is None or record.completion_tokens is None:
        return None
    return float(record.prompt_tokens + record.completion_tokens)
