"""Calls to one OpenAI-compatible endpoint, with retries and pauses."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Literal

from sentinel_sql.agent.http_calls import Answer, HttpCalls
from sentinel_sql.agent.refusals import error_body, refusal
from sentinel_sql.errors import EndpointError, InputError

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_ASKED_PAUSE = 120.0
"""Seconds between two tries: the first, our longest, and the longest an endpoint may ask for.
All are our choices. Each pause doubles the last, and is shortened at random by up to a quarter."""

LONGEST_TIMEOUT = 1_000_000.0
"""Most seconds of one try (our choice); some systems can't wait longer."""


class Endpoint:
    """An endpoint, for any number of threads. It only ever calls `base_url`.

    Redirects aren't followed; a proxy of the environment (HTTPS_PROXY and the like) is used.

    Args:
        base_url: address of the API, usually ending in `/v1`.
        api_key: the key; None takes the environment's OPENAI_API_KEY, or sends "none".
        timeout: most seconds of one try, from request to last byte.
        retries: further tries after the first, ≥ 0.

    Raises:
        EndpointError: `base_url` is no http(s) address, or the key can't be a key.
        InputError: the timeout is out of range.
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
        self._calls = HttpCalls(base_url, {"Authorization": f"Bearer {key}"})
        self.url = self._calls.url
        self._timeout = timeout
        self._retries = retries

    def ask(
        self,
        method: Literal["GET", "POST"],
        path: Literal["chat/completions", "models"],
        data: bytes | None = None,
    ) -> Answer:
        """Send a request until it gets a final answer, or no tries are left."""
        for number in range(self._retries + 1):
            answer = self._calls.ask(method, path, data, self._timeout)
            if number == self._retries or not answer.worth_another_try:
                break
            if answer.status == 429 and error_body(answer).no_credit:
                break
            pause = _pause(answer.headers, number)
            if pause is None:
                break
            time.sleep(pause)
        return replace(answer, tries=number + 1)

    def close(self) -> None:
        """Close the connections."""
        self._calls.close()

    def nonsense(self) -> EndpointError:
        """Return the error for an answer that isn't of an OpenAI-compatible API."""
        return EndpointError(
            f"{self.url}: answers something that is not of an OpenAI-compatible API; check the "
            "base URL (it usually ends in /v1)",
            for_every_call=True,
        )

    def refusal(
        self, answer: Answer, *, model: str | None = None, left_out: str = ""
    ) -> EndpointError:
        """Return the error for an answer that can't be used; see `refusals.refusal`."""
        return refusal(self.url, answer, timeout=self._timeout, model=model, left_out=left_out)


def _pause(headers: Mapping[str, str], number: int) -> float | None:
    """Return the seconds until the next try, or None if the endpoint asks for too long a pause."""
    requested = _retry_after(headers.get("retry-after"))
    if requested is not None:
        return requested if requested <= LONGEST_ASKED_PAUSE else None
    longest: float = min(FIRST_PAUSE * 2.0**number, LONGEST_PAUSE)
    return longest * (1 - 0.25 * random.random())  # noqa: S311 (spreads load, hides nothing)


def _retry_after(value: str | None) -> float | None:
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
