"""Calls to one OpenAI-compatible endpoint: how often a call is tried, and how long it pauses."""

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
"""Seconds between two tries: the first, the longest of ours, the longest an endpoint may ask for.
All ours; each pause doubles the last and is shortened at random by up to a quarter."""

LONGEST_TIMEOUT = 1_000_000.0
"""Seconds that one try may be given; ours, some systems can't wait longer."""


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
        """Send a request until it is answered for good, or the tries are used up."""
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
        """Return the error for an answer that no OpenAI-compatible API gives."""
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
