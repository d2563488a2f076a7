"""The `rules` judge: accepts a strict-wrong answer if a careful reader would, with the rule.

It is deterministic, and ours. It accepts differences of form, but never of a value. In doubt it
says "not correct", because a wrong "correct" teaches a monitor to deliver wrong answers
(docs/reference/labels.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sentinel_sql.database.executor import ExecutionResult
from sentinel_sql.labels.answer_form import (
    SelectForm,
    asks_order,
    asks_set,
    select_form,
    words_order,
)
from sentinel_sql.labels.cells import Rows, comparable, distinctive

EXTRA_COLUMNS = 2
"""Most further columns of an answer, such as an id and a count."""

_MAPS_TRIED = 5_000

_YES = frozenset({"yes", "true", "y"})
_NO = frozenset({"no", "false", "n"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A judge's verdict on one answer; `reason` is a code of docs/reference/labels.md."""

    correct: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A query in the SQL of its database, and its result.

    `stated_form` is that of a gold answer that has no query.
    """

    sql: str
    result: ExecutionResult
    dialect: str = "sqlite"
    stated_form: SelectForm | None = None

    @property
    def form(self) -> SelectForm:
        """The form of answer that is asked for."""
        if self.stated_form is not None:
            return self.stated_form
        return select_form(self.sql, self.dialect)


MismatchJudge: TypeAlias = Callable[[str, str, Answer, Answer], tuple[bool | None, str]]
"""Judges an answer that the strict comparison rejected. Called with (run id, question text, gold,
answer); returns `correct` and the reason."""


def judge_by_rules(question: str, gold: Answer, predicted: Answer) -> Verdict:
    """Judge an answer that the strict comparison rejected; both results must be whole.

    Args:
        question: its text, which may ask for a set or an order.
        gold: the gold SQL and its result.
        predicted: the committed SQL and its result.

    Returns:
        Correct, with the accepted differences as reason, joined by `+` (`same-values` if only
        types differ); or not correct, with the difference as reason.
    """
    wanted, given = gold.result, predicted.result
    if not given.rows:
        return Verdict(correct=False, reason="empty-answer")
    if not wanted.rows:
        return Verdict(correct=False, reason="not-empty")
    form = gold.form
    if _yes_no(form, wanted, given):
        return Verdict(correct=True, reason="yes-no")
    if len(given.columns) < len(wanted.columns):
        return Verdict(correct=False, reason="fewer-columns")
    set_wanted = asks_set(question, form)
    ordered = len(wanted.rows) > 1 and asks_order(question, form)
    rounded_to = _rounded_to(form, predicted.form)
    for digits in (None,) if rounded_to is None else (None, rounded_to):
        rows, answered = comparable(wanted.rows, given.rows, digits=digits)
        for as_set in (False, True) if set_wanted else (False,):
            reason = _agreement(rows, answered, wanted, given, as_set=as_set, ordered=ordered)
            if reason is not None:
                accepted = ["rounded"] * (digits is not None) + reason + ["duplicates"] * as_set
                return Verdict(correct=True, reason="+".join(accepted) or "same-values")
    if len(given.columns) > len(wanted.columns) + EXTRA_COLUMNS:
        return Verdict(correct=False, reason="too-many-columns")
    plain = comparable(wanted.rows, given.rows, digits=None)
    differs = _difference(*plain)
    if differs == "order-differs" and not words_order(question):
        differs = "order-unclear"
    return Verdict(correct=False, reason=differs)


def _agreement(
    rows: Rows,
    answered: Rows,
    wanted: ExecutionResult,
    given: ExecutionResult,
    *,
    as_set: bool,
    ordered: bool,
) -> list[str] | None:
    """Return the column differences to accept so that both agree, or None if they don't agree."""
    width, given_width = len(wanted.columns), len(given.columns)
    if given_width > width + EXTRA_COLUMNS or (not as_set and len(rows) != len(answered)):
        return None
    goal = _normalize(rows, as_set=as_set, ordered=ordered)
    for columns in _column_maps(rows, answered, width, given_width, as_set=as_set):
        chosen = [tuple(row[column] for column in columns) for row in answered]
        if _normalize(chosen, as_set=as_set, ordered=ordered) != goal:
            continue
        if given_width > width:
            if all(
                _same_name(wanted.columns[j], given.columns[column])
                or distinctive(row[j] for row in rows)
                for j, column in enumerate(columns)
            ):
                return ["extra-columns"]
        else:
            return [] if list(columns) == list(range(width)) else ["columns-permuted"]
    return None


def _normalize(rows: Sequence[tuple[object, ...]], *, as_set: bool, ordered: bool) -> object:
    if ordered:
        return list(dict.fromkeys(rows)) if as_set else list(rows)
    return set(rows) if as_set else Counter(rows)


def _column_maps(
    rows: Rows, answered: Rows, width: int, given_width: int, *, as_set: bool
) -> Iterator[tuple[int, ...]]:
    """Yield maps from gold columns to answer columns with equal values in each column."""

    def values(table: Rows, column: int) -> object:
        return _normalize([(row[column],) for row in table], as_set=as_set, ordered=False)

    given = [values(answered, column) for column in range(given_width)]
    options: list[list[int]] = []
    for column in range(width):
        wanted = values(rows, column)
        alike = [other for other in range(given_width) if given[other] == wanted]
        # The same place comes first, so that columns are permuted only if necessary.
        options.append([c for c in alike if c == column] + [c for c in alike if c != column])
    budget = _MAPS_TRIED
    stack: list[tuple[int, ...]] = [()]
    while stack and budget > 0:
        budget -= 1
        chosen = stack.pop()
        if len(chosen) == width:
            yield chosen
            continue
        stack.extend(
            (*chosen, column) for column in reversed(options[len(chosen)]) if column not in chosen
        )


def _difference(rows: Rows, answered: Rows) -> str:
    if Counter(rows) == Counter(answered):
        return "order-differs"
    wanted, given = set(rows), set(answered)
    if wanted == given:
        return "duplicates-differ"
    if given < wanted:
        return "rows-missing"
    return "rows-added" if given > wanted else "values-differ"


def _rounded_to(gold: SelectForm, predicted: SelectForm) -> int | None:
    # The gold's rounding is the precision of the question. The answer's own rounding must keep
    # two decimals, or 0.7 would count as 0.65.
    if gold.digits is not None:
        return gold.digits
    return predicted.digits if predicted.digits is not None and predicted.digits >= 2 else None


def _yes_no(form: SelectForm, wanted: ExecutionResult, given: ExecutionResult) -> bool:
    if not form.truth_value or len(wanted.rows) != 1 or len(given.rows) != 1:
        return False
    if len(given.rows[0]) != 1 or not isinstance(word := given.rows[0][0], str):
        return False
    truth = wanted.rows[0][0]
    return truth in (0, 1) and word.strip().casefold() in (_YES if truth else _NO)


def _same_name(gold: str, predicted: str) -> bool:
    bare = [name.rsplit(".", 1)[-1].strip('"`[] ').casefold() for name in (gold, predicted)]
    return bare[0] == bare[1] and re.fullmatch(r"\w+", bare[0]) is not None
