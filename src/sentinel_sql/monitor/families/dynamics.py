"""Trajectory dynamics: the position in the run, and the change of telemetry from step to step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView
from sentinel_sql.monitor.features.telemetry import FLOOR

_MEASURES = ("lp_mean", "lp_min", "ent_mean", "ent_max")

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "position": "logarithm of one more than the steps taken",
        "committed": "an answer is committed",
        "abstained": "the run abstained",
        "first_step": "the answer was committed at the first step",
        "thought_length": "logarithm of one more than the words of the newest thought",
        "query_length": "logarithm of one more than the characters of the newest query",
        "reply_length": "logarithm of one more than the tokens of the newest reply",
    }
    | {f"newest_{name}": f"{name} of the newest step" for name in _MEASURES}
    | {f"lowest_{name}": f"lowest {name} of a step so far" for name in _MEASURES[:2]}
    | {f"highest_{name}": f"highest {name} of a step so far" for name in _MEASURES[2:]}
    | {
        f"change_{name}": f"{name} of the newest step less that of the earlier ones"
        for name in ("lp_mean", "ent_mean")
    }
    | {f"trend_{name}": f"slope of {name} over the steps" for name in ("lp_mean", "ent_mean")}
)
"""Meanings by name; unknown before the first step, or without telemetry."""


class DynamicsState:
    """Position, and running sums of the telemetry; its size doesn't grow with the run."""

    def __init__(self, asked: QuestionView) -> None:  # noqa: ARG002
        self._steps = 0
        self._committed = 0.0
        self._abstained = 0.0
        self._lengths = [UNSEEN] * 3
        self._newest = [UNSEEN] * 4
        self._extremes = [UNSEEN] * 4
        self._series = (_Series(), _Series())

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        step = seen.step
        self._steps += 1
        self._committed = float(seen.committed == "answer")
        self._abstained = float(seen.committed == "abstention")
        tokens = step.usage.completion_tokens if step.usage is not None else None
        self._lengths = [
            math.log1p((step.thought or "").count(" ")),
            math.log1p(len(step.sql or "")),
            UNSEEN if tokens is None else math.log1p(tokens),
        ]
        self._newest = _telemetry_of(seen)
        for at, value in enumerate(self._newest):
            if not math.isnan(value):
                choose = min if at < 2 else max
                before = self._extremes[at]
                self._extremes[at] = value if math.isnan(before) else choose(before, value)
        for series, at in zip(self._series, (0, 2), strict=True):
            series.add(self._newest[at])

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return [
            math.log1p(self._steps),
            self._committed,
            self._abstained,
            float(self._committed > 0 and self._steps == 1),
            *self._lengths,
            *self._newest,
            *self._extremes,
            *(series.change for series in self._series),
            *(series.slope for series in self._series),
        ]


class _Series:
    """Mean and least-squares slope of a series, from running sums."""

    def __init__(self) -> None:
        self._count = 0
        self._sum = self._moment = 0.0
        self.change = UNSEEN

    def add(self, value: float) -> None:
        if math.isnan(value):
            self.change = UNSEEN
            return
        self.change = value - self._sum / self._count if self._count else UNSEEN
        self._sum += value
        self._moment += self._count * value
        self._count += 1

    @property
    def slope(self) -> float:
        n = self._count
        if n < 2:
            return UNSEEN
        middle = (n - 1) / 2
        return (self._moment - middle * self._sum) / (n * (n * n - 1) / 12)


def _telemetry_of(seen: StepView) -> list[float]:
    telemetry = seen.step.telemetry
    if telemetry is None or not telemetry.possible:
        return [UNSEEN] * 4
    logprobs = [min(max(value, FLOOR), 0.0) for value in telemetry.logprobs]
    entropies = [min(max(value, 0.0), -FLOOR) for value in telemetry.entropies]
    return [
        math.fsum(logprobs) / len(logprobs) if logprobs else UNSEEN,
        min(logprobs, default=UNSEEN),
        math.fsum(entropies) / len(entropies) if entropies else UNSEEN,
        max(entropies, default=UNSEEN),
    ]
