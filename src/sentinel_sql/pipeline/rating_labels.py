"""Labels recorded runs by people's ratings: the gold is a person, and nothing is executed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from sentinel_sql.arguments import checked
from sentinel_sql.database.executor import Database
from sentinel_sql.errors import InputError, LabelsError
from sentinel_sql.labels.ratings import Rating, RatingsFile, majority, read_ratings
from sentinel_sql.labels.record import NO_MODE, Label, LabelsHeader
from sentinel_sql.pipeline.inputs import (
    AnyPath,
    AnyQuestions,
    AnyRuns,
    database_from,
    questions_from,
    runs_from,
)
from sentinel_sql.pipeline.label import Labelling
from sentinel_sql.questions.record import question_id_of
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import Trajectory

NO_RATING, UNSURE, TIE = "no-rating", "raters-unsure", "raters-tie"
UNKNOWN = "answerability-unknown"
"""Nobody says if the question is answerable, and the run gave no answer to tell it by."""

CONTRADICTION = "right-yet-unanswerable"
"""The answer is rated right, and the question is stated to have none."""

NAMED = 5
"""Ratings without a run that are named; further ones are only counted."""


@dataclass(frozen=True, kw_only=True)
class RatedLabelling(Labelling):
    """Labels by people's ratings, and what the ratings left open.

    `unlabelled` maps a run's id to `no-rating`, `raters-unsure`, `raters-tie`,
    `right-yet-unanswerable` or `answerability-unknown`.

    Attributes:
        raters: number of raters.
        disputed: runs that some call right and some call wrong.
        strangers: ids of ratings that fit no run, in the order of the file.
        several_runs: ids of ratings that fit several runs of one question, so no single one.
        repeated: further lines that say the same of the same run.
        assumed_answerable: wrong answers to questions of which nobody says if they are answerable;
            they count as answerable.
        other_columns: columns of the file that were ignored.
    """

    raters: int
    disputed: int
    strangers: tuple[str, ...]
    several_runs: tuple[str, ...]
    repeated: int
    assumed_answerable: int
    other_columns: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the counts of `Labelling`, and those of the ratings."""
        return {
            **super().to_json(),
            "raters": self.raters,
            "disputed": self.disputed,
            "assumed_answerable": self.assumed_answerable,
            "ratings_without_run": len(self.strangers),
            "ratings_without_run_ids": list(self.strangers[:NAMED]),
            "ratings_of_several_runs": len(self.several_runs),
            "ratings_of_several_runs_ids": list(self.several_runs[:NAMED]),
            "repeated_ratings": self.repeated,
            "other_columns": list(self.other_columns),
        }


@checked
def label_by_ratings(
    trajectories: AnyRuns,
    ratings: RatingsFile | str | PathLike[str],
    *,
    questions: AnyQuestions | None = None,
    database: Database | AnyPath | None = None,
    clock: str | None = None,
) -> RatedLabelling:
    """Label runs by people's ratings; several raters of a run are decided by their majority.

    Args:
        trajectories: runs with distinct ids, a store, or its path.
        ratings: what `read_ratings` returned, or the path of the table. A rating names a run, or a
            question with one run.
        questions: where they say if a question is answerable, and the ratings don't.
        database: the runs' database, from which only name, clock and schema are taken. Without it
            the labels hold no schema, and features that check names stay silent.
        clock: the database's own time; None for that of the database or of the runs.

    Raises:
        LabelsError: the ratings can't be read, two runs have one id, no rating fits a run, or the
            clock is unknown.
    """
    runs = list(runs_from(trajectories))
    file = ratings if isinstance(ratings, RatingsFile) else read_ratings(ratings)
    run_ids = [run.question.id for run in runs]
    twice = next((name for name, count in Counter(run_ids).items() if count > 1), None)
    if twice is not None:
        raise LabelsError(
            f"two runs have the question id {twice!r}: label stores whose runs have distinct ids"
        )
    by_run, strangers, several = _by_run(file.ratings, run_ids)
    if not by_run:
        raise LabelsError(
            f"none of the {len(file.ratings)} ratings is of one of these {len(runs)} runs: the "
            f"runs have ids such as {next(iter(run_ids), None)!r}, so write these into the "
            "ratings' column `run`"
        )
    stated = _stated_in(questions, run_ids)
    decided = {
        run.question.id: _label(run, by_run.get(run.question.id, ()), stated.get(run.question.id))
        for run in runs
    }
    labels = [label for label, _ in decided.values() if isinstance(label, Label)]
    said = [{one.right for one in votes} for votes in by_run.values()]
    return RatedLabelling(
        header=_header(runs, database, clock),
        labels=tuple(labels),
        unlabelled={
            name: label for name, (label, _) in decided.items() if not isinstance(label, Label)
        },
        raters=len({rating.rater for rating in file.ratings}),
        disputed=sum({True, False} <= votes for votes in said),
        strangers=strangers,
        several_runs=several,
        repeated=file.repeated,
        assumed_answerable=sum(assumed for _, assumed in decided.values()),
        other_columns=file.other_columns,
    )


def _by_run(
    ratings: Sequence[Rating], run_ids: Sequence[str]
) -> tuple[Mapping[str, Sequence[Rating]], tuple[str, ...], tuple[str, ...]]:
    """Return the ratings of each run, the ids that fit no run, and those that fit several."""
    named = {rating.id: None for rating in ratings}
    trials: dict[str, list[str]] = defaultdict(list)
    for run_id in run_ids:
        question_id = question_id_of(run_id, named)
        if question_id is not None:
            trials[question_id].append(run_id)
    found: dict[str, list[Rating]] = defaultdict(list)
    exact = set(run_ids)
    for rating in ratings:
        its_runs = [rating.id] if rating.id in exact else trials[rating.id]
        if len(its_runs) == 1:
            found[its_runs[0]].append(rating)
    strangers = [name for name in named if name not in exact and not trials[name]]
    several = [name for name in named if name not in exact and len(trials[name]) > 1]
    return found, tuple(strangers), tuple(several)


def _stated_in(questions: AnyQuestions | None, run_ids: Sequence[str]) -> dict[str, bool]:
    """Return by run id whether its question is answerable, where the question file says so."""
    if questions is None:
        return {}
    known = {one.id: one for one in questions_from(questions) if one.answerability_stated}
    found = {run_id: question_id_of(run_id, known) for run_id in run_ids}
    return {run_id: known[name].answerable for run_id, name in found.items() if name is not None}


def _label(
    run: Trajectory, ratings: Sequence[Rating], in_file: bool | None
) -> tuple[Label | str, bool]:
    """Return a run's label or the reason for none, and whether answerability was assumed."""
    right = majority(rating.right for rating in ratings)
    stated = majority(rating.answerable for rating in ratings)
    answerable = in_file if stated is None else stated
    if run.outcome.kind != "answered":
        if answerable is None:
            answerable = None if right is None else not right
        if answerable is None:
            return UNKNOWN, False
        return _made(run, answerable, None, run.outcome.kind), False
    if answerable is False:
        if right:
            return CONTRADICTION, False
        return _made(run, False, False, "answered-unanswerable"), False
    if right is None:
        if not ratings:
            return NO_RATING, False
        return TIE if any(rating.right is not None for rating in ratings) else UNSURE, False
    reason = "rated-right" if right else "rated-wrong"
    return _made(run, True, right, reason), answerable is None and not right


def _made(run: Trajectory, answerable: bool, correct: bool | None, reason: str) -> Label:
    return Label(
        question_id=run.question.id,
        answerable=answerable,
        outcome=run.outcome.kind,
        correct=correct,
        reason=reason,
        judge="ratings",
    )


def _header(
    runs: Sequence[Trajectory], database: Database | AnyPath | None, clock: str | None
) -> LabelsHeader:
    names = {run.question.database for run in runs} - {None}
    name, schema = "unknown" if len(names) != 1 else str(names.pop()), Schema(tables={})
    clocks = {run.question.clock for run in runs} - {None}
    if clock is None and len(clocks) == 1:
        clock = clocks.pop()
    if database is not None:
        with database_from(database) as opened:
            name, schema, clock = opened.name, opened.schema, clock or opened.clock
    if clock is None:
        raise InputError(
            "the runs don't tell their database's own time: give it with --clock, or give the "
            "database with --database"
        )
    return LabelsHeader(judge="ratings", mode=NO_MODE, database=name, clock=clock, schema=schema)
