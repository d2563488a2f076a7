"""A chat model behind any OpenAI-compatible endpoint: vLLM, Ollama, llama.cpp, OpenAI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from pydantic_core import to_json

from sentinel_sql.agent.connections import Answer
from sentinel_sql.agent.endpoint import Endpoint
from sentinel_sql.agent.model import Message, Reply
from sentinel_sql.agent.telemetry import TOP, read_first, read_tokens


class OpenAIModel:
    """A model of an OpenAI-compatible endpoint; any number of threads may share one.

    Failed calls are tried again, after jittered, doubling pauses or as long as the endpoint's
    Retry-After asks, where that can help: no connection, no answer in time, status 408, 409, 429
    and 5xx. Log-probabilities, and stops, are asked for until the endpoint refuses a request with
    them and grants the same one without.

    Args:
        base_url: address of the API, usually ending in `/v1`; nothing else is ever called.
        model: the model's name at the endpoint.
        api_key: the key; None takes the environment's OPENAI_API_KEY, or sends "none".
        temperature: sampling temperature, ≥ 0; 0 in the paper.
        max_tokens: cap of one reply, so that a model that never ends is cut.
        seed: sampling seed, or None to send none.
        stop: texts at which a reply is cut, so that no model goes on to invent the result.
        timeout: seconds that one try may take in all, from request to last byte.
        retries: further tries after the first, ≥ 0.
        top: alternatives asked for each token; endpoints grant 20 at most.

    Raises:
        EndpointError: `base_url` is no http(s) address.
        InputError: the timeout is no time.
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
        self._settings: dict[str, Any] = {
            "model": model,
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        if seed is not None:
            self._settings["seed"] = seed
        telemetry: dict[str, Any] = {"logprobs": True, "top_logprobs": top}
        stopping: dict[str, Any] = {"stop": list(stop)}
        self._extras: list[dict[str, Any]] = (
            [{**telemetry, **stopping}, stopping, {}] if stop else [telemetry, {}]
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
        body = {**self._settings, "messages": list(messages)}
        answers: list[Answer] = []
        offered = self._extras
        for extras in offered:
            answers.append(self._post({**body, **extras}))
            if answers[-1].status not in (400, 422):
                break
        if answers[-1].status != 200:
            raise self._endpoint.refusal(answers[0], model=self._model)
        self._extras = offered[len(answers) - 1 :]
        return self._read(answers[-1])

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, body: dict[str, Any]) -> Answer:
        return self._endpoint.ask("POST", "chat/completions", to_json(body))

    def _read(self, answer: Answer) -> Reply:
        try:
            data = answer.parsed()
            choice = data["choices"][0]
            text = choice["message"].get("content") or ""
            if not isinstance(text, str):
                raise TypeError("content isn't text")
            usage = data.get("usage") or {}
            prompt_tokens = _count(usage.get("prompt_tokens"))
            completion_tokens = _count(usage.get("completion_tokens"))
            content = (choice.get("logprobs") or {}).get("content") or ()
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise self._endpoint.nonsense() from error
        telemetry = read_tokens(content) if content else None
        return Reply(
            # Half a surrogate pair, from a reply cut inside a character, has no UTF-8 form.
            text=text.encode("utf-8", "replace").decode(),
            logprobs=telemetry[0] if telemetry else None,
            entropies=(telemetry[1] or None) if telemetry else None,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            seconds=answer.seconds,
            first=read_first(content) if telemetry else (),
        )


def list_models(
    base_url: str, *, api_key: str | None = None, timeout: float = 10.0
) -> tuple[str, ...]:
    """Return the names of the models that an endpoint serves.

    Raises:
        EndpointError: the endpoint is down, refuses, or is none.
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


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= 2**53 else None
