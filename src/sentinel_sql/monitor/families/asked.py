"""Asked: what the agent's own model says of its answer, P(True), where somebody asked it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "p_true": "the chance that the agent's own model gives its answer",
        "log_odds": "the log-odds of that chance",
    }
)
"""Meanings by name. Unknown where nobody asked, and before an answer is committed."""

_EDGE = 1e-4


class AskedState:
    """The newest committed answer's P(True)."""

    def __init__(self, asked: QuestionView) -> None:
        del asked
        self._values = [UNSEEN] * len(FEATURES)

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        chance = seen.step.p_true if seen.committed == "answer" else None
        if chance is None:
            self._values = [UNSEEN] * len(FEATURES)
            return
        inside = min(max(chance, _EDGE), 1.0 - _EDGE)
        self._values = [chance, math.log(inside / (1.0 - inside))]

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return list(self._values)
