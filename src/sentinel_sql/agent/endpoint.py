"""HTTP to one OpenAI-compatible endpoint: tries, pauses, and what went wrong in one line.

Spoken directly: the official client spends 1.3 ms of processor time on each call, which one
Python process with 32 workers doesn't have.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic_core import from_json

from sentinel_sql.errors import EndpointError, MissingExtraError

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_ASKED_PAUSE = 120.0
"""Seconds between two tries: the first, the longest of ours, the longest an endpoint may ask for.
All ours; each pause doubles the last and is shortened at random by up to a quarter."""

_ERROR_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,40}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status and a body, or no status where nothing did.

    `late` says that nothing came in time; `seconds` is from the request to the last byte.
    """

    status: int | None
    body: bytes = b""
    headers: Mapping[str, str] | None = None
    late: bool = False
    seconds: float = 0.0

    @property
    def worth_another_try(self) -> bool:
        """Whether the same request may fare better later."""
        return self.status is None or self.status in (408, 409, 429) or self.status >= 500

    def parsed(self) -> Any:
        """Return the body's JSON.

        Raises:
            ValueError: the body is no JSON.
        """
        try:
            return from_json(self.body)
        except ValueError:
            # The quick parser refuses half a surrogate pair, as tokens cut inside a character are.
            return json.loads(self.body)


class Endpoint:
    """An endpoint, by any number of threads at once. Nothing but `base_url` is ever called.

    Redirects aren't followed; a proxy of the environment (HTTPS_PROXY and the like) is used.

    Args:
        base_url: address of the API, usually ending in `/v1`.
        api_key: the key; None takes the environment's OPENAI_API_KEY, or sends "none".
        timeout: seconds that one try may take in all, from request to last byte.
        retries: further tries after the first, ≥ 0.

    Raises:
        MissingExtraError: the `agent` extra isn't installed.
        EndpointError: `base_url` is no http(s) address.
    """

    def __init__(self, *, base_url: str, api_key: str | None, timeout: float, retries: int) -> None:
        try:
            import httpx2
        except ImportError as error:
            raise MissingExtraError(
                "calling a model needs the agent extra: pip install 'sentinel-sql[agent]'"
            ) from error
        try:
            parts = urlsplit(base_url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname)
            self._base = httpx2.URL(base_url.rstrip("/") + "/")
        except (ValueError, httpx2.InvalidURL):
            usable = False
        if not usable:
            raise EndpointError(
                f"{base_url!r} is no base URL; give one such as http://127.0.0.1:8000/v1",
                for_every_call=True,
            )
        # Without name and password, if it has any: this one is shown.
        self.url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        self._timeout = timeout
        self._retries = retries
        key = api_key or os.environ.get("OPENAI_API_KEY") or "none"
        self._client = httpx2.Client(
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0)),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=256),
            follow_redirects=False,
        )
        self._addresses = {path: self._base.join(path) for path in ("chat/completions", "models")}

    def ask(
        self,
        method: Literal["GET", "POST"],
        path: Literal["chat/completions", "models"],
        data: bytes | None = None,
    ) -> Answer:
        """Send a request until it is answered for good, or the tries are used up."""
        for number in range(self._retries + 1):
            answer = self._once(method, path, data)
            if number == self._retries or not answer.worth_another_try:
                break
            pause = _pause(answer.headers or {}, number)
            if pause is None:
                break
            time.sleep(pause)
        return answer

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _once(self, method: str, path: str, data: bytes | None) -> Answer:
        import httpx2

        started = time.monotonic()
        parts: list[bytes] = []
        try:
            with self._client.stream(method, self._addresses[path], content=data) as response:
                for part in response.iter_bytes():
                    parts.append(part)
                    # The client's own limit is on the wait for each part: one may trickle.
                    if time.monotonic() - started > self._timeout:
                        return Answer(None, late=True)
        except httpx2.TimeoutException as error:
            return Answer(None, late=not isinstance(error, httpx2.ConnectTimeout))
        except (httpx2.TransportError, httpx2.DecodingError):
            return Answer(None)
        return Answer(
            response.status_code,
            body=b"".join(parts),
            headers=response.headers,
            seconds=time.monotonic() - started,
        )

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
        if status is None and answer.late:
            return EndpointError(
                f"{self.url}: no answer within {self._timeout:g} s in {tries}; allow more time "
                "with --timeout, or use fewer workers"
            )
        if status is None:
            return EndpointError(
                f"{self.url}: no connection in {tries}; start the endpoint, or correct --base-url",
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
