"""The middleware against the real framework: a scripted model, real tools, a real database."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from scripted_chat import (
    COUNT,
    LONG,
    PARALLEL,
    SCRIPT,
    SECRET,
    Ward,
    exits,
    never_stops,
    refuses,
    said,
    withholds,
)

from sentinel_sql.decision.agent_loop import guarded
from sentinel_sql.decision.guard import Guard
from sentinel_sql.errors import InputError
from sentinel_sql.integrations.langchain import SentinelMiddleware
from sentinel_sql.monitor.bundle import save
from sentinel_sql.trajectory.recorder import Recorder
from sentinel_sql.trajectory.store import read_trajectories

PAGE = Path(__file__).parents[2] / "docs/how-to/guard-a-langchain-agent.md"
QUESTION = {"messages": [{"role": "user", "content": "how many drugs are there"}]}
SCRIPTS = (SCRIPT, LONG, PARALLEL)


class Scripted(BaseChatModel):
    """Says its script, by the number of its messages since the last question."""

    script: tuple[dict[str, Any], ...]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _turn(self, messages: Sequence[BaseMessage]) -> dict[str, Any]:
        asked = max(at for at, it in enumerate(messages) if it.type == "human")
        turn = sum(it.type == "ai" for it in messages[asked:])
        called = {
            call["id"] for it in messages if isinstance(it, AIMessage) for call in it.tool_calls
        }
        answered = {it.tool_call_id for it in messages if isinstance(it, ToolMessage)}
        assert called == answered, "a provider rejects calls without results"
        return self.script[turn]

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(**self._turn(messages)))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        turn = self._turn(messages)
        for word in turn["content"].split(" ") if turn["content"] else ():
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word + " "))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk
        if turn["tool_calls"]:
            yield ChatGenerationChunk(message=AIMessageChunk(content="", **_calls(turn)))


def _calls(turn: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": turn["tool_calls"]}


@pytest.fixture
def ward(tmp_path: Path) -> Ward:
    return Ward(tmp_path)


def agent(ward: Ward, script: Sequence[dict[str, Any]], guard: Guard | None, **how: Any) -> Any:
    @tool
    def run_sql(query: str) -> str:
        """Run a query."""
        return ward.query(query)

    @tool
    def think(query: str) -> str:
        """Think."""
        return "a thought"

    layers = [] if guard is None and not how else [SentinelMiddleware(guard, **how)]
    return create_agent(Scripted(script=tuple(script)), [run_sql, think], middleware=layers)


def call(made: Any) -> list[BaseMessage]:
    return list(made.invoke(QUESTION)["messages"])


def acall(made: Any) -> list[BaseMessage]:
    return list(asyncio.run(made.ainvoke(QUESTION))["messages"])


CALLS = (call, acall)


def bytes_of(messages: Sequence[BaseMessage]) -> list[str]:
    return [it.model_copy(update={"id": None}).model_dump_json() for it in messages]


def decision(message: BaseMessage) -> Any:
    return message.response_metadata.get("sentinel", {}).get("decision")


@pytest.mark.parametrize("run", CALLS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_guard_that_never_stops_changes_no_byte_of_the_messages(
    ward: Ward, run: Callable[..., Any], script: Any
) -> None:
    assert bytes_of(run(agent(ward, script, never_stops()))) == bytes_of(
        run(agent(ward, script, None))
    )


@pytest.mark.parametrize("run", CALLS)
def test_refused_question_runs_no_query(ward: Ward, run: Callable[..., Any]) -> None:
    messages = run(agent(ward, SCRIPT, refuses()))
    assert decision(messages[-1]) == "refuse"
    assert (len(messages), ward.ran) == (2, [])


@pytest.mark.parametrize("run", CALLS)
@pytest.mark.parametrize("script", [LONG, PARALLEL])
def test_exit_leaves_a_history_that_the_framework_takes_again(
    ward: Ward, run: Callable[..., Any], script: Any
) -> None:
    messages = run(agent(ward, script, exits()))
    assert decision(messages[-1]) == "exit"
    assert SECRET not in str(messages)
    further = {"messages": [*messages, {"role": "user", "content": "how many drugs now"}]}
    assert agent(ward, SCRIPT, never_stops()).invoke(further)["messages"][-1].content == SECRET


@pytest.mark.parametrize("run", CALLS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_withheld_answer_is_in_no_message(ward: Ward, run: Callable[..., Any], script: Any) -> None:
    messages = run(agent(ward, script, withholds()))
    assert decision(messages[-1]) == "withhold"
    assert "417 drugs" not in str(messages)


MODES = ("values", "updates", "messages", "debug", "tasks", "checkpoints", "custom")


def streamed(made: Any) -> str:
    shown = [str(list(made.stream(QUESTION, stream_mode=mode))) for mode in MODES]

    async def read() -> list[str]:
        found = [
            str([it async for it in made.astream(QUESTION, stream_mode=mode)]) for mode in MODES
        ]
        first = [it async for it in made.astream_events(QUESTION, version="v1")]
        second = [it async for it in made.astream_events(QUESTION, version="v2")]
        return [*found, str(first), str(second)]

    return "\n".join(shown + asyncio.run(read()))


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")
@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")
@pytest.mark.parametrize("script", SCRIPTS)
def test_no_stream_shows_a_word_of_a_withheld_answer(ward: Ward, script: Any) -> None:
    shown = streamed(agent(ward, script, withholds()))
    assert "There" not in shown
    assert "don't state what I found" in shown
    assert "There" in streamed(agent(ward, script, None))


def test_a_delivered_answer_streams_whole(ward: Ward) -> None:
    parts = list(agent(ward, SCRIPT, never_stops()).stream(QUESTION, stream_mode="messages"))
    assert [it.content for it, _ in parts if it.type.lower().startswith("ai") and it.content] == [
        SECRET
    ]


@pytest.mark.parametrize("run", CALLS)
@pytest.mark.parametrize("script", [*SCRIPTS, (said("", "x", tool="think"), *LONG)])
def test_recorded_runs_replay_to_the_live_decisions(
    ward: Ward, tmp_path: Path, run: Callable[..., Any], script: Any
) -> None:
    with Recorder(tmp_path / "runs", model="scripted") as recorder:
        run(agent(ward, script, None, recorder=recorder))
    (recorded,) = read_trajectories(tmp_path / "runs")
    assert recorded.outcome.final_sql == COUNT
    for guard in (never_stops(), withholds(), exits(), refuses()):
        with guard.session(recorded.question) as session:
            for _ in guarded(iter(recorded.steps), session):
                pass
        live = run(agent(ward, script, guard))[-1]
        assert session.answer is not None
        assert (decision(live) or "deliver") == session.answer.decision
        if decision(live):
            stated = live.response_metadata["sentinel"]
            assert (stated["reason"], stated["t"]) == (session.answer.reason, session.answer.t)


def test_steps_of_other_tools_are_recorded_without_sql(ward: Ward, tmp_path: Path) -> None:
    with Recorder(tmp_path / "runs") as recorder:
        call(agent(ward, (said("", "x", tool="think"), *SCRIPT), None, recorder=recorder))
    (recorded,) = read_trajectories(tmp_path / "runs")
    assert [step.action for step in recorded.steps] == ["sql", "final_sql"]
    assert recorded.steps[0].sql is None


def test_own_tool_is_read_by_the_argument_that_is_named(ward: Ward) -> None:
    checking = replace(never_stops(), check_text=True)
    wrong = (said("", COUNT), said("There are 5 drugs."))
    assert decision(call(agent(ward, wrong, checking, sql_tools={"run_sql": "query"}))[-1]) == (
        "withhold"
    )
    assert decision(call(agent(ward, SCRIPT, checking, sql_tools={"run_sql": "query"}))[-1]) is None


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("This can't be answered from the database.", True),
        ("Which ward do you mean?", True),
        ("You're welcome.", True),
        ("There are 12 drugs.", False),
        ("It was 2.5 mg.", False),
    ],
)
def test_answer_without_a_query_is_shown_only_if_it_states_nothing(
    ward: Ward, words: str, shown: bool
) -> None:
    assert (call(agent(ward, (said(words),), never_stops()))[-1].content == words) is shown


def test_a_second_question_of_a_chat_is_judged_by_itself(ward: Ward) -> None:
    first = call(agent(ward, SCRIPT, withholds()))
    further = {"messages": [*first, {"role": "user", "content": "and how many now"}]}
    assert agent(ward, SCRIPT, never_stops()).invoke(further)["messages"][-1].content == SECRET


def test_a_monitor_that_breaks_withholds_and_raises_nothing(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr(Guard, "session", broken)
    messages = call(agent(ward, SCRIPT, never_stops()))
    assert messages[-1].response_metadata["sentinel"]["reason"] == "monitor-error"


def test_a_store_that_cannot_be_written_stops_no_run(ward: Ward, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recorder = Recorder(tmp_path / "file" / "runs")
    assert call(agent(ward, SCRIPT, None, recorder=recorder))[-1].content == SECRET
    assert recorder.failed == 1


def test_a_tool_that_answers_the_user_itself_is_refused(ward: Ward) -> None:
    @tool(return_direct=True)
    def run_sql(query: str) -> str:
        """Run a query."""
        return ward.query(query)

    made = create_agent(
        Scripted(script=SCRIPT), [run_sql], middleware=[SentinelMiddleware(never_stops())]
    )
    with pytest.raises(InputError, match="run_sql has return_direct"):
        made.invoke(QUESTION)
    assert ward.ran == []


def test_snippet_of_the_page_guards_and_records(
    ward: Ward, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snippet = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    assert len([line for line in snippet.splitlines() if line.strip()]) <= 5
    monkeypatch.chdir(tmp_path)
    save(withholds().monitor, "monitor")

    @tool
    def run_sql(query: str) -> str:
        """Run a query."""
        return ward.query(query)

    names: dict[str, Any] = {"model": Scripted(script=SCRIPT), "tools": [run_sql]}
    exec(
        "from langchain.agents import create_agent\nimport sentinel_sql as sentinel\n" + snippet,
        names,
    )
    last = names["agent"].invoke(QUESTION)["messages"][-1]
    assert decision(last) in ("refuse", "exit", "withhold") or last.content == SECRET


def test_missing_extra_is_one_line_that_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "import sentinel_sql\n"
        "try: import sentinel_sql.integrations.langchain\n"
        "except sentinel_sql.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert "pip install" in done.stdout
    assert "[langchain]" in done.stdout


def test_package_imports_no_framework() -> None:
    code = "import sys, sentinel_sql; sentinel_sql.Guard; print('langchain_core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_toolkit_of_sqldatabase_is_read_by_its_usual_names(ward: Ward) -> None:
    toolkits = pytest.importorskip("langchain_community.agent_toolkits")
    utilities = pytest.importorskip("langchain_community.utilities")
    base = utilities.SQLDatabase.from_uri(f"sqlite:///{ward.path}")
    tools = toolkits.SQLDatabaseToolkit(db=base, llm=Scripted(script=SCRIPT)).get_tools()
    script = (said("", COUNT, tool="sql_db_query"), said(SECRET))
    for guard, shown in ((never_stops(), None), (withholds(), "withhold")):
        made = create_agent(Scripted(script=script), tools, middleware=[SentinelMiddleware(guard)])
        assert decision(made.invoke(QUESTION)["messages"][-1]) == shown


def test_arguments_that_make_no_sense_are_named() -> None:
    for given, word in (
        ({}, "recorder="),
        ({"guard": "monitor/"}, "guard="),
        ({"recorder": "runs/"}, "recorder="),
        ({"guard": never_stops(), "sql_tools": {"run_sql": ""}}, "sql_tools="),
        ({"guard": never_stops(), "texts": {"refused": "no"}}, "refused"),
    ):
        with pytest.raises(InputError, match=word):
            SentinelMiddleware(**given)
