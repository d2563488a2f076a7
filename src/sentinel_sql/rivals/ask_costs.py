"""Estimates the cost of asking an agent's own model about its recorded answers."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from sentinel_sql.agent.self_report import NUMBER_TOKENS, WORD_TOKENS
from sentinel_sql.rivals.confidences import SAMPLED, Method, still_due
from sentinel_sql.rivals.self_report_questions import total
from sentinel_sql.trajectory.record import Trajectory, Usage

ASK_TOKENS = 60
"""Prompt tokens that the question adds to a recorded chat (our rough measurement)."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The estimated cost of one method; None for what the recordings don't tell.

    `seconds` assumes the speed of the recorded turns; a server that caches prompts is faster.
    """

    method: Method
    records: int
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float | None


def costs(
    runs: Sequence[Trajectory],
    methods: Sequence[Method],
    *,
    samples: int,
    held: Container[tuple[str, Method]] = (),
    limit: int | None = None,
) -> tuple[Cost, ...]:
    """Estimate the cost of asking about these answers, from the tokens of their own turns.

    Args:
        runs: answered runs.
        methods: the ways to ask.
        samples: samples for each answer.
        held: (run, method) of existing records.
        limit: most answers; None for all.
    """
    due = still_due(runs, methods, held, limit)
    return tuple(
        _estimate([run for run, missing in due if method in missing], method, samples)
        for method in methods
    )


def _estimate(runs: Sequence[Trajectory], method: Method, samples: int) -> Cost:
    repeats = samples if method in SAMPLED else 1
    turns = [
        step
        for run in runs
        for step in (run.steps if method == "self-consistency" else run.steps[-1:])
        for _ in range(repeats)
    ]
    usages = [step.usage or Usage() for step in turns]
    read = total([usage.prompt_tokens for usage in usages])
    written = total([usage.completion_tokens for usage in usages])
    if method not in SAMPLED:
        # The model reads the chat with its answer and the question, and writes a word or a number.
        read = None if read is None or written is None else read + written + ASK_TOKENS * len(turns)
        written = WORD_TOKENS * len(turns) if method == "p-true" else NUMBER_TOKENS * len(turns)
    seconds = [step.seconds.model if step.seconds else None for step in turns]
    known = [each for each in seconds if each is not None]
    return Cost(
        method=method,
        records=len(runs),
        calls=len(turns),
        prompt_tokens=read,
        completion_tokens=written,
        seconds=sum(known) if len(known) == len(seconds) else None,
    )
