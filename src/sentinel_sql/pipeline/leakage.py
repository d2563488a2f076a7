"""Runs the leakage battery on a store: cross-fits plain readers, and checks the splits.

Only runs of the train and calibration pools are ranked. Of held-out runs only text hashes are
compared, so that the pool isn't spent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from sentinel_sql.errors import CannotFitError, InputError, LabelsError, StoreError
from sentinel_sql.evaluation.bootstrap import Resampling
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.studies.leakage import (
    FEWEST_PERMUTATIONS,
    ControlRow,
    ReaderRow,
    Task,
    copies,
    faults,
    leakage_exhibits,
    reader_row,
    shuffled_control,
)
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor import crossfit
from sentinel_sql.monitor.bundle import HEADS
from sentinel_sql.monitor.features.telemetry import TelemetryState
from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints
from sentinel_sql.monitor.snapshots import ReadRun, read_run
from sentinel_sql.monitor.snapshots import Task as FitTask
from sentinel_sql.pipeline.scoring import label_of, surroundings_of
from sentinel_sql.pipeline.word_reader import WordReader
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.render import render

FEWEST = 5
"""Runs of each class without which a task isn't fitted (as in `pipeline.fit`)."""

TELEMETRY: Mapping[str, tuple[str, int]] = {
    "mean token entropy": ("ent_mean", -1),
    "highest token entropy": ("ent_max", -1),
    "mean log-probability": ("lp_mean", 1),
    "lowest log-probability": ("lp_min", 1),
}
"""Untrained signals, and whether a higher value speaks for (1) or against (−1) the answer."""


@dataclass(frozen=True, kw_only=True)
class Battery:
    """The exhibits of the battery, and a sentence for each check that fails."""

    exhibits: Mapping[str, Exhibit[Any]]
    faults: tuple[str, ...]


def leakage_battery(
    trajectories: Iterable[Trajectory],
    pools: Pools,
    labels: Mapping[str, Label],
    header: LabelsHeader,
    *,
    head: str | None = None,
    permutations: int = FEWEST_PERMUTATIONS,
    seed: int = 42,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Battery:
    """Run the battery on the runs of one agent.

    Args:
        trajectories: the store's runs.
        pools: the pool manifest.
        labels: labels by run id; runs without a label or a verdict aren't ranked.
        header: header of the labels file.
        head: also check the training of this kind of head, a name of `HEADS`. This takes one
            cross-fit for each permutation and task.
        permutations: shuffles of the labels in each control, at least 20.
        seed: seed of folds, readers and shuffles.
        on_progress: called with (fits done, all fits); each shuffle is one fit.

    Raises:
        InputError: the head is unknown, or there are too few permutations.
        LabelsError: no run has a label, or the labels are of other runs.
        StoreError: a run contradicts itself, or there is no run.
        PoolsError: the manifest doesn't know the question of a run.
    """
    if head is not None and head not in HEADS:
        raise InputError(f"there is no head called {head!r}: choose one of {', '.join(HEADS)}")
    if permutations < FEWEST_PERMUTATIONS:
        raise InputError(
            f"{permutations} permutations are too few to estimate chance: give at least "
            f"{FEWEST_PERMUTATIONS}"
        )
    read = _StoreRuns(pools=pools, labels=labels)
    read.take(trajectories)
    runs = read.runs
    try:
        folds = crossfit.assign_folds(
            templates=read.templates,
            strata=read.answerable + 2 * read.answered + 4 * read.correct,
            needed=(),
            seed=seed,
        )
    except CannotFitError:
        folds = None
    resampling = Resampling.over(read.templates)
    tasks = read.tasks()
    texts = {
        "question's words (TF-IDF)": [run.question.text for run in runs],
        "transcript's words (TF-IDF)": read.transcripts,
    }
    trained = len(texts) + (head is not None)
    total = len(tasks) * (len(texts) + trained * permutations)
    done = 0
    readers: list[ReaderRow] = []
    controls: list[ControlRow] = []
    inputs: list[ReadRun] = []

    def step(fits: int = 1) -> None:
        nonlocal done
        done += fits
        on_progress(done, total)

    def control(task: Task, name: str, refit: Callable[[Bools], Floats] | None) -> ControlRow:
        if refit is None:
            step(permutations)
        return shuffled_control(
            task, name, refit, permutations=permutations, seed=seed, on_shuffle=step
        )

    for task in tasks:
        split = folds if _both_classes(task) else None
        for name, words in texts.items():
            reader = None if split is None else WordReader.over(words, task.where, split, seed)
            score = reader.scores(task.target) if reader else None
            readers.append(reader_row(task, name, score, resampling, trained=True))
            step()
            controls.append(control(task, name, reader.scores if reader else None))
        readers += [
            reader_row(task, name, score, resampling, trained=False)
            for name, score in read.signals(task).items()
        ]
        if head is None:
            continue
        kind = HEADS[head]
        if split is not None and not inputs:
            surroundings = surroundings_of(header)
            inputs = [read_run(run, head=kind, surroundings=surroundings) for run in runs]
        loop = (
            None if split is None else _head_loop(kind, inputs, task, read.templates, split, seed)
        )
        controls.append(control(task, f"the {head} head's own training", loop))
    copied = (
        *(
            ()
            if folds is None
            else (
                copies(
                    "transcripts",
                    "folds",
                    [_hash(text) for text in read.transcripts],
                    [str(fold) for fold in folds.tolist()],
                    must_hold=True,
                ),
            )
        ),
        copies("transcripts", "pools", read.all_transcripts, read.all_pools, must_hold=True),
        copies("questions", "pools", read.all_questions, read.all_pools, must_hold=False),
    )
    return Battery(
        exhibits=leakage_exhibits(readers, controls, copied), faults=faults(controls, copied)
    )


class _StoreRuns:
    """The runs of a store, with labels, transcripts and hashes in columns."""

    def __init__(self, *, pools: Pools, labels: Mapping[str, Label]) -> None:
        self._pools = pools
        self._labels = labels
        self.runs: list[Trajectory] = []
        self.templates: list[str] = []
        self.transcripts: list[str] = []
        self.all_transcripts: list[str] = []
        self.all_questions: list[str] = []
        self.all_pools: list[str] = []
        self._found: list[Label] = []

    def take(self, trajectories: Iterable[Trajectory]) -> None:
        agents: set[str] = set()
        unlabelled = 0
        for run in trajectories:
            name = run.question.id
            agents.add(run.agent.fingerprint)
            pool = self._pools.pool_of(name)
            transcript = render(run.prefix(len(run.steps)))
            self.all_transcripts.append(_hash(transcript))
            self.all_questions.append(_hash(" ".join(run.question.text.casefold().split())))
            self.all_pools.append(pool)
            if pool == "heldout":
                continue
            label = self._labels.get(name)
            if label is None or label.without_verdict:
                unlabelled += 1
                continue
            self._found.append(label_of(run, self._labels))
            self.runs.append(run)
            self.templates.append(self._pools.template_of(name))
            self.transcripts.append(transcript)
        if len(agents) > 1:
            raise StoreError(
                f"the store holds runs of {len(agents)} agents: audit one agent at a time"
            )
        if not agents:
            raise StoreError("the store holds no run: collect or import some first")
        if not self.runs:
            raise LabelsError(
                f"none of the {unlabelled} runs of the train and calibration pools has a label: "
                "label the store with `sentinel label`"
            )

    @property
    def answerable(self) -> Bools:
        return np.array([label.answerable for label in self._found], np.bool_)

    @property
    def answered(self) -> Bools:
        return np.array([label.outcome == "answered" for label in self._found], np.bool_)

    @property
    def correct(self) -> Bools:
        return np.array([label.correct is True for label in self._found], np.bool_)

    @property
    def clean(self) -> Bools:
        rows = [bool(run.steps) and run.steps[-1].observation.kind == "rows" for run in self.runs]
        return self.answered & np.array(rows, np.bool_)

    def tasks(self) -> tuple[Task, ...]:
        judged = self.answered & self.answerable
        return (
            Task(
                name="answerability",
                over="all runs",
                target=self.answerable,
                where=np.ones(len(self.runs), np.bool_),
            ),
            Task(
                name="correctness",
                over="answers to answerable questions",
                target=self.correct,
                where=judged,
            ),
            Task(
                name="quiet failure",
                over="clean answers to answerable questions",
                target=self.correct,
                where=judged & self.clean,
            ),
        )

    def signals(self, task: Task) -> dict[str, Floats]:
        """Return the untrained signals that rank a task's runs; NaN for a run without one."""
        values = [_telemetry(run) for run in self.runs]
        found = {
            name: sign * np.array([value[feature] for value in values], np.float64)
            for name, (feature, sign) in TELEMETRY.items()
        }
        if task.name == "answerability":
            abstained = np.array([label.outcome == "abstained" for label in self._found])
            found["ending alone: abstained means unanswerable"] = (~abstained).astype(np.float64)
        found["executed and not empty"] = self.clean.astype(np.float64)
        return found


def _head_loop(
    kind: Any,
    inputs: Sequence[ReadRun],
    task: Task,
    templates: Sequence[str],
    folds: Ints,
    seed: int,
) -> Callable[[Bools], Floats]:
    """Return a function from labels to out-of-fold terminal scores of a head, as in `fit`."""
    # Only terminal prefixes are ranked, so the other prefixes are trained on but not scored.
    terminal_only = [replace(run, scoring=run.scoring[-1:]) for run in inputs]

    def refit(target: Bools) -> Floats:
        (scores,) = crossfit.out_of_fold(
            kind,
            terminal_only,
            (FitTask(targets=target, trained_on=task.where),),
            templates=templates,
            folds=folds,
            seed=seed,
        )
        return scores

    return refit


def _telemetry(run: Trajectory) -> dict[str, float | None]:
    state = TelemetryState()
    for step in run.steps:
        state.observe(step)
    return state.values()


def _both_classes(task: Task) -> bool:
    positives = int((task.target & task.where).sum())
    return min(positives, int(task.where.sum()) - positives) >= FEWEST


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
