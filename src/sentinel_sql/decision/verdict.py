"""The records that a guard returns: a `Verdict` after each step, an `Answer` at the end."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Literal

from sentinel_sql.decision.policy import Kind, Reason

OnUnavailable = Literal["withhold", "deliver"]
"""What to do if the monitor can't judge: withhold answers, or deliver them unjudged."""

Unavailable = Literal[
    "monitor-error",
    "other-agent",
    "other-schema",
    "other-clock",
    "other-dialect",
    "other-time-zone",
    "missing-telemetry",
    "missing-probes",
    "missing-coverage",
    "empty-question",
]
"""Why the monitor can't judge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Misfit:
    """Why a monitor can't judge a run at all: a code, and a sentence that says what to do."""

    reason: Literal[
        "other-agent", "other-schema", "other-clock", "other-dialect", "other-time-zone"
    ]
    words: str


GuardReason = Reason | Unavailable | Literal["not-executed", "no-answer", "text-differs"]
"""Why a guard decided. `not-executed`: the final SQL has no result, so there is no answer.
`no-answer`: the agent ended or failed before its step cap, without an answer or an abstention.
`text-differs`: the agent's sentence states something that the result doesn't hold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The guard's decision after a step.

    Attributes:
        t: number of steps so far.
        decision: `continue`, or how the run ends.
        reason: why, as a code.
        status: `judged`, or `unavailable`: the monitor couldn't, and `reason` says why.
        p_answerable, p_correct: confidences in [0, 1]; None if unavailable.
        confidence: calibrated chance that the committed answer is right; None without one.
        theta, early, bar: thresholds in force; None if there is none.
        monitor_seconds: time that judging this step took.
        unaccounted: the question's phrases that nothing in the committed query accounts for, as the
            question has them; empty without an answer, and if the monitor couldn't judge.
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
    unaccounted: tuple[str, ...] = ()

    @property
    def stops(self) -> bool:
        """True if the run is over."""
        return self.decision != "continue"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """How a guarded run ended. `value`, `final_sql` and `text` are None unless it is delivered.

    Attributes:
        decision: how the run ended.
        reason: why, as a code.
        status: `judged`, or `unavailable`: the monitor couldn't, and `reason` says why.
        confidence: calibrated chance in [0, 1] that the query's result is right, or None.
        value: the result given to `close`, or the rows of a cursor; also None if the run consists
            of recorded steps, which hold no rows.
        final_sql: the query of this result.
        text: the agent's sentence, if it was given.
        t: number of steps.
        monitor_seconds: time that judging took in the whole run.
        text_judged: True if the sentence was compared with the result. If False, only the result
            was judged, and a sentence about it may say something else.
        differs: numbers, dates and names of the sentence that the result doesn't hold.
        notes: sentences about parts of the run that were left out, and why.
        fault: why the monitor couldn't judge, as `GuardSession.fault` gives it; never printed with
            the answer.
    """

    decision: Kind
    reason: GuardReason
    status: Literal["judged", "unavailable"]
    confidence: float | None
    value: Any
    final_sql: str | None
    t: int
    monitor_seconds: float
    text: str | None = None
    text_judged: bool = False
    differs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fault: Exception | None = field(default=None, repr=False, compare=False)

    @property
    def delivered(self) -> bool:
        """True if there is an answer to show."""
        return self.decision == "deliver"

    def __await__(self) -> Generator[Any, None, Answer]:
        """Return the answer itself.

        This makes `await guard.run(agent, question)` work for every asynchronous agent, also if
        the question is refused and the agent is never called.
        """
        yield from ()
        return self
