"""Adapts each optional field of a request to what an endpoint accepts.

Every setting has a ladder of forms, the wanted one first. If an endpoint refuses a form, the next
one is used from then on. A field that a refusal names is adapted at once. If it names none, the
request is sent without optional fields, and settings are added one by one.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sentinel_sql.agent.http_calls import Answer
from sentinel_sql.agent.refusals import ErrorBody, error_body

Form = Mapping[str, Any]

REFUSED = frozenset({400, 422})
"""Statuses with which servers refuse a field."""

REFUSED_IF_NAMED = frozenset({403, 404, 501})
"""Statuses that refuse a field only if they name it, such as "you may not request logprobs"."""

_TOO_LARGE = re.compile(r"too large|too high|exceed|at most|less than or equal|maximum value", re.I)


class RequestFields:
    """The optional fields that one endpoint accepts; thread-safe.

    Args:
        ladders: setting → its forms, the wanted one first.
    """

    def __init__(self, ladders: Mapping[str, Sequence[Form]]) -> None:
        self._ladders = ladders
        self._rungs = dict.fromkeys(ladders, 0)
        self._lock = threading.Lock()

    @property
    def adapted(self) -> tuple[str, ...]:
        """The changes after refusals, such as `temperature left out`, in the order of settings."""
        return tuple(
            _describe_change(self._ladders[name], rung)
            for name, rung in self._rungs.items()
            if rung
        )

    def ask(self, body: Form, post: Callable[[Form], Answer]) -> Answer:
        """Send a request with the fields accepted so far, and adapt them if they are refused.

        Args:
            body: model and messages.
            post: called with (body); sends it.

        Returns:
            The answer; or the first refusal, if the request is refused without any optional field.
        """
        rungs = dict(self._rungs)
        answer = post({**body, **self._fields(rungs)})
        if not self._refused(answer, rungs) or error_body(answer).too_long:
            return answer
        # One thread at a time adapts the fields; the others then use them.
        with self._lock:
            if rungs != self._rungs:
                rungs = dict(self._rungs)
                answer = post({**body, **self._fields(rungs)})
            first, named = answer, True
            while named and self._refused(answer, rungs):
                error = error_body(answer)
                named = not error.too_long and self._step_down(rungs, error)
                if named:
                    answer = post({**body, **self._fields(rungs)})
            if answer.status in REFUSED and not error_body(answer).too_long:
                answer = self._search(rungs, body, post) or answer
            if answer.status != 200:
                return first if answer.status in REFUSED else answer
            self._rungs = rungs
            return answer

    def _fields(self, rungs: Mapping[str, int]) -> dict[str, Any]:
        return {
            field: value
            for name, rung in rungs.items()
            for field, value in self._ladders[name][rung].items()
        }

    def _refused(self, answer: Answer, rungs: Mapping[str, int]) -> bool:
        """Return whether an answer may refuse a field."""
        if answer.status not in REFUSED_IF_NAMED:
            return answer.status in REFUSED
        return bool(_named(self._fields(rungs), error_body(answer)))

    def _step_down(self, rungs: dict[str, int], error: ErrorBody) -> bool:
        """Use the next form of the setting that a refusal names; False if it names none."""
        for field in _named(self._fields(rungs), error):
            if field.startswith("max_") and _TOO_LARGE.search(error.words):
                return False
            for name, forms in self._ladders.items():
                rung = rungs[name]
                if field not in forms[rung]:
                    continue
                without = (at for at in range(rung + 1, len(forms)) if field not in forms[at])
                smaller = rung + 1 if rung + 1 < len(forms) else None
                # The number of alternatives may only be too large.
                at = smaller if field == "top_logprobs" else next(without, None)
                if at is not None:
                    rungs[name] = at
                    return True
        return False

    def _search(
        self, rungs: dict[str, int], body: Form, post: Callable[[Form], Answer]
    ) -> Answer | None:
        """Find the fields behind a refusal that names none; None if every request is refused.

        The length limit is renamed here but never left out. Without it, a refusal of a chat that is
        too long would look like a refusal of the limit.
        """
        wanted = dict(rungs)
        bare = {name: len(forms) - 1 for name, forms in self._ladders.items()}
        cap = self._ladders["max_tokens"]
        for at in range(wanted["max_tokens"], max(len(cap) - 1, 1)):
            accepted = {**bare, "max_tokens": at}
            answer = post({**body, **self._fields(accepted)})
            if answer.status not in REFUSED:
                break
        else:
            return None
        if answer.status != 200:
            return answer
        for name, forms in self._ladders.items():
            for rung in range(wanted[name], len(forms) - 1):
                if name == "max_tokens":
                    break
                offered = {**accepted, name: rung}
                again = post({**body, **self._fields(offered)})
                if again.status == 200:
                    accepted, answer = offered, again
                    break
                if again.status not in REFUSED:  # not a refusal of the field
                    return again
        rungs.update(accepted)
        return answer


def _named(fields: Iterable[str], error: ErrorBody) -> list[str]:
    """Return the fields that a refusal names, the most likely first."""
    sent = list(fields)
    places = {
        field: match.start()
        for field in sent
        if (match := re.search(rf"(?<![\w-]){field}(?![\w-])", error.words, re.I))
    }
    found = sorted(places, key=lambda field: places[field])
    return [error.param, *found] if error.param in sent else found


def _describe_change(forms: Sequence[Form], rung: int) -> str:
    wanted, accepted = forms[0], forms[rung]
    gone = [field for field in wanted if field not in accepted]
    new = [field for field in accepted if field not in wanted]
    if new:
        return f"{' and '.join(gone)} sent as {' and '.join(new)}"
    if gone:
        return f"{' and '.join(gone)} left out"
    lower = [field for field in accepted if accepted[field] != wanted[field]]
    return f"{' and '.join(lower)} lowered"
