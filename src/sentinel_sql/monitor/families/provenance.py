"""Literal provenance: where each literal of the committed query comes from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView
from sentinel_sql.monitor.features.literals import Evidence

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "texts": "how many texts the query compares with, at most 6",
        "texts_seen": "share of its texts that an earlier result showed",
        "texts_only_asked": "share that the question says and no result has shown",
        "texts_nowhere": "share found nowhere",
        "any_text_only_asked": "1 if a text was never looked up",
        "any_text_nowhere": "1 if a text is found nowhere",
        "numbers_nowhere": "share of its numbers found nowhere",
        "any_number_nowhere": "1 if a number is found nowhere",
        "dates_nowhere": "share of its dates found neither in whole nor in parts",
        "patterns": "1 if it looks for a pattern",
    }
)
"""Meanings by name; unknown unless an answer is committed."""


class ProvenanceState:
    """The evidence of the question, and, separately, that of earlier results."""

    def __init__(self, asked: QuestionView) -> None:
        self._asked = Evidence()
        self._asked.add(asked.question.text)
        self._shown = Evidence()
        self._values = [UNSEEN] * len(FEATURES)

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        if seen.committed == "answer" and seen.analysis is not None:
            self._values = self._trace(seen)
        # Added last, so that a literal isn't grounded by the result of its own query.
        if seen.step.observation.kind == "rows" and seen.step.observation.text:
            self._shown.add(seen.step.observation.text)

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return list(self._values)

    def _trace(self, seen: StepView) -> list[float]:
        literals = seen.analysis.literals if seen.analysis is not None else ()
        texts, numbers, dates = [], [], []
        for literal in literals:
            shown, asked = self._shown.grounds(literal), self._asked.grounds(literal)
            if literal.number or literal.text.isdigit():
                numbers.append(shown or asked)
            elif literal.text[:1].isdigit() and not any(map(str.isalpha, literal.text)):
                dates.append(shown or asked)
            else:
                texts.append("shown" if shown else "asked" if asked else "nowhere")
        only, nowhere = texts.count("asked"), texts.count("nowhere")
        return [
            float(min(6, len(texts))),
            texts.count("shown") / max(1, len(texts)),
            only / max(1, len(texts)),
            nowhere / max(1, len(texts)),
            float(only > 0),
            float(nowhere > 0),
            numbers.count(False) / max(1, len(numbers)),
            float(False in numbers),
            dates.count(False) / max(1, len(dates)),
            float(any(literal.pattern for literal in literals)),
        ]
