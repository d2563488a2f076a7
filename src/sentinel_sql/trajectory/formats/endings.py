"""The rules that decide how a run ended, each with its outcome and its reason."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sentinel_sql.trajectory.record import OutcomeKind, Step

Rule = Literal[
    "closing-words",
    "final-tool",
    "final-tool-query",
    "final-tool-not-run",
    "final-tool-null",
    "declined-after-query",
    "catalog-alone",
    "no-query-ran",
    "no-query",
    "unfinished",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class EndingRule:
    """The outcome of a rule, and its reason."""

    outcome: OutcomeKind
    reason: str


ENDINGS: Mapping[Rule, EndingRule] = {
    "closing-words": EndingRule(
        outcome="answered",
        reason="the agent's last words follow a query over the data: the newest one that ran "
        "without an error is the answer",
    ),
    "final-tool": EndingRule(
        outcome="answered",
        reason="a final tool was called after a query over the data: the newest one that ran "
        "without an error is the answer",
    ),
    "final-tool-query": EndingRule(
        outcome="answered", reason="a final tool was given a query whose result is known"
    ),
    "final-tool-not-run": EndingRule(
        outcome="cap", reason="a final tool was given a query that never ran without an error"
    ),
    "final-tool-null": EndingRule(
        outcome="abstained", reason="a final tool was called without an answer"
    ),
    "declined-after-query": EndingRule(
        outcome="abstained",
        reason="a query ran, but the last words say that the question can't be answered, and state "
        "no value of its result",
    ),
    "catalog-alone": EndingRule(
        outcome="abstained", reason="last words after queries that read the catalog alone"
    ),
    "no-query-ran": EndingRule(
        outcome="abstained", reason="last words after queries that all ended without a result"
    ),
    "no-query": EndingRule(outcome="abstained", reason="last words, and no query was asked for"),
    "unfinished": EndingRule(outcome="cap", reason="the run ends without last words"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How a run ended.

    Attributes:
        rule: a name of `ENDINGS`.
        text: the agent's last words, or its text to the final tool.
        value: the result of the answer's query as the log holds it, or None.
    """

    rule: Rule
    text: str = ""
    value: Any = None

    @property
    def outcome(self) -> OutcomeKind:
        """The run's outcome by the rule."""
        return ENDINGS[self.rule].outcome


_CANT = (
    r"(?:can ?not|can['’]t|could ?n['’]t|could not|unable to|not able to|(?:not |im)possible to)"
)
_ABOUT = r"(?:about|on|for|of|regarding|related to|concerning)"
_FACTS = r"(?:information|info|data|details?|records?)"
_PLACE = r"(?:database|schema|data ?set|tables?|columns?)"

_DECLINES = re.compile(
    "|".join(
        (
            rf"\b{_CANT} (?:\w+ )?(?:be )?(?:answer|determin|fulfil|provid|tell\b|help\b|assist\b)",
            rf"\b{_CANT} (?:find|locate|identify|see) (?:an?y? )?(?:\w+ )?(?:column|table|field)",
            r"\b(?:un|not )answerable\b",
            r"\b(?:no|not any|n['’]t any) (?:\w+ ){0,2}?(?:column|table|field|attribute)s?\b",
            rf"\b{_PLACE} (?:\w+ ){{0,2}}?(?:holds?|has|have|contains?|stores?) nothing {_ABOUT}\b",
            r"\boutside (?:of )?(?:the scope|what (?:the|this|my))",
            r"\bout of (?:the )?scope\b",
            r"\b(?:don['’]t|do not) know\b",
            r"\bno (?:possible )?way (?:to|of) (?:tell|know|determin|answer|find)",
            r"\b(?:don['’]t|do not) have (?:any |the |enough |access to )+"
            rf"(?:\w+ )?(?:{_FACTS}|{_PLACE})",
            rf"\b(?:insufficient|not enough) {_FACTS}\b",
            rf"\black(?:s|ing)? (?:the )?(?:\w+ )?{_FACTS}\b",
            r"(?:not|n['’]t) something (?:that )?(?:we|I|this|the|my)\b",
        )
    ),
    re.IGNORECASE,
)
"""Words that decline to answer, for any result."""

_MAY_DECLINE = re.compile(
    "|".join(
        (
            rf"\b(?:no|any|not enough|insufficient) (?:\w+ ){{0,2}}?{_FACTS}\b"
            rf"(?: (?:\w+ ){{0,3}}?{_ABOUT}\b|\s*[.!]?\s*\Z)",
            rf"\b{_PLACE} (?:\w+ ){{0,2}}?(?:does|do)(?: not|n['’]t) (?:\w+ ){{0,2}}?"
            r"(?:hold|have|contain|include|store|record|track|provide|cover|support)\b",
            rf"\b{_PLACE} (?:\w+ ){{0,2}}?(?:lacks?|(?:holds?|has|have|contains?) no)\b",
            r"\b(?:is|are)(?: not|n['’]t) (?:\w+ )?(?:available|recorded|stored|tracked|contained"
            rf"|included|present|part)\b[^.!?\n]{{0,40}}?\b{_PLACE}",
        )
    ),
    re.IGNORECASE,
)
"""Words that decline if the query found rows; otherwise they may say that nothing was found."""

_NOTHING = frozenset({"", "null", "none", "n/a", "nan", "abstain", "unanswerable", "[]", "{}"})


def says_nothing(text: str) -> bool:
    """Return whether an answer's text means "no answer"."""
    return text.strip().strip(".\"'").lower() in _NOTHING


def declines(text: str, *, question: str, answer: Step | None = None) -> bool:
    """Return whether last words say that a question can't be answered.

    Words with a value of the query's result are an answer. If the query found nothing, words that
    nothing was found are an answer too, because they answer many questions.

    Args:
        text: the last words.
        question: the question; values that it states itself don't count.
        answer: the step whose query would be the answer, or None if none ran.
    """
    cells = _sample(answer) if answer is not None else []
    found = any(cell not in _FOUND_NOTHING for cell in cells) or (
        answer is not None and answer.observation.rows is None
    )
    unsure = says_nothing(text) or _MAY_DECLINE.search(text) is not None
    certain = _DECLINES.search(text) is not None
    if not certain and not (unsure and (found or answer is None)):
        return False
    return not _states(text, cells, question)


def states_result(text: str, *, question: str, answer: Step) -> bool:
    """Tell whether last words state a value of a query's result, or that it holds none.

    True, too, where the result has no value that words could state.
    """
    cells = _sample(answer)
    if not any(cell not in question.lower() for cell in cells):
        return True
    return _states(text, cells, question)


def _states(text: str, cells: Iterable[str], question: str) -> bool:
    said, asked = _DIGIT_GROUPS.sub("", text.lower()), question.lower()
    return any(
        re.search(rf"(?<![\w.]){re.escape(form)}(?!\w|\.\d)", said)
        for cell in cells
        if cell not in asked
        for form in _spellings(cell)
    )


def _spellings(cell: str) -> Iterator[str]:
    """Yield how words may put a cell: a number also in words, rounded, or without its `.0`."""
    yield cell
    try:
        number = float(cell)
    except ValueError:
        return
    if number.is_integer() and abs(number) < len(_NUMBER_WORDS):
        yield _NUMBER_WORDS[int(abs(number))]
    if math.isfinite(number):
        for digits in range(4):
            yield f"{number:.{digits}f}"


_DIGIT_GROUPS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)


_FOUND_NOTHING = frozenset({"", "0", "0.0", "none", "null"})


def _sample(step: Step) -> list[str]:
    """Return the cells in the sample of a step's result line."""
    shown = (step.observation.text or "").partition("; sample ")[2]
    try:
        rows = ast.literal_eval(shown)
        return [str(cell).lower() for row in rows for cell in row if str(cell).strip()]
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return []
