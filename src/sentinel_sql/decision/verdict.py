"""What a guard says of a run: a `Verdict` after each step, an `Answer` at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sentinel_sql.decision.policy import Kind, Reason

OnUnavailable = Literal["withhold", "deliver"]
"""What to do where the monitor can't judge: fail closed, or pass unjudged answers through."""

Unavailable = Literal[
    "monitor-error",
    "other-agent",
    "other-schema",
    "other-clock",
    "missing-telemetry",
    "missing-probes",
]
"""Why the monitor can't judge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Misfit:
    """Why a monitor can't judge a run at all: as a code, and in words that say what to do."""

    reason: Literal["other-agent", "other-schema", "other-clock"]
    words: str


GuardReason = Reason | Unavailable | Literal["not-executed", "no-answer"]
"""Why a guard decided; `not-executed`: the final SQL gave no result, so there is no answer;
`no-answer`: the agent ended, or failed, before its step cap and neither answered nor abstained."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the guard says after a step.

    Attributes:
        t: steps so far.
        decision: `continue`, or how the run ends.
        reason: why, as a code.
        status: `judged`, or `unavailable`: the monitor couldn't, and `reason` says why.
        p_answerable, p_correct: confidences in [0, 1]; None if unavailable.
        confidence: calibrated chance that the committed answer is right; None before one.
        theta, early, bar: thresholds in force; None where there is none.
        monitor_seconds: what judging this step took.
    """

    t: int
    decision: Kind
    reason: GuardReason
    status: Literal["judged", "unavailable"]
    p_answerable: float | None
    p_correct: float | None
    confidence: float | None
    theta: float | None
    early: float | None
    bar: float | None
    monitor_seconds: float

    @property
    def stops(self) -> bool:
        """True if the run is over."""
        return self.decision != "continue"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """How a guarded run ended. `value` and `final_sql` are None unless it was delivered.

    `value` is the result as it was handed to `close`; None too if the run came in native steps,
    which hold no rows. `monitor_seconds` is for the whole run.
    """

    decision: Kind
    reason: GuardReason
    status: Literal["judged", "unavailable"]
    confidence: float | None
    value: Any
    final_sql: str | None
    t: int
    monitor_seconds: float

    @property
    def delivered(self) -> bool:
        """True if there is an answer to show."""
        return self.decision == "deliver"
