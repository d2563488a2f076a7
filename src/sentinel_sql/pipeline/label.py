"""Labels recorded runs: executes gold SQL and answers, and lets a judge compare the results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

from sentinel_sql.arguments import checked
from sentinel_sql.database.equivalence import Equivalence
from sentinel_sql.database.executor import Database, ExecutionResult
from sentinel_sql.errors import InputError, LabelsError
from sentinel_sql.labels.answer_form import select_form
from sentinel_sql.labels.file import write_labels
from sentinel_sql.labels.record import (
    OUT_OF_MEMORY,
    TIED,
    TIMED_OUT,
    UNJUDGED,
    JudgeName,
    Label,
    LabelsHeader,
)
from sentinel_sql.labels.rules import Answer, judge_by_rules
from sentinel_sql.labels.strict import mode_named, mode_of, strict_match
from sentinel_sql.labels.ties import ranks
from sentinel_sql.pipeline.inputs import (
    AnyPath,
    AnyQuestions,
    AnyRuns,
    database_from,
    questions_from,
    runs_from,
)
from sentinel_sql.questions.record import Question, question_id_of
from sentinel_sql.trajectory.record import Trajectory

MismatchJudge: TypeAlias = Callable[[str, str, Answer, Answer], tuple[bool | None, str]]
"""Judges an answer that the strict comparison rejected. Called with (run id, question text, gold,
answer); returns `correct` and the reason."""


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """Labels in the order of the runs, and the runs without a label.

    `unlabelled` maps a run's id to the reason: `gold-fails` (the gold SQL fails), `gold-timed-out`
    (it takes too long), `gold-out-of-memory` (it takes too much memory), `cut` (a result was cut at
    the executor's limits, and the rest would decide) or `two-answers` (the run's outcome is not
    that of its last step). `reworded` counts runs whose question has another text than the file's
    question of that id: the id may be another question's.
    """

    header: LabelsHeader
    labels: tuple[Label, ...]
    unlabelled: Mapping[str, str]
    reworded: int = 0

    def save(self, path: str | PathLike[str]) -> None:
        """Write the labels file; `read_labels` reads it.

        Raises:
            LabelsError: two labels have one question id, or the file can't be written.
        """
        write_labels(path, self.header, self.labels)

    def to_json(self) -> dict[str, Any]:
        """Return counts: runs by kind and outcome, correct answers, runs without a label."""
        answered = [x for x in self.labels if x.answerable and x.outcome == "answered"]
        kinds = {True: "answerable", False: "unanswerable"}
        return {
            "judge": self.header.judge,
            **({"model": self.header.model} if self.header.model is not None else {}),
            "mode": self.header.mode,
            "runs": len(self.labels) + len(self.unlabelled),
            "labelled": len(self.labels),
            **({"other_wording": self.reworded} if self.reworded else {}),
            **{
                name: sum(x.answerable is kind for x in self.labels) for kind, name in kinds.items()
            },
            "outcomes": {
                name: dict(Counter(x.outcome for x in self.labels if x.answerable is kind))
                for kind, name in kinds.items()
            },
            "answered": len(answered),
            "strict": sum(x.strict is True for x in answered),
            "correct": sum(x.correct is True for x in answered),
            UNJUDGED: sum(x.without_verdict for x in answered),
            "reasons": dict(Counter(x.reason for x in self.labels).most_common()),
            "unlabelled": dict(Counter(self.unlabelled.values())),
        }


@checked
def label_runs(
    trajectories: AnyRuns,
    questions: AnyQuestions,
    database: Database | AnyPath,
    judge: JudgeName = "rules",
    mode: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Labelling:
    """Label runs by executing each distinct gold SQL and each committed SQL once.

    For the `llm` judge, which asks a model, see `llm_label.label_by_model`.

    Args:
        trajectories: runs with distinct question ids, a store, or its path; `id#k` is a run of
            question `id`.
        questions: the questions of all runs, or their file.
        database: the database of the runs, with the same clock; or the path of a SQLite file.
        judge: `strict` is the official match; `rules` also accepts differences of form.
        mode: name of the equivalence mode, which also prepares both queries. None for that of the
            questions' data set, or `sentinel-1`.
        on_progress: called with (runs done, all runs).

    Raises:
        LabelsError: a run's question isn't among the questions, two runs have one id, or a run
            was recorded at another clock.
        InputError: there is no such judge or mode.
    """
    if judge not in _JUDGES:
        raise InputError(f"there is no judge {judge!r}: choose strict or rules")
    questions = questions_from(questions)
    with database_from(database) as opened:
        return compare_runs(
            runs_from(trajectories),
            questions,
            opened,
            judge,
            mode_of(questions, opened.name) if mode is None else mode,
            _JUDGES[judge],
            on_progress=on_progress,
        )


def compare_runs(
    trajectories: Iterable[Trajectory],
    questions: Sequence[Question],
    database: Database,
    judge: JudgeName,
    mode: str,
    judge_mismatch: MismatchJudge,
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> Labelling:
    """Label runs as `label_runs` does; `judge_mismatch` judges what the strict comparison rejects.

    Raises:
        LabelsError: as in `label_runs`.
        InputError: there is no such mode.
    """
    equivalence = mode_named(mode)
    runs = list(trajectories)
    question_of = _questions_of_runs(runs, questions, database.clock)
    labels: dict[str, Label] = {}
    unlabelled: dict[str, str] = {}
    by_gold: dict[str, list[Trajectory]] = defaultdict(list)
    for run in runs:
        question = question_of[run.question.id]
        if run.states_two_answers:
            unlabelled[run.question.id] = "two-answers"
        elif run.outcome.kind == "answered" and question.gold_sql is not None:
            by_gold[question.gold_sql].append(run)
        else:
            labels[run.question.id] = _label_without_comparison(run, question)
    done = len(labels) + len(unlabelled)
    for gold_sql, same_gold in by_gold.items():
        gold = database.execute(equivalence.postprocess(gold_sql))
        for run in same_gold:
            label = _compare(
                run, question_of[run.question.id], gold, database, judge_mismatch, equivalence
            )
            if isinstance(label, Label):
                labels[run.question.id] = label
            else:
                unlabelled[run.question.id] = label
            done += 1
            if on_progress is not None:
                on_progress(done, len(runs))
    return Labelling(
        header=LabelsHeader(
            judge=judge,
            mode=mode,
            database=database.name,
            clock=database.clock,
            schema=database.schema,
        ),
        labels=tuple(labels[r.question.id] for r in runs if r.question.id in labels),
        unlabelled=unlabelled,
        reworded=sum(_is_reworded(run, question_of[run.question.id]) for run in runs),
    )


def _is_reworded(run: Trajectory, question: Question) -> bool:
    """Tell whether a run was asked something else; words around the question are a log's own."""
    given, known = (
        " ".join(text.casefold().split()) for text in (run.question.text, question.text)
    )
    return not given or (known not in given and given not in known)


def _questions_of_runs(
    runs: Sequence[Trajectory], questions: Sequence[Question], clock: str
) -> dict[str, Question]:
    by_id = {question.id: question for question in questions}
    question_of: dict[str, Question] = {}
    strangers: list[str] = []
    for run in runs:
        run_id = run.question.id
        question_id = question_id_of(run_id, by_id)
        if run_id in question_of:
            raise LabelsError(
                f"two runs have the question id {run_id!r}: label stores whose runs have "
                "distinct ids"
            )
        if run.question.clock not in (None, clock):
            raise LabelsError(
                f"run {run_id!r} was recorded at the clock {run.question.clock}, but the "
                f"database's is {clock}: give --clock '{run.question.clock}'"
            )
        if question_id is None:
            strangers.append(run_id)
        else:
            question_of[run_id] = by_id[question_id]
    if strangers:
        raise LabelsError(
            f"{len(strangers)} of {len(runs)} runs are of questions that no question file holds, "
            f"first {strangers[0]!r}: a run's id is that of its question, and these files hold ids "
            f"such as {next(iter(by_id), None)!r}; name the runs' question files with --questions, "
            "or give the runs these ids"
        )
    return question_of


def _label_without_comparison(run: Trajectory, question: Question) -> Label:
    answered = run.outcome.kind == "answered"
    return Label(
        question_id=run.question.id,
        answerable=question.answerable,
        outcome=run.outcome.kind,
        correct=False if answered else None,
        reason="answered-unanswerable" if answered else run.outcome.kind,
    )


def _compare(
    run: Trajectory,
    question: Question,
    gold: ExecutionResult,
    database: Database,
    judge_mismatch: MismatchJudge,
    mode: Equivalence,
) -> Label | str:
    """Return the label of an answer to an answerable question, or the reason for none."""
    if gold.kind in ("error", "refused"):
        if gold.timed_out or gold.out_of_memory:
            return f"gold-{TIMED_OUT if gold.timed_out else OUT_OF_MEMORY}"
        return "gold-fails"
    gold_sql, final_sql = question.gold_sql or "", run.outcome.final_sql or ""
    given = database.execute(mode.postprocess(final_sql))
    if given.timed_out or given.out_of_memory:
        return Label(
            question_id=run.question.id,
            answerable=True,
            outcome="answered",
            reason=TIMED_OUT if given.timed_out else OUT_OF_MEMORY,
        )
    strict = strict_match(mode, question.text, gold_sql, gold, given)
    if strict is None:
        return "cut"
    correct: bool | None = strict
    if given.kind in ("error", "refused"):
        reason = f"answer-{given.kind}"
    elif strict:
        reason = "strict-match"
    else:
        right = _nearest_gold(mode.postprocess(gold_sql), gold, given, database)
        if strict_match(mode, question.text, gold_sql, right, given):
            correct, reason = True, TIED
        else:
            correct, reason = judge_mismatch(
                run.question.id,
                question.text,
                Answer(sql=gold_sql, result=right),
                Answer(sql=final_sql, result=given),
            )
    return Label(
        question_id=run.question.id,
        answerable=True,
        outcome="answered",
        strict=strict,
        correct=correct,
        reason=reason,
    )


def _nearest_gold(
    gold_sql: str, gold: ExecutionResult, given: ExecutionResult, database: Database
) -> ExecutionResult:
    """Return the possible gold result that is closest to the answer; tied rows may vary."""
    if given.kind != "rows" or not select_form(gold_sql).ordered:
        return gold
    known = ranks(gold_sql, gold, database.execute)
    return gold if known is None else known.nearest(gold, given)


def _reject_mismatch(_run: str, _question: str, _gold: Answer, _answer: Answer) -> tuple[bool, str]:
    return False, "strict-mismatch"


def _judge_by_rules(_run: str, question: str, gold: Answer, answer: Answer) -> tuple[bool, str]:
    if gold.result.truncated or answer.result.truncated:
        return False, "rows-differ"
    verdict = judge_by_rules(question, gold=gold, predicted=answer)
    return verdict.correct, verdict.reason


_JUDGES: Mapping[str, MismatchJudge] = {"strict": _reject_mismatch, "rules": _judge_by_rules}
