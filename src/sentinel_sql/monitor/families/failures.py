"""Failures so far: classes of errors, repeated queries, references that the schema lacks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView

_CLASSES: Mapping[str, re.Pattern[str]] = {
    "column": re.compile(r"column|field|attribute", re.IGNORECASE),
    "table": re.compile(r"table|relation|view", re.IGNORECASE),
    "syntax": re.compile(r"syntax|parse|token|incomplete|unrecognized", re.IGNORECASE),
    "function": re.compile(r"function|aggregate|argument", re.IGNORECASE),
}

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "error_share": "share of steps that ended in an error",
        **{f"error_{name}": f"errors that speak of a {name}, logarithm" for name in _CLASSES},
        "refused": "queries that weren't run, and replies without an action, logarithm",
        "empty_share": "share of earlier queries that returned nothing",
        "repeats": "queries that were sent before, logarithm",
        "newest_repeats": "the newest query was sent before",
        "explored": "earlier queries that returned rows, logarithm",
        "after_error": "the step before the newest ended in an error",
        "after_empty": "the step before the newest returned nothing",
        "after_rows": "the step before the newest returned rows",
        "newest_misses": "references of the newest query that the schema lacks",
        "newest_bad_joins": "joins of the newest query that no key backs",
        "unreadable": "the newest query can't be parsed",
    }
)
"""Meanings by name; counts as log(1 + n). Unknown before the first step, or without a schema."""


class FailureState:
    """Counts of what went wrong so far."""

    def __init__(self, asked: QuestionView) -> None:
        self._known = asked.surroundings.keys is not None
        self._steps = self._errors = self._refused = self._empty = self._ran = self._rows = 0
        self._classes = dict.fromkeys(_CLASSES, 0)
        self._sent: set[str] = set()
        self._repeats = 0
        self._newest = [UNSEEN] * 7
        self._kind: str | None = None

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        before, observation = self._kind, seen.step.observation
        # The counts of results leave out the newest step: the family `shape` describes its result.
        self._empty += before == "empty"
        self._rows += before == "rows"
        self._ran += before in ("rows", "empty", "error")
        self._steps += 1
        self._kind = observation.kind
        if observation.kind == "error":
            self._errors += 1
            words = observation.error or observation.text or ""
            for name, pattern in _CLASSES.items():
                if pattern.search(words[:400]):
                    self._classes[name] += 1
                    break
        self._refused += observation.kind in ("refused", "reminder")
        folded = " ".join((seen.step.sql or "").lower().split())
        again = bool(folded) and folded in self._sent
        self._repeats += again
        if folded:
            self._sent.add(folded)
        analysis = seen.analysis
        resolved = self._known and analysis is not None
        self._newest = [
            float(again),
            float(before == "error"),
            float(before == "empty"),
            float(before == "rows"),
            float(min(5, analysis.references.failed)) if resolved and analysis else UNSEEN,
            float(min(5, analysis.references.bad_joins)) if resolved and analysis else UNSEEN,
            float(seen.query is None) if folded else UNSEEN,
        ]

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        if not self._steps:
            return [UNSEEN] * len(FEATURES)
        return [
            self._errors / self._steps,
            *(math.log1p(count) for count in self._classes.values()),
            math.log1p(self._refused),
            self._empty / max(1, self._ran),
            math.log1p(self._repeats),
            self._newest[0],
            math.log1p(self._rows),
            *self._newest[1:],
        ]
