"""One step of a live agent with its rows, and its conversion to a recorded `Step`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.errors import InputError
from sentinel_sql.result_line import whole_characters
from sentinel_sql.trajectory.record import (
    Action,
    Observation,
    Seconds,
    Step,
    Telemetry,
    Usage,
    states_query,
)

_FLOOR = -100.0
"""Replaces a log-probability of minus infinity, as in recorded runs."""
_MOST_TOKENS = 1_000_000
"""Most tokens of a step that are read (our choice), since an iterator may be endless."""
_IMPOSSIBLE_TELEMETRY = (
    "the telemetry of step {} is impossible (a log-probability above 0, a negative entropy, no "
    "number, or unequal counts of both): it was left out"
)


@dataclass(frozen=True, kw_only=True)
class LiveStep:
    """One step of a live agent.

    Attributes:
        thought: the agent's own words.
        sql: the query that it ran, or None.
        result: result of the query, in any form that `LiveResult.read` reads: rows, a data
            frame, a cursor, one cell, or an exception. A text is one cell.
        result_text: the result as a tool printed it, instead of `result`.
        columns: names of the result's columns, if they can't be seen from the rows.
        truncated: True if the full result has more rows.
        logprobs: log-probabilities of the generated tokens, ≤ 0.
        entropies: entropy over the top 5 alternatives of each token, in nats, ≥ 0.
        usage: token counts of the model call.
        seconds: wall time of model and database.
        final: True if `sql` is the agent's answer; the run ends here.
        abstained: True if the agent says that the question can't be answered; the run ends here.
        text: the agent's sentence for the user, at a final step.
        p_true: the chance in [0, 1] that the agent's own model gives this answer, at a final step.
    """

    thought: str | None = None
    sql: str | None = None
    result: Any = None
    result_text: str | None = None
    columns: Iterable[str] | None = None
    truncated: bool = False
    logprobs: Iterable[float] | None = None
    entropies: Iterable[float] | None = None
    usage: Usage | None = None
    seconds: Seconds | None = None
    final: bool = False
    abstained: bool = False
    text: str | None = None
    p_true: float | None = None

    @property
    def says_nothing(self) -> bool:
        """True for a last step that neither answers nor abstains."""
        answer = (self.sql, self.result, self.result_text)
        return not self.abstained and all(part is None for part in answer)

    def read(self) -> LiveResult:
        """Read the result. This uses up a cursor.

        Raises:
            InputError: see `LiveResult.read`.
        """
        return LiveResult.read(
            self.result,
            result_text=self.result_text,
            columns=self.columns,
            truncated=self.truncated,
        )

    def to_step(self, index: int, observation: Observation) -> tuple[Step, tuple[str, ...]]:
        """Return the record of this step, and sentences about parts that were left out.

        A blank query ran nothing, so its rows are left out.

        Args:
            index: number of the step, from 1.
            observation: observation of its result.

        Raises:
            InputError: a field is of a wrong type.
        """
        sql = _text("sql", self.sql)
        action: Action = "sql"
        if self.abstained:
            action, sql = "final_null", None
        elif self.final:
            action = "final_sql"
        elif not states_query(sql):
            action, sql = "invalid", None
            if observation.kind in ("rows", "empty"):
                observation = Observation(kind="none")
        telemetry, possible = _telemetry(self.logprobs, self.entropies)
        try:
            step = Step(
                index=index,
                thought=_text("thought", self.thought),
                action=action,
                sql=sql,
                observation=observation,
                telemetry=telemetry,
                usage=self.usage,
                seconds=self.seconds,
                p_true=self.p_true,
            )
        except InputError as error:
            raise InputError(
                f"{error}; usage is a Usage, seconds a Seconds, and p_true lies between 0 and 1"
            ) from error
        return step, () if possible else (_IMPOSSIBLE_TELEMETRY.format(index),)


def whole_step(step: Step) -> Step:
    """Return a step without unpaired surrogates, which can't be stored."""
    try:
        step.model_dump_json()
    except ValueError:
        return Step.model_validate(_whole(step.model_dump()))
    return step


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(each) for each in value]
    return value


def _text(name: str, text: Any) -> str | None:
    if text is not None and not isinstance(text, str):
        raise InputError(f"{name}= can't be of type {type(text).__name__}: give text, or None")
    return None if text is None else whole_characters(text)


def _telemetry(logprobs: Any, entropies: Any) -> tuple[Telemetry | None, bool]:
    """Return the telemetry and True, or None and False if it is impossible."""
    if logprobs is None and entropies is None:
        return None, True
    numbers = [_numbers("logprobs", logprobs), _numbers("entropies", entropies)]
    if None in numbers:
        return None, False
    telemetry = Telemetry(logprobs=tuple(numbers[0] or ()), entropies=tuple(numbers[1] or ()))
    return (telemetry, True) if telemetry.possible else (None, False)


def _numbers(name: str, values: Any) -> list[float] | None:
    """Return the numbers of a step's tokens, or None if one of them is no number."""
    if values is None:
        return []
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InputError(
            f"{name}= can't be of type {type(values).__name__}: give one number for each token"
        )
    try:
        read = [float(value) for value in islice(values, _MOST_TOKENS)]
    except Exception:
        return None
    read = [_FLOOR if value == -math.inf else value for value in read]
    return read if all(map(math.isfinite, read)) else None
