"""Guards a conversation in a framework's own messages, read by the same code as imported logs.

    with guard.session(question) as session:
        watched = GuardedConversation(session, FORMS["langchain"])
        for message in messages:
            if watched.feed(message).stops:
                break
        answer = watched.finish()

The same messages give the same steps and verdicts here and in an imported log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sentinel_sql.decision.session import GuardSession
from sentinel_sql.decision.verdict import Answer, Verdict
from sentinel_sql.trajectory.formats.conversion import Conversion, Form
from sentinel_sql.trajectory.formats.endings import Ending
from sentinel_sql.trajectory.formats.tools import Tools
from sentinel_sql.trajectory.record import Step


class GuardedConversation:
    """Feeds one question's messages to a session, step by step as steps become complete.

    The newest step is judged when the agent acts again or the run ends, since only then is it
    known whether its query is the answer. Messages of a later question change nothing.
    """

    def __init__(
        self,
        session: GuardSession,
        form: Form,
        *,
        tools: Tools | None = None,
        one_question: bool = False,
    ) -> None:
        """Start with no message; the further arguments are those of `Conversion`."""
        self.session = session
        self._conversion = Conversion(
            form, tools=tools, question=session.question.text, one_question=one_question
        )
        self._seen = 0

    @property
    def steps(self) -> tuple[Step, ...]:
        """The complete steps. Steps after a stop are listed too, but were not judged."""
        return tuple(self._conversion.runs[0].steps) if self._conversion.runs else ()

    @property
    def ending(self) -> Ending | None:
        """How the run ended on its own, or None while it is open."""
        return self._conversion.runs[0].ending if self._conversion.runs else None

    @property
    def refusal(self) -> str | None:
        """Why a part of the run can't be read, so that no answer is delivered; None if all was."""
        return self._conversion.runs[0].refusal if self._conversion.runs else None

    @property
    def unread(self) -> Mapping[str, int]:
        """Kind of item that isn't part of any step → number of such items."""
        return dict(self._conversion.unread)

    def feed(self, *items: Any) -> Verdict:
        """Read further messages or items, and return the newest verdict."""
        for item in items:
            self._conversion.feed(item)
        return self._observe()

    def finish(self) -> Answer:
        """End the run: judge its last step, and close the session.

        `Answer.value` is the result of the answer's query, as the messages show it. The agent's
        last words are the sentence that is compared with it. If a part of the run can't be read
        (`refusal`), its last step isn't judged and nothing is delivered.
        """
        self._conversion.finish()
        if self.refusal is not None:
            return self.session.close()
        self._observe()
        ending, final = self.ending, self.steps[-1:]
        if ending is None or ending.value is None or not final or final[0].sql is None:
            return self.session.close()
        # The final step is judged already; `close` compares the sentence with the result.
        printed = isinstance(ending.value, str)
        return self.session.close(
            final_sql=final[0].sql,
            result=None if printed else ending.value,
            result_text=ending.value if printed else None,
            text=ending.text or None,
        )

    def _observe(self) -> Verdict:
        for step in self.steps[self._seen :] if self.refusal is None else ():
            self._seen += 1
            if not self.session.stops and self.session.answer is None:
                self.session.observe_step(step)
        return self.session.verdict
