"""Judges the newest run of a chat: whether it stops, and whether its answer may be shown.

Each judgement reads the whole chat again. Nothing is kept between two calls, so that threads,
checkpoints and restarted processes need no care, and live decisions are those of a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sentinel_sql.coverage import Coverage
from sentinel_sql.decision.conversation import GuardedConversation
from sentinel_sql.decision.grounder import Grounder
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.decision.sentence.claims import Claims
from sentinel_sql.decision.verdict import Answer, Verdict
from sentinel_sql.errors import InputError
from sentinel_sql.trajectory.formats import FORMS
from sentinel_sql.trajectory.formats.conversion import Conversion
from sentinel_sql.trajectory.formats.endings import declines
from sentinel_sql.trajectory.formats.tools import Tools
from sentinel_sql.trajectory.recorder import Recorder

TEXTS: Mapping[str, str] = {
    "refuse": "I can't answer this question from the database.",
    "exit": "I can't answer this question reliably, so I stopped looking.",
    "withhold": "I can't answer this question reliably, so I don't state what I found.",
}
"""What the user reads in place of an answer, by the decision."""

_NO_ROWS = LiveResult.read([])


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """A run that is over, or an answer that isn't shown.

    Attributes:
        decision: `refuse`, `exit` or `withhold`.
        reason: why, as a code.
        t: number of steps that were judged.
        text: what the user reads instead.
    """

    decision: str
    reason: str
    t: int
    text: str

    @property
    def record(self) -> dict[str, Any]:
        """The decision as plain data, for the metadata of a message."""
        return {"decision": self.decision, "reason": self.reason, "t": self.t}


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What an adapter asks about a chat.

    Attributes:
        form: name of the messages' form, from `FORMS`.
        guard: judges runs; None if they are only recorded.
        recorder: gets each finished run; None if none is recorded.
        tools: the tools that run SQL.
        texts: what the user reads, by the decision.
        ground: looks a question's words up in the database, or None.
    """

    form: str
    guard: Guard | None
    recorder: Recorder | None
    tools: Tools
    texts: Mapping[str, str] = field(default_factory=lambda: TEXTS)
    grounder: Grounder | None = None

    def stop(self, messages: Sequence[Any]) -> Stop | None:
        """Return why the newest run of a chat must not go on, or None."""
        if self.guard is None:
            return None
        try:
            watched = self._open(self.guard, messages)[0]
            verdict = watched.session.verdict
        except Exception:
            return self._unjudged()
        return self._stop(verdict) if verdict.stops and verdict.decision != "deliver" else None

    def end(self, messages: Sequence[Any]) -> Stop | None:
        """Record the newest run, which is over; return why its answer isn't shown, or None."""
        if self.recorder is not None:
            self._record(messages)
        if self.guard is None:
            return None
        try:
            watched, question = self._open(self.guard, messages)
            answer = watched.finish()
            if answer.delivered or self._may_be_said(watched, answer, question):
                return None
            return self._stop(answer)
        except Exception:
            return self._unjudged()

    def _open(self, guard: Guard, messages: Sequence[Any]) -> tuple[GuardedConversation, str]:
        start, question, history = self._newest(messages)
        session = guard.session(question, history=history, grounder=self.grounder)
        watched = GuardedConversation(session, FORMS[self.form], tools=self.tools)
        watched.feed(*messages[start:])
        return watched, question

    def _newest(self, messages: Sequence[Any]) -> tuple[int, str, tuple[str, ...]]:
        """Return where the newest run begins, its question, and the questions before it."""
        chat, start = Conversion(FORMS[self.form], tools=self.tools), 0
        for at, message in enumerate(messages):
            runs = len(chat.runs)
            chat.feed(message)
            if len(chat.runs) > runs:
                start = at
        asked = [run.question.strip() for run in chat.runs]
        return start, asked[-1] if asked else "", tuple(filter(None, asked[:-1]))

    def _record(self, messages: Sequence[Any]) -> None:
        with suppress(Exception):  # recording never breaks the user's loop
            start, question, history = self._newest(messages)
            chat = Conversion(FORMS[self.form], tools=self.tools, question=question)
            for message in messages[start:]:
                chat.feed(message)
            chat.finish()
            run = chat.runs[0]
            if self.recorder is not None and run.refusal is None and question:
                self.recorder.record(
                    form=self.form, question=question, history=history, steps=tuple(run.steps)
                )

    def _may_be_said(self, watched: GuardedConversation, answer: Answer, question: str) -> bool:
        """Return whether the agent's own words for giving no answer may be shown."""
        if answer.reason != "agent-abstained" or watched.ending is None:
            return False
        words = watched.ending.text
        if declines(words, question=question):
            return True
        return not Claims.read(words).missing_in(_NO_ROWS, question=question, sql=None)

    def _stop(self, verdict: Verdict | Answer) -> Stop:
        kind = verdict.decision
        return Stop(decision=kind, reason=verdict.reason, t=verdict.t, text=self.texts[kind])

    def _unjudged(self) -> Stop | None:
        if self.guard is not None and self.guard.on_unavailable == "deliver":
            return None
        return Stop(decision="withhold", reason="monitor-error", t=0, text=self.texts["withhold"])


def make_watch(
    form: str,
    *,
    guard: Guard | None,
    recorder: Recorder | None,
    sql_tools: Mapping[str, str] | None,
    texts: Mapping[str, str] | None,
    grounder: Grounder | None,
) -> Watch:
    """Check an adapter's arguments.

    Raises:
        InputError: one is of a wrong type, or there is neither guard nor recorder.
    """
    if guard is None and recorder is None:
        raise InputError("nothing to do: give guard=, recorder= or both")
    if guard is not None and not isinstance(guard, Guard):
        raise InputError(f"guard= can't be of type {type(guard).__name__}: give a Guard")
    if recorder is not None and not isinstance(recorder, Recorder):
        raise InputError(f"recorder= can't be of type {type(recorder).__name__}: give a Recorder")
    named = dict(sql_tools or {})
    if not all(isinstance(it, str) and it.strip() for pair in named.items() for it in pair):
        raise InputError('sql_tools= takes the SQL argument of each tool: {"run_sql": "query"}')
    unknown = set(texts or {}) - set(TEXTS)
    if unknown:
        raise InputError(f"texts= knows {', '.join(TEXTS)}, but not {min(unknown)!r}")
    return Watch(
        form=form,
        guard=guard,
        recorder=recorder,
        tools=Tools(sql=named),
        texts={**TEXTS, **(texts or {})},
        grounder=None if grounder is None else _Remembered(grounder),
    )


class _Remembered:
    """A grounder that looks up each question once, since a chat is read again at each step."""

    def __init__(self, grounder: Grounder) -> None:
        self._ground: Callable[..., Coverage] = lru_cache(maxsize=256)(grounder.ground)

    def ground(self, question: str, history: Sequence[str] = ()) -> Coverage:
        return self._ground(question, tuple(history)) if history else self._ground(question)
