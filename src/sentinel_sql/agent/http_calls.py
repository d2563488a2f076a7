"""HTTP calls to one address by httpx, with a deadline for each whole call.

httpx bounds each wait but not the whole call, so a server that sends a byte now and then is never
stopped. Here httpx's asynchronous client runs in one thread, where a whole call can be cancelled.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import ssl
import threading
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic_core import from_json

from sentinel_sql.address import shown_address
from sentinel_sql.errors import EndpointError

CONNECT_SECONDS = 10.0
"""Longest wait for a connection (our choice)."""

IDLE_SECONDS = 4.0
"""Seconds that an idle connection is kept (our choice), below the 5 s of many servers."""

CALLS_EACH = 4
"""Most calls of one client at a time. For each call a client looks at all its connections, which
takes longer than the call itself where there are dozens."""

LATE = "late"
"""Fault of a call without an answer in time."""

_NO_CLIENT = (ValueError, ImportError, httpx.InvalidURL)
"""What httpx raises for a proxy of the environment that it can't use."""

_RETRIED = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The answer to a request: a status and a body, or a fault and no status.

    Names of `headers` are in lower case. `seconds` is the time from the request to the last byte,
    and `tries` the number of requests until this answer.
    """

    status: int | None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None
    seconds: float = 0.0
    tries: int = 1

    @property
    def worth_another_try(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status is None or self.status in _RETRIED or self.status >= 500

    @property
    def text(self) -> str:
        """The body as text, decoded by the charset of the header, without a byte order mark."""
        named = re.search(r"charset=\"?([\w.-]+)", self.headers.get("content-type", ""), re.I)
        encoding = named[1] if named else "utf-8"
        if self.body.startswith((b"\xff\xfe", b"\xfe\xff")):
            encoding = "utf-16"
        try:
            text = self.body.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            text = self.body.decode("utf-8", "replace")
        return text.removeprefix("\ufeff")

    def parsed(self) -> Any:
        """Return the body's JSON.

        Raises:
            ValueError: the body is no JSON.
        """
        return parse_json(self.text)


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: the text is no JSON.
    """
    try:
        return from_json(text)
    except ValueError:
        # The fast parser refuses half a surrogate pair, which a token cut inside a character holds.
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


class HttpCalls:
    """Calls to one base URL over kept-alive connections; any number of threads may call.

    Proxies and certificates are those of the environment and the system. Redirects aren't
    followed, so that a key never reaches another host. HTTP/2 is offered where `h2` is installed.
    `url` is the base URL without password, query and fragment.

    Raises:
        EndpointError: `base_url` is no http(s) address, or the environment's proxy can't be used.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str]) -> None:
        address = _address(base_url)
        self.url = shown_address(base_url)
        self._prefix = address.path.rstrip("/")
        # Parsing an address takes as long as the rest of a call in httpx.
        self._url = lru_cache(
            lambda path: address.copy_with(path=f"{self._prefix}/{path}", userinfo=b"")
        )
        auth = (address.username, address.password) if address.userinfo else None
        self._hidden = _QueryFilter(address.host)
        # httpx logs whole addresses, and the query may hold a key.
        logging.getLogger("httpx").addFilter(self._hidden)
        self._open = partial(
            httpx.AsyncClient,
            headers={"Content-Type": "application/json", **headers},
            auth=auth,
            verify=ssl.create_default_context(),
            http2=find_spec("h2") is not None,
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=IDLE_SECONDS),
        )
        self._running: dict[httpx.AsyncClient, int] = {}
        try:
            self._running[self._open()] = 0
        except _NO_CLIENT:
            logging.getLogger("httpx").removeFilter(self._hidden)
            raise EndpointError(
                "a proxy of the environment can't be used; correct HTTP_PROXY, HTTPS_PROXY, "
                "ALL_PROXY and NO_PROXY (socks proxies need: pip install 'httpx[socks]')",
                for_every_call=True,
            ) from None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="sentinel-http", daemon=True
        )
        self._thread.start()
        self._closed = False

    def ask(self, method: str, path: str, data: bytes | None, seconds: float) -> Answer:
        """Send one request and read its whole answer within `seconds`. Never raises."""
        if self._closed:
            return Answer(status=None, fault="closed")
        answer: Answer = self._run(self._ask(method, path, data, seconds))
        return answer

    def close(self) -> None:
        """Close the connections; running calls end with a fault."""
        if self._closed:
            return
        self._closed = True
        logging.getLogger("httpx").removeFilter(self._hidden)
        self._run(self._hang_up())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Answer | None]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _hang_up(self) -> None:
        calls = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        for client in self._running:
            await client.aclose()

    async def _ask(self, method: str, path: str, data: bytes | None, seconds: float) -> Answer:
        started = time.monotonic()
        try:
            client = self._free_client()
        except _NO_CLIENT as error:  # the environment's proxy has changed since the first client
            return Answer(status=None, fault=_fault(error))
        self._running[client] += 1
        try:
            async with asyncio.timeout(seconds):
                response = await client.request(method, self._url(path), content=data)
        except httpx.ConnectTimeout:
            return Answer(status=None, fault="no answer to the connection")
        except TimeoutError:
            return Answer(status=None, fault=LATE)
        except asyncio.CancelledError:
            return Answer(status=None, fault="closed")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return Answer(status=None, fault=_fault(error))
        finally:
            self._running[client] -= 1
        return Answer(
            status=response.status_code,
            body=response.content,
            headers={name.lower(): value for name, value in response.headers.items()},
            seconds=time.monotonic() - started,
        )

    def _free_client(self) -> httpx.AsyncClient:
        for client, calls in self._running.items():
            if calls < CALLS_EACH:
                return client
        client = self._open()
        self._running[client] = 0
        return client


class _QueryFilter(logging.Filter):
    """Removes query and password from the addresses of one host in httpx's log."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self._host = host

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                shown_address(str(part))
                if isinstance(part, httpx.URL) and part.host == self._host
                else part
                for part in record.args
            )
        return True


def _fault(error: Exception) -> str:
    """Return the system's message or a proxy's status; for other errors only the type."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"certificate not accepted: {cause.verify_message}"
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ProxyError):
        return f"the proxy answers {' '.join(str(error).split())[:100]}"
    return type(error).__name__


def _address(base_url: str) -> httpx.URL:
    try:
        urlsplit(base_url)  # refuses an unclosed bracket, which httpx would escape
        address = httpx.URL(base_url)
        usable = address.scheme in ("http", "https") and bool(address.host) and address.port != 0
        usable = usable and (address.port or 1) < 65536
        usable = usable and base_url.isascii() and not any(map(str.isspace, base_url))
    except (httpx.InvalidURL, ValueError):
        usable = False
    if not usable:
        raise EndpointError(
            f"{shown_address(base_url)!r} is no base URL; give one such as http://127.0.0.1:8000/v1",
            for_every_call=True,
        )
    return address
