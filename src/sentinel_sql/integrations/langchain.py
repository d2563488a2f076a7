"""Guards and records agents of LangChain 1.x and LangGraph: a middleware of `create_agent`.

    agent = create_agent(model, tools, middleware=[SentinelMiddleware(guard)])

A question is refused before the model is called. A run ends between two model calls, and no tool
call is left without its result. An answer is held back inside the model call, so that no stream
shows it first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sentinel_sql.decision.grounder import Grounder
from sentinel_sql.decision.guard import Guard
from sentinel_sql.errors import InputError
from sentinel_sql.installation import missing_extra
from sentinel_sql.integrations.watch import Stop, Watch, make_watch
from sentinel_sql.trajectory.recorder import Recorder

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
        hook_config,
    )
    from langchain_core.callbacks import BaseCallbackManager
    from langchain_core.messages import AIMessage
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.tracers._streaming import _StreamingCallbackHandler
except ImportError as error:
    raise missing_extra("guarded LangChain agents", "langchain") from error

UNSEEN = ("telemetry", "probes", "typed rows")
"""What this adapter can't see; monitors that need telemetry or probes don't judge its runs."""


class SentinelMiddleware(AgentMiddleware[Any, Any, Any]):
    """Guards the runs of an agent, records them, or both. Put it first in the list.

    A message that replaces an answer keeps its id, and `response_metadata["sentinel"]` holds the
    decision, its reason and the number of steps.
    """

    def __init__(
        self,
        guard: Guard | None = None,
        *,
        recorder: Recorder | None = None,
        sql_tools: Mapping[str, str] | None = None,
        texts: Mapping[str, str] | None = None,
        grounder: Grounder | None = None,
    ) -> None:
        """Make a middleware.

        Args:
            guard: judges the runs; None if they are only recorded.
            recorder: gets each run that ended on its own.
            sql_tools: name of each tool that runs SQL → its argument with the SQL; None for the
                common names, among them those of the `SQLDatabase` toolkit.
            texts: what the user reads instead of an answer, for `refuse`, `exit`, `withhold`.
            grounder: looks the question's words up in the database; see `Guard.session`.

        Raises:
            InputError: an argument is of a wrong type, or there is neither guard nor recorder.
        """
        super().__init__()
        self._watch: Watch = make_watch(
            "langchain",
            guard=guard,
            recorder=recorder,
            sql_tools=sql_tools,
            texts=texts,
            grounder=grounder,
        )

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Refuse the question."""
        return _jump(self._watch.stop(state["messages"]))

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """End the run, where each tool call has its result."""
        return _jump(self._watch.stop(state["messages"]))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model, and judge its message before anybody sees it."""
        self._require_verdicts(request)
        with self._silence():
            response = handler(request)
        return self._judge(request, response)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Do the same in asynchronous code; the judging runs in a thread."""
        self._require_verdicts(request)
        with self._silence():
            response = await handler(request)
        return await asyncio.to_thread(self._judge, request, response)

    def _judge(self, request: ModelRequest[Any], response: Any) -> Any:
        own = response.model_response if isinstance(response, ExtendedModelResponse) else response
        result = [own] if isinstance(own, AIMessage) else list(own.result)
        structured = None if isinstance(own, AIMessage) else own.structured_response
        said = next((it for it in reversed(result) if isinstance(it, AIMessage)), None)
        if said is None:
            return response
        chat = [*request.state["messages"], *result]
        if said.tool_calls and structured is None:
            stop = self._watch.stop(chat)
        else:
            stop = self._watch.end(chat)
        if stop is None:
            return response
        replaced: ModelResponse[Any] = ModelResponse(
            result=[_message(stop, message_id=said.id, name=said.name, usage=said.usage_metadata)]
        )
        return replaced

    def _require_verdicts(self, request: ModelRequest[Any]) -> None:
        """Refuse tools whose result reaches the user without a further message of the model."""
        for tool in request.tools if self._watch.guard is not None else ():
            if getattr(tool, "return_direct", False):
                name = getattr(tool, "name", "?")
                raise InputError(
                    f"the tool {name} has return_direct=True, so that its result reaches the user "
                    "before a verdict: leave that out for a guarded agent"
                )

    @contextmanager
    def _silence(self) -> Iterator[None]:
        """Take the streams off the model call: its tokens would be seen before the verdict."""
        config = var_child_runnable_config.get()
        if self._watch.guard is None or config is None:
            yield
            return
        token = var_child_runnable_config.set(
            {**config, "callbacks": _without_streams(config.get("callbacks"))}
        )
        try:
            yield
        finally:
            var_child_runnable_config.reset(token)


def _without_streams(callbacks: Any) -> Any:
    if isinstance(callbacks, BaseCallbackManager):
        quiet = callbacks.copy()
        quiet.handlers = _not_streaming(callbacks.handlers)
        quiet.inheritable_handlers = _not_streaming(callbacks.inheritable_handlers)
        return quiet
    return _not_streaming(callbacks) if isinstance(callbacks, list) else callbacks


def _not_streaming(handlers: Any) -> list[Any]:
    # The protocol is also met by look-alikes, so the bases are compared, as LangGraph does.
    return [one for one in handlers if _StreamingCallbackHandler not in type(one).__mro__]


def _jump(stop: Stop | None) -> dict[str, Any] | None:
    return None if stop is None else {"messages": [_message(stop)], "jump_to": "end"}


def _message(
    stop: Stop,
    *,
    message_id: str | None = None,
    name: str | None = None,
    usage: Any = None,
) -> AIMessage:
    return AIMessage(
        content=stop.text,
        id=message_id,
        name=name,
        usage_metadata=usage,
        response_metadata={"sentinel": stop.record},
    )
