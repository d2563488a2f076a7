"""Errors for answers of an endpoint that can't be used, in one line with the remedy.

An endpoint's own message is read but never quoted, because it may quote the prompt or the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sentinel_sql.agent.http_calls import LATE, Answer
from sentinel_sql.errors import EndpointError

_ERROR_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,40}")
_NO_CREDIT_CODE = re.compile(r"insufficient_?(?:quota|balance|funds|credit)|billing|payment", re.I)
_NO_CREDIT = re.compile(
    r"insufficient (?:quota|balance|funds|credit)|credit balance|out of credits?|billing", re.I
)
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|prompt is too long|too many tokens"
    r"|exceeds? the (?:available|model'?s) context|input is too long|string_above_max_length",
    re.I,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorBody:
    """The body of an error: its code in plain letters, the field that it names, its message."""

    code: str = ""
    param: str = ""
    words: str = ""

    @property
    def no_credit(self) -> bool:
        """Whether the account has no credit, so that a further try can't help."""
        if self.code.upper() == "RESOURCE_EXHAUSTED":  # a limit for each minute
            return False
        return bool(_NO_CREDIT_CODE.search(self.code) or _NO_CREDIT.search(self.words))

    @property
    def too_long(self) -> bool:
        """Whether the chat doesn't fit the model's context."""
        return bool(_TOO_LONG.search(self.code) or _TOO_LONG.search(self.words))


def error_body(answer: Answer) -> ErrorBody:
    """Read an error's body in the spellings of OpenAI, vLLM, FastAPI and others. Never raises."""
    try:
        data: Any = answer.parsed()
    except ValueError:
        return ErrorBody(words=answer.text[:2000])
    if isinstance(data, list) and data:
        data = data[0]
    error = data.get("error", data) if isinstance(data, Mapping) else data
    if not isinstance(error, Mapping):
        return ErrorBody(words=str(error)[:2000])
    codes_given = [error.get(name) for name in ("code", "type", "status")]
    codes = [one for one in codes_given if isinstance(one, str) and _ERROR_CODE.fullmatch(one)]
    credit_code = next((one for one in codes if _NO_CREDIT_CODE.search(one)), None)
    param = error.get("param")
    words = [error.get(name) for name in ("message", "detail", "error", "msg")]
    return ErrorBody(
        code=credit_code or (codes[0] if codes else ""),
        param=param if isinstance(param, str) else "",
        words=" ".join(str(one) for one in words if one)[:2000],
    )


_MOVED = (301, 302, 303, 307, 308)

# Status → what is wrong and what to do, and whether every further call meets the same.
_REFUSALS: Mapping[int, tuple[str, bool]] = {
    401: ("refuses the key; set OPENAI_API_KEY to one that may use this model", True),
    402: ("the account has no credit left; top it up, or use another key or endpoint", True),
    403: ("refuses the key; set OPENAI_API_KEY to one that may use this model", True),
    405: ("is no OpenAI-compatible API; check the base URL (it usually ends in /v1)", True),
    407: ("the proxy asks for a user; put user and password into HTTP_PROXY or HTTPS_PROXY", True),
    408: ("waited too long for the request; use fewer workers", False),
    409: ("reports a conflict with another request; use fewer workers, or run again", False),
    410: ("serves this model no more; choose another --model", True),
    413: ("the request is too large for the server; shorten notes and examples", False),
    415: ("takes no JSON; check the base URL (it usually ends in /v1)", True),
    422: ("can't use the request as it is written; see the endpoint's log", False),
    425: ("isn't ready to take requests yet; wait and run again", False),
    429: ("too many requests; use fewer workers, or wait and run again", False),
    451: ("may not serve this request for legal reasons; use another endpoint", False),
    501: ("doesn't offer this kind of request; check the base URL and --model", True),
    502: ("the server behind the gateway fails; see that it runs, or wait and run again", False),
    503: ("is overloaded or still loading; wait, or use fewer workers", False),
    504: ("the gateway waited too long for the model; use fewer workers", False),
    511: ("the network asks for a login first; log in, then run again", True),
    529: ("is overloaded; wait, or use fewer workers", False),
}


def refusal(
    url: str, answer: Answer, *, timeout: float, model: str | None = None, left_out: str = ""
) -> EndpointError:
    """Return the error for an answer that can't be used.

    Args:
        url: the endpoint's address without secrets.
        answer: the last answer, with the number of tries.
        timeout: seconds of each try.
        model: the requested model, or None.
        left_out: text about fields that were already adapted.
    """
    tries = f"{answer.tries} tries" if answer.tries > 1 else "1 try"
    status = answer.status
    if status is None and answer.fault == LATE:
        return EndpointError(
            f"{url}: no answer within {timeout:g} s in {tries}; allow more time with --timeout, "
            "or use fewer workers"
        )
    if status is None:
        return EndpointError(
            f"{url}: no connection in {tries} ({answer.fault}); start the endpoint, or correct "
            "--base-url",
            for_every_call=True,
        )
    body = error_body(answer)
    details = f"status {status}, {body.code}" if body.code else f"status {status}"
    details += f", {tries}" if answer.tries > 1 else ""
    what, every = _what_is_wrong(status, body, model)
    return EndpointError(f"{url}: {what} ({details}){left_out}", for_every_call=every)


def _what_is_wrong(status: int, body: ErrorBody, model: str | None) -> tuple[str, bool]:
    if status >= 400 and body.no_credit:
        return _REFUSALS[402]
    if status == 404:
        unknown = f"knows no model {model!r}, or " if model else ""
        return (
            f"{unknown}is no OpenAI-compatible API; `sentinel doctor --base-url` lists the models "
            "of one"
        ), True
    if status in (400, 413, 422) and body.too_long:
        return (
            "the chat is too long for the model's context; shorten notes and examples, lower "
            "--max-tokens, or serve the model with a longer context"
        ), False
    if status in _REFUSALS:
        return _REFUSALS[status]
    if status in _MOVED:
        return (
            "sends elsewhere, which is not followed; give the address that it names as --base-url"
        ), True
    if status < 400:
        return (
            "answers without a chat completion; check the base URL (it usually ends in /v1)"
        ), True
    if status >= 500:
        return "fails; see the endpoint's log", False
    return "refuses the request; see the endpoint's log", False
