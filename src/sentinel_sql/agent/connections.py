"""Kept-alive HTTP connections to one address, shared by threads, each call within a time limit.

Of the standard library: a call costs 0.25 ms of processor time here, 0.7 in httpx2 and 1.3 in the
official client, and 32 workers on one Python process have 1.5 ms for all that a step takes.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic_core import from_json

from sentinel_sql.errors import EndpointError

CONNECT_SECONDS = 10.0
"""Longest wait for a connection; ours."""

LATE = "late"
"""Fault of a call that had no answer in time."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status and a body, or no status and the fault that kept it away.

    Names of `headers` are in lower case; `seconds` is from the request to the last byte.
    """

    status: int | None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None
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
            try:
                return json.loads(self.body)
            except RecursionError as error:
                raise ValueError("nested too deeply") from error


class Connections:
    """Connections to one base URL; `url` is that address without a password in it.

    Raises:
        EndpointError: `base_url` is no http(s) address.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str]) -> None:
        parts = _address(base_url)
        self.url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        self._parts = parts
        self._headers = {"Content-Type": "application/json", **headers}
        if parts.username:
            self._headers["Authorization"] = _basic(parts)
        self._prefix = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        proxy = getproxies().get(parts.scheme)
        bypassed = proxy is None or proxy_bypass(parts.hostname or "")
        self._proxy = None if bypassed or proxy is None else urlsplit(proxy)
        if self._proxy is not None and self._tls is None:
            # A proxy for plain HTTP is told the whole address.
            self._prefix = f"http://{parts.netloc.rpartition('@')[2]}{self._prefix}"
            if self._proxy.username:
                self._headers["Proxy-Authorization"] = _basic(self._proxy)
        self._idle: deque[http.client.HTTPConnection] = deque()
        self._closed = False

    def ask(self, method: str, path: str, data: bytes | None, seconds: float) -> Answer:
        """Send one request and read its answer, within `seconds` in all. Never raises."""
        started = time.monotonic()
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._ask_on(self._new(seconds), method, path, data, started, seconds)
        answer = self._ask_on(connection, method, path, data, started, seconds)
        if answer.status is None and answer.fault != LATE:
            # The endpoint had closed an idle connection, which says nothing about a new one.
            return self._ask_on(self._new(seconds), method, path, data, started, seconds)
        return answer

    def close(self) -> None:
        """Close the connections; those in use are closed after their call."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _ask_on(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        data: bytes | None,
        started: float,
        seconds: float,
    ) -> Answer:
        until = started + seconds
        parts: list[bytes] = []
        try:
            if connection.sock is None:
                connection.connect()
            _limit(connection, until)
            sock = connection.sock
            # In one piece: http.client would send head and body one after the other.
            sock.sendall(self._head(method, path, len(data or b"")) + (data or b""))
            response = http.client.HTTPResponse(sock, method=method)
            response.begin()
            # A limit on each wait wouldn't end an answer that trickles.
            while part := response.read1(1 << 18):
                parts.append(part)
                _limit(connection, until)
            body = b"".join(parts)
            response.close()
            told = response.headers.get("Content-Length")
            # Nothing at all, of unknown length, is an answer cut off in its head.
            least = int(told) if told else (0 if response.chunked else 1)
            if len(body) < least:
                raise http.client.IncompleteRead(body)
        except TimeoutError:
            connected = connection.sock is not None
            connection.close()
            return Answer(None, fault=LATE if connected else "no answer to the connection")
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            return Answer(None, fault=_fault(error))
        if response.will_close or self._closed:
            connection.close()
        else:
            self._idle.append(connection)
        return Answer(
            response.status,
            body=body,
            headers={name.lower(): value for name, value in response.headers.items()},
            seconds=time.monotonic() - started,
        )

    def _head(self, method: str, path: str, length: int) -> bytes:
        query = f"?{self._parts.query}" if self._parts.query else ""
        lines = [
            f"{method} {self._prefix}/{path}{query} HTTP/1.1",
            f"Host: {self._parts.netloc.rpartition('@')[2]}",
            "Accept-Encoding: identity",
            f"Content-Length: {length}",
            *(f"{name}: {value}" for name, value in self._headers.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def _new(self, seconds: float) -> http.client.HTTPConnection:
        wait = min(seconds, CONNECT_SECONDS)
        to = self._proxy or self._parts
        host = to.hostname or ""
        if self._tls is None:
            return http.client.HTTPConnection(host, to.port or 80, timeout=wait)
        connection = http.client.HTTPSConnection(
            host, to.port or (443 if self._proxy is None else 80), timeout=wait, context=self._tls
        )
        if self._proxy is not None:
            headers = {"Proxy-Authorization": _basic(self._proxy)} if self._proxy.username else {}
            connection.set_tunnel(self._parts.hostname or "", self._parts.port or 443, headers)
        return connection


def _fault(error: Exception) -> str:
    """Return the system's words, or a refusing proxy's status; of other errors the kind only."""
    if not isinstance(error, OSError):
        return type(error).__name__
    return error.strerror or " ".join(str(error).split())[:100] or type(error).__name__


def _limit(connection: http.client.HTTPConnection, until: float) -> None:
    """Let the connection wait until then at most."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.sock.settimeout(left)


def _address(base_url: str) -> SplitResult:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        usable = usable and base_url.isascii() and not any(map(str.isspace, base_url))
    except ValueError:
        usable = False
    if not usable:
        raise EndpointError(
            f"{base_url!r} is no base URL; give one such as http://127.0.0.1:8000/v1",
            for_every_call=True,
        )
    return parts


def _basic(parts: SplitResult) -> str:
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
