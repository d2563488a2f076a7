"""Checks question files against their database: each gold query, and the answer in the data set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sentinel_sql.database.executor import Database, ExecutionResult
from sentinel_sql.labels.answer_form import select_form
from sentinel_sql.labels.gold_answer import gold_readings
from sentinel_sql.labels.strict import mode_named, mode_of, strict_match
from sentinel_sql.labels.ties import inner_cuts, ranks
from sentinel_sql.questions.record import Question

NAMED = 20
"""Mismatches and errors that a report lists by id; further ones are only counted."""


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """The results of the gold queries of a question file on a database.

    Every answerable question with gold SQL counts in one of `matched`, `mismatched`, `errors` (its
    gold SQL fails), `uncompared` (the data set has no answer) and `cut` (the result is longer than
    the executor keeps, and the rest would decide). `empty_gold` counts gold queries without rows.
    `undetermined` counts gold queries that may return other rows over the same data, and
    `undetermined_ids` says why: the LIMIT cuts through a tie, or the order leaves rows tied.
    `written` counts questions with a gold answer and no gold SQL, of which nothing is executed, and
    `unread_ids` those whose gold answer means nothing. `unstated` counts questions with neither
    gold nor `answerable`, which count as unanswerable.
    `mismatched_ids`, `empty_gold_ids` and `error_ids` (id → the database's error) list the first
    `NAMED`.
    """

    mode: str
    answerable: int
    unanswerable: int
    matched: int
    mismatched: int
    errors: int
    uncompared: int
    cut: int
    empty_gold: int
    undetermined: int
    written: int
    unstated: int
    unread_ids: tuple[str, ...]
    mismatched_ids: tuple[str, ...]
    empty_gold_ids: tuple[str, ...]
    undetermined_ids: Mapping[str, str]
    error_ids: Mapping[str, str]

    @property
    def summary(self) -> str:
        """One line: how many queries run, and how many match."""
        found = self._queries if self._with_sql or not self.written else "no gold SQL to run"
        if self.written:
            read = self.written - len(self.unread_ids)
            found += f"; {read} of {self.written} gold answers without SQL can be read"
        if self._says_unstated:
            found += f"; {self.unstated} questions state no gold and count as unanswerable"
        return found

    @property
    def _says_unstated(self) -> bool:
        """Whether to name questions without gold; with gold SQL alone that is the usual form."""
        return self.unstated > 0 and (self.written > 0 or not self._with_sql)

    @property
    def _with_sql(self) -> int:
        return self.matched + self.mismatched + self.errors + self.uncompared + self.cut

    @property
    def _queries(self) -> str:
        queries = self._with_sql
        ran = queries - self.errors
        runs = f"all {queries} queries run" if ran == queries else f"{ran} of {queries} queries run"
        compared = self.matched + self.mismatched
        if not compared:
            return f"{runs}; the data set has no answers to compare with"
        return f"{runs}; {self.matched} of {compared} given answers match, compared by {self.mode}"

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        return {
            "summary": self.summary,
            "mode": self.mode,
            "answerable": self.answerable,
            "unanswerable": self.unanswerable,
            "matched": self.matched,
            "mismatched": self.mismatched,
            "errors": self.errors,
            "uncompared": self.uncompared,
            "cut": self.cut,
            "empty_gold": self.empty_gold,
            "undetermined": self.undetermined,
            **({"written": self.written} if self.written else {}),
            **({"unread_ids": list(self.unread_ids[:NAMED])} if self.unread_ids else {}),
            **({"unstated": self.unstated} if self._says_unstated else {}),
            "mismatched_ids": list(self.mismatched_ids),
            "empty_gold_ids": list(self.empty_gold_ids),
            "undetermined_ids": dict(self.undetermined_ids),
            "error_ids": dict(self.error_ids),
        }


def check_questions(
    questions: Sequence[Question],
    database: Database,
    mode: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> CheckReport:
    """Execute each distinct gold SQL once and compare it with the answers in the data set.

    Args:
        questions: questions over this database.
        database: executes the gold SQL, as the mode prepares it.
        mode: name of an equivalence mode; None for the one that labels these questions.
        on_progress: called with (answerable questions done, all answerable questions).

    Raises:
        InputError: there is no such mode.
    """
    mode = mode_of(questions, database.name) if mode is None else mode
    equivalence = mode_named(mode)
    by_gold: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        if question.gold_sql is not None:
            by_gold[question.gold_sql].append(question)
    found: dict[str, list[str]] = defaultdict(list)
    error_of: dict[str, str] = {}
    reason_of: dict[str, str] = {}
    written = [x for x in questions if x.gold_sql is None and x.gold_answer is not None]
    total, done = sum(map(len, by_gold.values())), 0
    for gold_sql, same_gold in by_gold.items():
        prepared = equivalence.postprocess(gold_sql)
        gold = database.execute(prepared)
        undetermined = _undetermined(prepared, gold, database)
        for question in same_gold:
            if undetermined is not None:
                reason_of[question.id] = undetermined
            if gold.kind in ("error", "refused"):
                found["errors"].append(question.id)
                error_of[question.id] = gold.error or gold.kind
            elif question.gold_answer is None:
                found["uncompared"].append(question.id)
            else:
                verdicts = [
                    strict_match(
                        equivalence,
                        question.text,
                        gold_sql,
                        gold,
                        reading.result,
                        dialect=database.dialect,
                    )
                    for reading in gold_readings(question.gold_answer, question.text)
                ]
                same = True if True in verdicts else verdicts[0] if verdicts else False
                found[{True: "matched", False: "mismatched", None: "cut"}[same]].append(question.id)
            if gold.kind == "empty":
                found["empty_gold"].append(question.id)
            done += 1
            if on_progress is not None:
                on_progress(done, total)
    return CheckReport(
        mode=mode,
        answerable=sum(question.answerable for question in questions),
        unanswerable=sum(not question.answerable for question in questions),
        matched=len(found["matched"]),
        mismatched=len(found["mismatched"]),
        errors=len(found["errors"]),
        uncompared=len(found["uncompared"]),
        cut=len(found["cut"]),
        empty_gold=len(found["empty_gold"]),
        undetermined=len(reason_of),
        written=len(written),
        unstated=sum(not question.answerability_stated for question in questions),
        unread_ids=tuple(x.id for x in written if not gold_readings(x.gold_answer or "", x.text)),
        mismatched_ids=tuple(found["mismatched"][:NAMED]),
        empty_gold_ids=tuple(found["empty_gold"][:NAMED]),
        undetermined_ids=dict(list(reason_of.items())[:NAMED]),
        error_ids={question_id: error_of[question_id] for question_id in found["errors"][:NAMED]},
    )


def _undetermined(sql: str, gold: ExecutionResult, database: Database) -> str | None:
    """Return why the data don't determine a gold query's result, or None."""
    known = ranks(sql, gold, database.execute, dialect=database.dialect)
    if known is not None:
        ordered = select_form(sql, database.dialect).ordered
        if known.cut_through_a_tie and not ordered:
            return "its LIMIT cuts rows that have no order: give it an ORDER BY, or ask for all"
        if known.cut_through_a_tie:
            return "its LIMIT cuts through a tie: order by something more, or ask for all of them"
        if known.order_within_a_tie and ordered:
            return (
                "rows of equal rank come in any order: order by something more if the order counts"
            )
    for inner in inner_cuts(sql, dialect=database.dialect):
        within = ranks(inner, database.execute(inner), database.execute, dialect=database.dialect)
        if within is not None and within.cut_through_a_tie:
            return "the LIMIT of a subquery cuts through a tie: order by something more there"
    return None
