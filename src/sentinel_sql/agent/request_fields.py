"""The optional fields of a request: each is adapted by itself to what an endpoint takes.

Every setting has a ladder of forms, the wanted one first. Where an endpoint refuses a form, the
next one is taken for good. What a refusal names is adapted at once; where it names nothing, the
bare request is tried, and the settings are added to it one by one.
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
"""Statuses by which servers refuse a field."""

REFUSED_IF_NAMED = frozenset({403, 404, 501})
"""Statuses that refuse a field only where they name it, as "you may not request logprobs" does."""

_TOO_LARGE = re.compile(r"too large|too high|exceed|at most|less than or equal|maximum value", re.I)


class RequestFields:
    """The fields beside model and messages, as far as one endpoint takes them; thread-safe.

    Args:
        ladders: setting → its forms, the wanted one first.
    """

    def __init__(self, ladders: Mapping[str, Sequence[Form]]) -> None:
        self._ladders = ladders
        self._rungs = dict.fromkeys(ladders, 0)
        self._lock = threading.Lock()

    @property
    def adapted(self) -> tuple[str, ...]:
        """What the endpoint refused, such as `temperature left out`, in the order of settings."""
        return tuple(_told(self._ladders[name], rung) for name, rung in self._rungs.items() if rung)

    def ask(self, body: Form, post: Callable[[Form], Answer]) -> Answer:
        """Ask with the fields that are known to be taken, and learn from a refusal of them.

        Args:
            body: model and messages.
            post: sends a body.

        Returns:
            The answer; of a request that is refused whatever is left out, the first one.
        """
        rungs = dict(self._rungs)
        answer = post({**body, **self._fields(rungs)})
        if not self._refused(answer, rungs) or error_body(answer).too_long:
            return answer
        # One thread at a time learns; the others then ask with what it learned.
        with self._lock:
            if rungs != self._rungs:
                rungs = dict(self._rungs)
                answer = post({**body, **self._fields(rungs)})
            first, named = answer, True
            while named and self._refused(answer, rungs):
                said = error_body(answer)
                named = not said.too_long and self._step_down(rungs, said)
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
        """Tell whether an answer may refuse a field."""
        if answer.status not in REFUSED_IF_NAMED:
            return answer.status in REFUSED
        return bool(_named(self._fields(rungs), error_body(answer)))

    def _step_down(self, rungs: dict[str, int], said: ErrorBody) -> bool:
        """Take the next form of the setting that a refusal names; False if it names none."""
        for field in _named(self._fields(rungs), said):
            if field.startswith("max_") and _TOO_LARGE.search(said.words):
                return False
            for name, forms in self._ladders.items():
                rung = rungs[name]
                if field not in forms[rung]:
                    continue
                without = (at for at in range(rung + 1, len(forms)) if field not in forms[at])
                smaller = rung + 1 if rung + 1 < len(forms) else None
                # A list of alternatives may only be too long.
                at = smaller if field == "top_logprobs" else next(without, None)
                if at is not None:
                    rungs[name] = at
                    return True
        return False

    def _search(
        self, rungs: dict[str, int], body: Form, post: Callable[[Form], Answer]
    ) -> Answer | None:
        """Find what a refusal that names nothing means; None if the bare request is refused too.

        The cap of a reply is renamed here and never left out: without it a refusal of a chat that
        is too long would look like one of the cap.
        """
        wanted = dict(rungs)
        bare = {name: len(forms) - 1 for name, forms in self._ladders.items()}
        cap = self._ladders["max_tokens"]
        for at in range(wanted["max_tokens"], max(len(cap) - 1, 1)):
            taken = {**bare, "max_tokens": at}
            answer = post({**body, **self._fields(taken)})
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
                offered = {**taken, name: rung}
                again = post({**body, **self._fields(offered)})
                if again.status == 200:
                    taken, answer = offered, again
                    break
                if again.status not in REFUSED:  # it says nothing about the field
                    return again
        rungs.update(taken)
        return answer


def _named(fields: Iterable[str], said: ErrorBody) -> list[str]:
    """Return those of the fields that a refusal names, the likeliest first."""
    sent = list(fields)
    places = {
        field: match.start()
        for field in sent
        if (match := re.search(rf"(?<![\w-]){field}(?![\w-])", said.words, re.I))
    }
    found = sorted(places, key=lambda field: places[field])
    return [said.param, *found] if said.param in sent else found


def _told(forms: Sequence[Form], rung: int) -> str:
    wanted, taken = forms[0], forms[rung]
    gone = [field for field in wanted if field not in taken]
    new = [field for field in taken if field not in wanted]
    if new:
        return f"{' and '.join(gone)} sent as {' and '.join(new)}"
    if gone:
        return f"{' and '.join(gone)} left out"
    return f"{' and '.join(field for field in taken if taken[field] != wanted[field])} lowered"
