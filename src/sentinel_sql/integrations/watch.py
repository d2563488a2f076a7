"""Judges the newest run of a chat: whether it stops, and whether its answer may be shown.

An adapter hands over the whole chat each time. What was read before is kept for some chats, so that
a step costs that step. A chat that isn't known, or that was changed, is read from its beginning, so
that threads, checkpoints and restarted processes need no care.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

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
from sentinel_sql.trajectory.formats.run_reading import RunReading
from sentinel_sql.trajectory.formats.tools import Tools
from sentinel_sql.trajectory.recorder import Recorder

TEXTS: Mapping[str, str] = {
    "refuse": "I can't answer this question from the database.",
    "exit": "I can't answer this question reliably, so I stopped looking.",
    "withhold": "I can't answer this question reliably, so I don't state what I found.",
}
"""What the user reads in place of an answer, by the decision."""

_NO_ROWS = LiveResult.read([])
_MOST_CHATS = 64
"""Chats kept at a time (ours); one that is forgotten is read again."""


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
        grounder: looks a question's words up in the database, or None.
    """

    form: str
    guard: Guard | None
    recorder: Recorder | None
    tools: Tools
    texts: Mapping[str, str] = field(default_factory=lambda: TEXTS)
    grounder: Grounder | None = None
    chats: _Chats = field(default_factory=lambda: _Chats(), compare=False)

    def stop(self, messages: Sequence[Any]) -> Stop | None:
        """Return why the newest run of a chat must not go on, or None."""
        if self.guard is None:
            return None
        try:
            chat = self._read(messages)
            verdict = chat.watched(self.guard, self.grounder).session.verdict
            self.chats.keep(chat)
        except Exception:
            return self._unjudged()
        return self._stop(verdict) if verdict.stops and verdict.decision != "deliver" else None

    def end(self, messages: Sequence[Any]) -> Stop | None:
        """Record the newest run, which is over; return why its answer isn't shown, or None."""
        if self.guard is None and self.recorder is None:
            return None
        try:
            chat = self._read(messages)
            if self.recorder is not None:
                self._record(chat, self.recorder)
            if self.guard is None:
                return None
            watched = chat.watched(self.guard, self.grounder)
            answer = watched.finish()
            if answer.delivered or self._may_be_said(watched, answer, chat.question):
                return None
            return self._stop(answer)
        except Exception:
            return self._unjudged()

    def _read(self, messages: Sequence[Any]) -> _Chat:
        chat = self.chats.take(messages) or _Chat(form=self.form, tools=self.tools)
        chat.read(messages)
        return chat

    def _record(self, chat: _Chat, recorder: Recorder) -> None:
        with suppress(Exception):  # recording never breaks the user's loop
            run = chat.finished_run()
            if run.refusal is None and chat.question:
                recorder.record(
                    form=self.form,
                    question=chat.question,
                    history=chat.history,
                    steps=tuple(run.steps),
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
        if self.guard is None or self.guard.on_unavailable == "deliver":
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
        grounder=grounder,
    )


class _Chat:
    """A chat as far as it was read, and its newest run under guard."""

    def __init__(self, *, form: str, tools: Tools) -> None:
        self._form, self._tools = FORMS[form], tools
        self._runs = Conversion(self._form, tools=tools)
        self._start = 0
        self._watched: GuardedConversation | None = None
        self._fed = 0
        self.messages: list[Any] = []

    @property
    def question(self) -> str:
        """The newest run's question."""
        return self._runs.runs[-1].question.strip() if self._runs.runs else ""

    @property
    def history(self) -> tuple[str, ...]:
        """The questions before it."""
        return tuple(filter(None, (run.question.strip() for run in self._runs.runs[:-1])))

    def begins(self, messages: Sequence[Any]) -> bool:
        """Return whether a chat begins with what was read of this one."""
        return len(self.messages) <= len(messages) and all(
            own is other or own == other
            for own, other in zip(self.messages, messages, strict=False)
        )

    def read(self, messages: Sequence[Any]) -> None:
        """Read what is new in the chat, of which this one is the beginning."""
        for at in range(len(self.messages), len(messages)):
            runs = len(self._runs.runs)
            self._runs.feed(messages[at])
            if len(self._runs.runs) > runs:
                self._start, self._watched = at, None
        self.messages = list(messages)

    def watched(self, guard: Guard, grounder: Grounder | None) -> GuardedConversation:
        """Return the newest run under guard, with all that was read of it."""
        question = self.question
        if self._watched is None or self._watched.session.question.text != question:
            session = guard.session(question, history=self.history, grounder=grounder)
            self._watched = GuardedConversation(session, self._form, tools=self._tools)
            self._fed = self._start
        self._watched.feed(*self.messages[self._fed :])
        self._fed = len(self.messages)
        return self._watched

    def finished_run(self) -> RunReading:
        """Return the newest run, ended, without ending it here."""
        run = Conversion(self._form, tools=self._tools, question=self.question)
        for message in self.messages[self._start :]:
            run.feed(message)
        run.finish()
        return run.runs[0]


class _Chats:
    """The chats that were read last. Threads may share it; one at a time has a chat."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[_Chat] = []

    def take(self, messages: Sequence[Any]) -> _Chat | None:
        """Return the chat with the longest beginning of these messages, and keep it no more."""
        with self._lock:
            found = [chat for chat in self._kept if chat.messages and chat.begins(messages)]
            chat = max(found, key=lambda it: len(it.messages), default=None)
            if chat is not None:
                self._kept.remove(chat)
            return chat

    def keep(self, chat: _Chat) -> None:
        """Keep a chat for its next message; the oldest of too many is forgotten."""
        with self._lock:
            self._kept = [*self._kept[-_MOST_CHATS + 1 :], chat]
