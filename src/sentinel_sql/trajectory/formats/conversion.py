"""Converts a framework's messages to steps and endings, one message at a time or all at once.

conversion = Conversion(FORMS["langchain"])
for message in messages:
    conversion.feed(message)
    ...                            # conversion.runs[-1].steps: the complete steps
conversion.finish()                # conversion.runs[-1].ending: how and why it ended
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sentinel_sql.trajectory.formats.events import AgentText, Event, ToolCall, ToolResult, UserTurn
from sentinel_sql.trajectory.formats.events import unread as not_understood
from sentinel_sql.trajectory.formats.run_reading import RunReading
from sentinel_sql.trajectory.formats.tools import Tools


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A form of messages of a framework.

    Attributes:
        events: called with (message or item); yields its events, and never raises.
        marks: called with (item); returns whether it can only be of this form.
    """

    events: Callable[[Any], Iterator[Event]]
    marks: Callable[[Any], bool]


_INTERRUPTED = (
    "the user speaks before the agent has answered, so the question is unclear; if all messages "
    "are about one question, give the record a `question`"
)


class Conversion:
    """Turns the messages of a conversation into runs, one for each of the user's questions.

    After the agent has answered or declined, the user's next turn is a new question. If the agent
    has only asked back, the user's words belong to the same question. If the user speaks in the
    middle of a run, it is unknown which question the rest is about, and both runs are refused.

    Attributes:
        runs: one run for each question, the newest last.
        unread: kind of item that is part of no step → number of items.
    """

    def __init__(
        self,
        form: Form,
        *,
        tools: Tools | None = None,
        question: str | None = None,
        one_question: bool = False,
    ) -> None:
        """Start a conversation.

        Args:
            form: form of the messages, from `FORMS`.
            tools: the tools that run SQL and those that end a run; None for the common names.
            question: the question; it replaces a first user turn before the run.
            one_question: True if the whole conversation is about the first question.
        """
        self.runs: list[RunReading] = []
        self.unread: Counter[str] = Counter()
        self._form = form
        self._tools = tools or Tools()
        self._question = question
        self._one_question = one_question
        self._has_question = False

    def feed(self, item: Any) -> None:
        """Read one message or item. Items that can't be read are counted in `unread`."""
        try:
            item_events = list(self._form.events(item))
        except (AttributeError, TypeError, ValueError, RecursionError):
            item_events = [not_understood(f"damaged {type(item).__name__}", item)]
        for event in item_events:
            self._take(event)

    def finish(self) -> None:
        """End the conversation. Finishing again changes nothing."""
        self._run().finish()

    def _take(self, event: Event) -> None:
        if isinstance(event, UserTurn):
            self._user_says(event.text)
        elif not isinstance(event, AgentText | ToolCall | ToolResult):
            self.unread[event.kind] += 1
            if event.sql:
                self._run().refusal = (
                    f"holds SQL in items that aren't read ({event.kind}); check --format"
                )
        elif isinstance(event, AgentText):
            self._run().agent_says(event.text)
        elif isinstance(event, ToolCall):
            self._run().agent_calls(event)
        else:
            self._run().tool_returns(event)

    def _user_says(self, text: str) -> None:
        run = self._run()
        if not self._has_question and not (run.question and run.acted):
            self._has_question = True
            run.ask(run.question or text)
        elif self._one_question or not run.acted or run.asks_back:
            run.user_says(text)
        else:
            interrupted = not run.concluded
            run.finish()
            self.runs.append(RunReading(text, tools=self._tools))
            if interrupted:
                for one in self.runs[-2:]:
                    one.refusal = one.refusal or _INTERRUPTED

    def _run(self) -> RunReading:
        if not self.runs:
            self.runs.append(RunReading(self._question or "", tools=self._tools))
        return self.runs[-1]
