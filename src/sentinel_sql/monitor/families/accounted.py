"""Accounted: which of the question's phrases nothing in the committed query accounts for.

With a coverage record the phrases are its phrases, and what the database holds of them is known;
else they are the question's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.query_account import (
    Account,
    CodeLabels,
    account,
    merged,
    phrases_of,
)
from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "lacking": "how many phrases nothing in the query accounts for, at most 8",
        "lacking_share": "which share of them",
        "any_lacking": "1 if there is one",
        "by_code": "how many phrases a code alone accounts for, at most 4",
        "conditions_unasked": "how many conditions nothing in the question asks for, at most 4",
        "codes_unasked": "how many of them compare a key with a number",
        "values_unasked": "share of the filters of text whose values the question doesn't say",
        "unheld": "how many of the lacking phrases nothing in the database holds, at most 4",
        "texts_lacking": "how many of them are just a stored text, at most 4",
        "parts_lacking": "how many of them are only parts of stored texts, at most 4",
        "names_lacking": "how many of them name a table or column, at most 4",
    }
)
"""Meanings by name. Unknown unless an answer is committed and the question can be read; those
from `unheld` on also need a coverage record."""

_NEEDING_RECORD = 4


class AccountState:
    """The committed query against the question's phrases.

    Attributes:
        unaccounted: the phrases that nothing in the committed query accounts for, as the question
            has them; empty without an answer.
    """

    def __init__(self, asked: QuestionView) -> None:
        self._asked = asked
        self._phrases = phrases_of(asked)
        self._labels = CodeLabels()
        self._values = [UNSEEN] * len(FEATURES)
        coverage = asked.question.coverage
        self._readable = coverage is None or coverage.readable
        self.unaccounted: tuple[str, ...] = ()

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        self.unaccounted = ()
        if seen.committed == "answer" and seen.query is not None and self._readable:
            found = account(self._asked, self._phrases, seen.query, self._labels)
            self._values = self._read(found)
            self.unaccounted = merged(self._asked.question.text, found.lacking)
        # A code isn't explained by the result of its own query.
        self._labels.add(seen.result, seen.query)

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return list(self._values)

    def _read(self, found: Account) -> list[float]:
        lacking = found.lacking
        codes = [it for it in found.unasked if it.numeric and it.kind == "identifier"]
        values = [
            float(min(8, len(lacking))),
            len(lacking) / found.phrases if found.phrases else 0.0,
            float(bool(lacking)),
            float(min(4, found.by_code)),
            float(min(4, len(found.unasked))),
            float(min(4, len(codes))),
            found.texts_unasked,
        ]
        if self._asked.question.coverage is None:
            return values + [UNSEEN] * _NEEDING_RECORD
        best = [phrase.matches[0] for phrase in lacking if phrase.matches]
        counts = (
            len(lacking) - len(best),
            sum(it.kind == "value" and it.how == "exact" for it in best),
            sum(it.kind == "value" and it.how == "partly" for it in best),
            sum(it.kind in ("table", "column") for it in best),
        )
        return values + [float(min(4, count)) for count in counts]
