"""A chat model behind any OpenAI-compatible endpoint: vLLM, Ollama, llama.cpp, OpenAI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from pydantic_core import to_json

from sentinel_sql.agent.completion import UnreadableError, read_completion
from sentinel_sql.agent.endpoint import Endpoint
from sentinel_sql.agent.http_calls import Answer
from sentinel_sql.agent.model import Message, Reply
from sentinel_sql.agent.request_fields import Form, RequestFields
from sentinel_sql.agent.telemetry import TOP
from sentinel_sql.arguments import checked
from sentinel_sql.errors import EndpointError


class OpenAIModel:
    """A model of an OpenAI-compatible endpoint; any number of threads may share one.

    Calls are tried again if that can help: no connection, no answer in time, status 408, 409, 425,
    429 and 5xx. The pauses double and vary at random, or follow the endpoint's Retry-After. Each
    field that the endpoint refuses (temperature, seed, stop, log-probabilities, the name of the
    length limit) is left out or renamed; `adapted` lists them.

    Args:
        base_url: address of the API, usually ending in `/v1`; nothing else is ever called.
        model: the model's name at the endpoint.
        api_key: the key; None takes the environment's OPENAI_API_KEY, or sends "none".
        temperature: sampling temperature, ≥ 0; 0 in the paper.
        max_tokens: length limit of a reply, so that an endless reply is cut.
        seed: sampling seed, or None to send none.
        stop: texts at which a reply is cut, so that the model can't invent a result.
        timeout: most seconds of one try, from request to last byte.
        retries: further tries after the first, ≥ 0.
        top: number of alternatives to request for each token; endpoints grant at most 20.

    Raises:
        EndpointError: `base_url` is no http(s) address.
        InputError: the timeout is out of range.
    """

    @checked
    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        temperature: float = 0.0,
        max_tokens: int = 512,
        seed: int | None = 0,
        stop: Sequence[str] = ("\nRESULT:",),
        timeout: float = 120.0,
        retries: int = 4,
        top: int = TOP,
    ) -> None:
        self._endpoint = Endpoint(
            base_url=base_url, api_key=api_key, timeout=timeout, retries=retries
        )
        self._model = model
        self._temperature = temperature
        self._max_tokens = max_tokens
        alternatives = sorted({top, min(top, TOP)}, reverse=True)
        ladders: dict[str, list[Form]] = {
            "logprobs": [
                *({"logprobs": True, "top_logprobs": number} for number in alternatives),
                {"logprobs": True},
                {},
            ],
            "stop": [{"stop": list(stop)}, {}] if stop else [{}],
            "seed": [{"seed": seed}, {}] if seed is not None else [{}],
            "temperature": [{"temperature": temperature}, {}],
            "max_tokens": [{"max_tokens": max_tokens}, {"max_completion_tokens": max_tokens}, {}],
            "stream": [{"stream": False}, {}],
        }
        self._fields = RequestFields(ladders)

    @property
    def name(self) -> str:
        """The model's name in trajectories."""
        return self._model

    @property
    def temperature(self) -> float | None:
        """Sampling temperature in trajectories."""
        return self._temperature

    @property
    def adapted(self) -> tuple[str, ...]:
        """The refused fields and their changes, such as `temperature left out`."""
        return self._fields.adapted

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a chat; see `ChatModel.complete`."""
        body = {"model": self._model, "messages": list(messages)}
        answer = self._fields.ask(body, self._post)
        answered = answer.status == 200 or (
            answer.status in range(200, 300) and answer.body.strip()
        )
        if not answered:
            left_out = f"; {', '.join(self.adapted)}" if self.adapted else ""
            raise self._endpoint.refusal(answer, model=self._model, left_out=left_out)
        try:
            return read_completion(answer, cap=self._max_tokens)
        except UnreadableError as error:
            raise EndpointError(f"{self._endpoint.url}: {error}") from None
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise self._endpoint.nonsense() from error

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, body: Form) -> Answer:
        return self._endpoint.ask("POST", "chat/completions", to_json(body))


def list_models(
    base_url: str, *, api_key: str | None = None, timeout: float = 10.0
) -> tuple[str, ...]:
    """Return the names of the models that an endpoint serves.

    Raises:
        EndpointError: the endpoint is down, refuses, or isn't OpenAI-compatible.
    """
    endpoint = Endpoint(base_url=base_url, api_key=api_key, timeout=timeout, retries=0)
    try:
        answer = endpoint.ask("GET", "models")
        if answer.status != 200:
            raise endpoint.refusal(answer)
        try:
            return tuple(str(model["id"]) for model in answer.parsed()["data"])
        except (ValueError, KeyError, TypeError) as error:
            raise endpoint.nonsense() from error
    finally:
        endpoint.close()
