"""A chat model behind any OpenAI-compatible endpoint: vLLM, Ollama, llama.cpp, OpenAI."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from pydantic_core import from_json

from sentinel_sql.agent.model import Message, Reply
from sentinel_sql.agent.telemetry import TOP, read_tokens
from sentinel_sql.errors import EndpointError, MissingExtraError

if TYPE_CHECKING:
    import httpx2
    import openai

_ERROR_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,40}")


class OpenAIModel:
    """A model of an OpenAI-compatible endpoint. Nothing but `base_url` is ever called.

    Failed calls are retried with jittered, doubling pauses (or as long as the endpoint's
    Retry-After asks, up to two minutes) where a second try can help: no connection, no answer
    in time, status 408, 409, 429 and 5xx. Log-probabilities are asked for until the endpoint
    refuses a request that asks for them and grants the same one without.

    Args:
        base_url: address of the API, usually ending in `/v1`.
        model: the model's name at the endpoint.
        api_key: the key; None takes the environment's OPENAI_API_KEY, or sends "none".
        temperature: sampling temperature, ≥ 0; 0 in the paper.
        max_tokens: cap of one reply, so that a model that never ends is cut.
        seed: sampling seed, or None to send none.
        timeout: seconds that one call may take in all, from request to last byte.
        retries: further tries after the first, ≥ 0.

    Raises:
        MissingExtraError: the `agent` extra isn't installed.
        EndpointError: `base_url` is no http(s) address.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        temperature: float = 0.0,
        max_tokens: int = 512,
        seed: int | None = 0,
        timeout: float = 120.0,
        retries: int = 4,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EndpointError(
                f"{base_url!r} is no base URL; give one such as http://127.0.0.1:8000/v1",
                for_every_call=True,
            )
        try:
            import openai
        except ImportError as error:
            raise MissingExtraError(
                "running an agent needs the openai client: pip install 'sentinel-sql[agent]'"
            ) from error
        self.url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        self._model = model
        self._timeout = timeout
        self._retries = retries
        self._temperature = temperature
        self._settings: dict[str, Any] = {
            "model": model,
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        if seed is not None:
            self._settings["seed"] = seed
        self._telemetry: dict[str, Any] = {"logprobs": True, "top_logprobs": TOP}
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or os.environ.get("OPENAI_API_KEY") or "none",
            max_retries=retries,
            http_client=_bounded_client(timeout),
        )

    @property
    def name(self) -> str:
        """The model's name, as it stands in a trajectory."""
        return self._model

    @property
    def temperature(self) -> float | None:
        """Sampling temperature, as it stands in a trajectory."""
        return self._temperature

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a chat; see `ChatModel.complete`."""
        import openai

        body = {**self._settings, "messages": list(messages)}
        asked = self._telemetry
        try:
            return self._read(self._post({**body, **asked}))
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if not asked:
                raise self._refusal(error) from error
        except openai.OpenAIError as error:
            raise self._refusal(error) from error
        try:
            reply = self._read(self._post(body))
        except openai.OpenAIError as error:
            raise self._refusal(error) from error
        self._telemetry = {}
        return reply

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, body: dict[str, Any]) -> httpx2.Response:
        import httpx2

        # The raw answer: the client's own models of it cost more than the whole call.
        return self._client.post("/chat/completions", cast_to=httpx2.Response, body=body)

    def _read(self, response: httpx2.Response) -> Reply:
        try:
            data = from_json(response.content)
            choice = data["choices"][0]
            text = choice["message"].get("content") or ""
            if not isinstance(text, str):
                raise TypeError("content isn't text")
            usage = data.get("usage") or {}
            prompt_tokens = _count(usage.get("prompt_tokens"))
            completion_tokens = _count(usage.get("completion_tokens"))
            content = (choice.get("logprobs") or {}).get("content") or ()
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise EndpointError(
                f"{self.url} answers something that is no chat completion; check that the base "
                "URL is that of an OpenAI-compatible API (it usually ends in /v1)",
                for_every_call=True,
            ) from error
        telemetry = read_tokens(content) if content else None
        return Reply(
            # Half a surrogate pair, from a reply cut inside a character, has no UTF-8 form.
            text=text.encode("utf-8", "replace").decode(),
            logprobs=telemetry[0] if telemetry else None,
            entropies=(telemetry[1] or None) if telemetry else None,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            seconds=response.elapsed.total_seconds(),
        )

    def _refusal(self, error: openai.OpenAIError) -> EndpointError:
        """Say in one line what went wrong; never quotes the answer, which may quote the prompt."""
        import openai

        tries = f"{self._retries + 1} tries" if self._retries else "1 try"
        if isinstance(error, openai.APITimeoutError):
            return EndpointError(
                f"{self.url}: no answer within {self._timeout:g} s in {tries}; allow more time "
                "with --timeout, or use fewer workers"
            )
        if isinstance(error, openai.APIConnectionError):
            return EndpointError(
                f"{self.url}: no connection in {tries}; start the endpoint, or correct --base-url",
                for_every_call=True,
            )
        if not isinstance(error, openai.APIStatusError):
            return EndpointError(
                f"{self.url}: the call failed ({type(error).__name__}); check --base-url"
            )
        status = error.status_code
        if status in (401, 403):
            return EndpointError(
                f"{self.url}: refuses the key (status {status}); set OPENAI_API_KEY to one that "
                "may use this model",
                for_every_call=True,
            )
        if status == 404:
            return EndpointError(
                f"{self.url}: knows no model {self._model!r}, or is no OpenAI-compatible API "
                "(status 404); `curl` the base URL followed by /models for its names",
                for_every_call=True,
            )
        if status == 429:
            return EndpointError(
                f"{self.url}: too many requests in {tries} (status 429); use fewer workers, or "
                "wait and run again"
            )
        if 300 <= status < 400:
            return EndpointError(
                f"{self.url}: sends elsewhere (status {status}), which is not followed; give the "
                "address that it names as --base-url",
                for_every_call=True,
            )
        code = str(error.code or "")
        why = f", {code}" if _ERROR_CODE.fullmatch(code) else ""
        if status >= 500:
            return EndpointError(
                f"{self.url}: fails in {tries} (status {status}{why}); see the endpoint's log"
            )
        return EndpointError(
            f"{self.url}: refuses the request (status {status}{why}); the run may be too long for "
            "the model's context: see the endpoint's log"
        )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _bounded_client(timeout: float) -> httpx2.Client:
    """Return an HTTP client whose calls end within `timeout` seconds, however they trickle."""
    import httpx2

    class Trickle(httpx2.SyncByteStream):
        """The bytes of an answer, until the time is over."""

        def __init__(self, inner: httpx2.SyncByteStream, until: float) -> None:
            self._inner = inner
            self._until = until

        def __iter__(self) -> Iterator[bytes]:
            for part in self._inner:
                if time.monotonic() > self._until:
                    raise httpx2.ReadTimeout("the answer takes too long")
                yield part

        def close(self) -> None:
            self._inner.close()

    class BoundedClient(httpx2.Client):
        """Bounds a whole call, where the client's own limit bounds the wait for each part."""

        def send(
            self, request: httpx2.Request, *, stream: bool = False, **settings: Any
        ) -> httpx2.Response:
            started = time.monotonic()
            response = super().send(request, stream=True, **settings)
            if isinstance(response.stream, httpx2.SyncByteStream):
                response.stream = Trickle(response.stream, started + timeout)
            if not stream:
                try:
                    response.read()
                except BaseException:
                    response.close()
                    raise
                response.elapsed = timedelta(seconds=time.monotonic() - started)
            return response

    return BoundedClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0)),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=256),
        follow_redirects=False,
    )
