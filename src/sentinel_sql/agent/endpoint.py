"""Calls to one OpenAI-compatible endpoint: tries, pauses, and what went wrong in one line."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Literal

from sentinel_sql.agent.connections import LATE, Answer, Connections
from sentinel_sql.errors import EndpointError, InputError

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_ASKED_PAUSE = 120.0
"""Seconds between two tries: the first, the longest of ours, the longest an endpoint may ask for.
All ours; each pause doubles the last and is shortened at random by up to a quarter."""

LONGEST_TIMEOUT = 1_000_000.0
"""Seconds that one try may be given; ours, some systems can't wait longer."""

_ERROR_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,40}")


class Endpoint:
    """An endpoint, by any number of threads at once. Nothing but `base_url` is ever called.

    Redirects aren't followed; a proxy of the environment (HTTPS_PROXY and the like) is used.

    Args:
        base_url: address of the API, usually ending in `/v1`.
        api_key: the key; None takes the environment's OPENAI_API_KEY, or sends "none".
        timeout: seconds that one try may take in all, from request to last byte.
        retries: further tries after the first, ≥ 0.

    Raises:
        EndpointError: `base_url` is no http(s) address, or the key no key.
        InputError: the timeout is no time.
    """

    def __init__(self, *, base_url: str, api_key: str | None, timeout: float, retries: int) -> None:
        key = (api_key or os.environ.get("OPENAI_API_KEY") or "").strip() or "none"
        if not (key.isascii() and key.isprintable()):
            raise EndpointError(
                "the API key holds characters that no key has; set OPENAI_API_KEY again",
                for_every_call=True,
            )
        if not 0 < timeout <= LONGEST_TIMEOUT:
            raise InputError(
                f"a time limit of {timeout:g} s can't be kept: give one above 0 and up to "
                f"{LONGEST_TIMEOUT:,.0f}"
            )
        self._connections = Connections(base_url, {"Authorization": f"Bearer {key}"})
        self.url = self._connections.url
        self._timeout = timeout
        self._retries = retries

    def ask(
        self,
        method: Literal["GET", "POST"],
        path: Literal["chat/completions", "models"],
        data: bytes | None = None,
    ) -> Answer:
        """Send a request until it is answered for good, or the tries are used up."""
        for number in range(self._retries + 1):
            answer = self._connections.ask(method, path, data, self._timeout)
            if number == self._retries or not answer.worth_another_try:
                break
            pause = _pause(answer.headers, number)
            if pause is None:
                break
            time.sleep(pause)
        return answer

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def nonsense(self) -> EndpointError:
        """Return the error for an answer that no OpenAI-compatible API gives."""
        return EndpointError(
            f"{self.url}: answers something that is not of an OpenAI-compatible API; check the "
            "base URL (it usually ends in /v1)",
            for_every_call=True,
        )

    def refusal(self, answer: Answer, *, model: str | None = None) -> EndpointError:
        """Say in one line why an answer is none; never quotes it, as it may quote the prompt."""
        tries = f"{self._retries + 1} tries" if self._retries else "1 try"
        status = answer.status
        if status is None and answer.fault == LATE:
            return EndpointError(
                f"{self.url}: no answer within {self._timeout:g} s in {tries}; allow more time "
                "with --timeout, or use fewer workers"
            )
        if status is None:
            return EndpointError(
                f"{self.url}: no connection in {tries} ({answer.fault}); start the endpoint, or "
                "correct --base-url",
                for_every_call=True,
            )
        if status in (401, 403):
            return EndpointError(
                f"{self.url}: refuses the key (status {status}); set OPENAI_API_KEY to one that "
                "may use this model",
                for_every_call=True,
            )
        if status == 404:
            unknown = f"knows no model {model!r}, or " if model else ""
            return EndpointError(
                f"{self.url}: {unknown}is no OpenAI-compatible API (status 404); `sentinel doctor "
                "--base-url` lists the models of one",
                for_every_call=True,
            )
        if status == 429:
            return EndpointError(
                f"{self.url}: too many requests in {tries} (status 429); use fewer workers, or "
                "wait and run again"
            )
        if status < 400:
            return EndpointError(
                f"{self.url}: sends elsewhere (status {status}), which is not followed; give the "
                "address that it names as --base-url",
                for_every_call=True,
            )
        why = _error_code(answer)
        if status >= 500:
            return EndpointError(
                f"{self.url}: fails in {tries} (status {status}{why}); see the endpoint's log"
            )
        return EndpointError(
            f"{self.url}: refuses the request (status {status}{why}); the run may be too long for "
            "the model's context: see the endpoint's log"
        )


def _pause(headers: Mapping[str, str], number: int) -> float | None:
    """Return the seconds until the next try, or None if the endpoint asks for too many."""
    asked = _asked_pause(headers.get("retry-after"))
    if asked is not None:
        return asked if asked <= LONGEST_ASKED_PAUSE else None
    longest: float = min(FIRST_PAUSE * 2.0**number, LONGEST_PAUSE)
    return longest * (1 - 0.25 * random.random())  # noqa: S311 (spreads load, hides nothing)


def _asked_pause(value: str | None) -> float | None:
    """Read a Retry-After header: seconds, or a date."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(seconds, 0.0) if seconds == seconds else None


def _error_code(answer: Answer) -> str:
    """Return `, code` where an error's body has one of plain letters."""
    try:
        error = answer.parsed()["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
    return f", {code}" if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""
