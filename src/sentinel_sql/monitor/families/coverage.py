"""Coverage: how much of the question the database holds, for runs with a coverage record.

All features are known before the first step.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.coverage import Coverage, CoveredPhrase
from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "phrases": "how many phrases of meaning the question has, at most 12",
        "unheld": "how many of them nothing in the database holds, at most 6",
        "unheld_share": "which share of them",
        "any_unheld": "1 if there is one",
        "first_unheld": "the first phrase is one that nothing holds",
        "last_unheld": "the last phrase is one that nothing holds",
        "stored_texts": "how many phrases are just a stored text",
        "parts_of_texts": "how many are only parts of stored texts",
        "misspelled": "how many are only spelled like a stored word",
        "names": "how many name a table or column",
        "comments": "how many stand in a comment alone",
        "ids": "how many numbers a key column holds",
        "ids_unheld": "how many long numbers no key column holds",
        "after_clock": "how many years lie after the database's own time",
        "outside_span": "how many years lie outside the stored times",
    }
)
"""Meanings by name. Unknown without a readable coverage record."""


class CoverageState:
    """The question's coverage; no step changes it."""

    def __init__(self, asked: QuestionView) -> None:
        coverage = asked.question.coverage
        known = coverage is not None and coverage.readable
        self._values = _read(coverage) if known and coverage else [UNSEEN] * len(FEATURES)

    def observe(self, seen: StepView) -> None:
        """Read one more step."""

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return list(self._values)


def _read(coverage: Coverage) -> list[float]:
    words = [phrase for phrase in coverage.phrases if not _is_number(phrase)]
    numbers = [phrase for phrase in coverage.phrases if _is_number(phrase)]
    unheld = [phrase for phrase in words if not phrase.matches]
    best = [phrase.matches[0] for phrase in words if phrase.matches]
    years = [phrase for phrase in numbers if len(phrase.text) == 4]
    longer = [phrase for phrase in numbers if len(phrase.text) > 4]
    return [
        float(min(12, len(words))),
        float(min(6, len(unheld))),
        len(unheld) / len(words) if words else 0.0,
        float(bool(unheld)),
        float(bool(words) and not words[0].matches),
        float(bool(words) and not words[-1].matches),
        float(sum(it.kind == "value" and it.how == "exact" for it in best)),
        float(sum(it.kind == "value" and it.how == "partly" for it in best)),
        float(sum(it.kind == "value" and it.how == "alike" for it in best)),
        float(sum(it.kind in ("table", "column") for it in best)),
        float(sum(it.kind == "comment" for it in best)),
        float(sum(_has(phrase, "id") for phrase in numbers)),
        float(sum(not phrase.matches for phrase in longer)),
        float(sum(_has(phrase, "after-clock") for phrase in years)),
        float(sum(not phrase.matches for phrase in years)),
    ]


def _is_number(phrase: CoveredPhrase) -> bool:
    return phrase.text.replace(".", "", 1).isdigit()


def _has(phrase: CoveredPhrase, kind: str) -> bool:
    return any(match.kind == kind for match in phrase.matches)
