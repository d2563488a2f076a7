"""Telemetry features: the model's probabilities of its own tokens (paper appendix I)."""

from __future__ import annotations

import math

from sentinel_sql.trajectory.record import Step

FLOOR = -100.0
"""Lower log-probabilities count as this (ours), because some loggers write -9999 for 0."""


class TelemetryState:
    """Running means and extremes over steps."""

    def __init__(self) -> None:
        self._logprob_means: list[float] = []
        self._entropy_means: list[float] = []
        self._lowest: float | None = None
        self._highest: float | None = None

    def observe(self, step: Step) -> None:
        """Read one more step."""
        if step.telemetry is None or not step.telemetry.possible:
            return
        logprobs = [min(max(logprob, FLOOR), 0.0) for logprob in step.telemetry.logprobs]
        entropies = [min(max(entropy, 0.0), -FLOOR) for entropy in step.telemetry.entropies]
        if logprobs:
            self._logprob_means.append(math.fsum(logprobs) / len(logprobs))
            lowest = min(logprobs)
            self._lowest = lowest if self._lowest is None else min(lowest, self._lowest)
        if entropies:
            self._entropy_means.append(math.fsum(entropies) / len(entropies))
            highest = max(entropies)
            self._highest = highest if self._highest is None else max(highest, self._highest)

    def values(self) -> dict[str, float | None]:
        """Return the features, None where nothing was observed."""
        return {
            "lp_mean": _mean(self._logprob_means),
            "lp_min": self._lowest,
            "ent_mean": _mean(self._entropy_means),
            "ent_max": self._highest,
        }


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
