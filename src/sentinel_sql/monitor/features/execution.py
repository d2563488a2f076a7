"""Execution features: how often queries came back empty or failed (paper appendix I)."""

from __future__ import annotations

from sentinel_sql.trajectory.record import Step


class ExecutionState:
    """Counts of steps, executed queries, empty results and errors."""

    def __init__(self) -> None:
        self._steps = 0
        self._executed = 0
        self._empty = 0
        self._errors = 0

    def observe(self, step: Step) -> None:
        """Read one more step."""
        self._steps += 1
        self._executed += step.executed
        self._empty += step.observation.kind == "empty"
        self._errors += step.observation.kind == "error"

    def values(self) -> dict[str, float | None]:
        """Return the features, None where nothing was observed."""
        ran = self._executed
        return {
            "empty_rate": self._empty / ran if ran else None,
            "error_rate": self._errors / ran if ran else None,
            "n_steps": float(self._steps),
        }
