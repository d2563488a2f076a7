from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sentinel_sql.agent.model import Message
from sentinel_sql.agent.openai import OpenAIModel
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import Asked, ReactAgent
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.decision.live_step import LiveStep
from sentinel_sql.errors import DatabaseError, EndpointError, InputError, QuestionsError, StoreError
from sentinel_sql.pipeline.ask_many import FAILURES_IN_A_ROW
from sentinel_sql.pipeline.collect import Progress, collect
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, Script, ScriptedEndpoint, ScriptedModel, tiny_database
from sentinel_sql.trajectory.record import AgentInfo, Step
from sentinel_sql.trajectory.store import TrajectoryStore, read_trajectories

SCRIPT = ["SQL: SELECT 1", "FINAL_SQL: SELECT COUNT(*) FROM patients"]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.open(tiny_database(tmp_path / "tiny.sqlite"), clock=CLOCK) as opened:
        yield opened


def agent(database: SqliteDatabase, script: Script, latency: float = 0.0) -> ReactAgent:
    return ReactAgent(
        model=ScriptedModel(script, latency=latency),
        database=database,
        prompt=Prompt.build(database.schema, database.clock),
    )


def questions(count: int) -> list[Question]:
    return [Question(id=f"q{n}", text=f"question {n}", answerable=True) for n in range(count)]


def question_in(messages: Sequence[Message]) -> str:
    """The question of a chat: the last one, as examples stand before it."""
    texts = [message["content"] for message in messages]
    return [text for text in texts if text.startswith("QUESTION:")][-1]


def failing(fails: Callable[[str], bool], *, for_every_call: bool = False) -> Script:
    """A script that fails for some questions, told by the question's text."""

    def reply(messages: Sequence[Message]) -> str:
        if fails(question_in(messages).rpartition(" ")[2]):
            raise EndpointError("the endpoint fails", for_every_call=for_every_call)
        return "FINAL: null"

    return reply


def stored(store: Path) -> list[str]:
    return [run.question.id for run in read_trajectories(store)]


def test_all_questions_are_run_once_and_counted(database: SqliteDatabase, tmp_path: Path) -> None:
    seen: list[Progress] = []
    summary = collect(
        questions(12),
        agent(database, SCRIPT),
        database,
        store=tmp_path / "s",
        workers=5,
        on_progress=seen.append,
    )
    assert sorted(stored(tmp_path / "s")) == sorted(one.id for one in questions(12))
    assert (summary.asked, summary.done, summary.already_there) == (12, 12, 0)
    assert (summary.failed, summary.gaps, summary.interrupted) == ({}, (), False)
    assert summary.steps == 24
    assert summary.completion_tokens == 12 * (3 + 5)
    assert summary.prompt_tokens > 0
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert seen[-1].done == 12
    assert seen[-1].seconds_left == 0
    assert seen[5].rate > 0


def test_one_worker_keeps_the_order_of_the_questions(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    collect(questions(9), agent(database, SCRIPT), database, store=tmp_path / "s", workers=1)
    assert stored(tmp_path / "s") == [one.id for one in questions(9)]


def test_a_collection_goes_on_where_it_stopped(database: SqliteDatabase, tmp_path: Path) -> None:
    asked: list[str] = []

    def listen(messages: Sequence[Message]) -> str:
        asked.append(question_in(messages))
        return "FINAL: null"

    for limit, done, already in ((4, 4, 0), (3, 3, 4), (None, 3, 7), (None, 0, 10)):
        summary = collect(
            questions(10), agent(database, listen), database, store=tmp_path / "s", limit=limit
        )
        assert (summary.done, summary.already_there) == (done, already)
        assert len(summary.gaps) == 10 - done - already
    assert len(asked) == len(set(asked)) == 10


def test_runs_overlap_as_far_as_there_are_workers(database: SqliteDatabase, tmp_path: Path) -> None:
    under_way = most = 0
    lock = threading.Lock()
    meeting = threading.Barrier(3, timeout=60)

    def listen(_: Sequence[Message]) -> str:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        meeting.wait()
        with lock:
            under_way -= 1
        return "FINAL: null"

    collect(questions(12), agent(database, listen), database, store=tmp_path / "s", workers=3)
    assert most == 3


def test_one_failing_question_does_not_stop_the_rest_even_if_it_is_the_first(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    script = failing(lambda number: number in ("0", "5"))
    summary = collect(
        questions(8), agent(database, script), database, store=tmp_path / "s", workers=1
    )
    assert (summary.done, summary.failed) == (6, {"the endpoint fails": 2})
    assert summary.gaps == ("q0", "q5")
    again = collect(
        questions(8), agent(database, SCRIPT), database, store=tmp_path / "s", workers=1
    )
    assert (again.done, again.already_there, again.gaps) == (2, 6, ())


def test_an_endpoint_that_no_call_can_use_ends_it_at_first_contact(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    calls: list[str] = []
    script = failing(lambda number: calls.append(number) is None, for_every_call=True)
    with pytest.raises(EndpointError, match="the endpoint fails") as caught:
        collect(questions(50), agent(database, script), database, store=tmp_path / "s", workers=2)
    assert caught.value.for_every_call
    assert len(calls) < 10
    assert stored(tmp_path / "s") == []


def test_an_endpoint_that_goes_away_ends_it_after_some_failures_and_keeps_what_is_done(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    script = failing(lambda number: int(number) >= 7, for_every_call=True)
    with pytest.raises(EndpointError, match="7 new runs are kept"):
        collect(questions(90), agent(database, script), database, store=tmp_path / "s", workers=1)
    assert stored(tmp_path / "s") == [f"q{number}" for number in range(7)]


def test_failures_with_runs_between_them_do_not_end_it(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    script = failing(lambda number: int(number) % 5 != 0)
    summary = collect(
        questions(40), agent(database, script), database, store=tmp_path / "s", workers=1
    )
    assert summary.done == 8
    assert sum(summary.failed.values()) == 32 > FAILURES_IN_A_ROW


@pytest.mark.parametrize("error", [DatabaseError("gone"), ValueError("a defect")])
def test_what_is_not_the_endpoints_doing_ends_it_and_keeps_what_is_done(
    database: SqliteDatabase, tmp_path: Path, error: Exception
) -> None:
    def reply(messages: Sequence[Message]) -> str:
        if question_in(messages).endswith(" 3"):
            raise error
        return "FINAL: null"

    with pytest.raises(type(error), match=str(error)):
        collect(questions(9), agent(database, reply), database, store=tmp_path / "s", workers=1)
    assert stored(tmp_path / "s")[:3] == ["q0", "q1", "q2"]
    with TrajectoryStore.open(tmp_path / "s") as free_again:
        assert "q3" not in free_again.ids


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_it_with_a_summary_and_keeps_what_is_done(
    database: SqliteDatabase, tmp_path: Path, number: signal.Signals
) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done >= 3:
            os.kill(os.getpid(), number)
            time.sleep(1)  # the signal arrives here

    before = signal.getsignal(signal.SIGTERM)
    started = time.monotonic()
    summary = collect(
        questions(500),
        agent(database, SCRIPT, latency=0.02),
        database,
        store=tmp_path / "s",
        workers=2,
        on_progress=interrupt,
    )
    assert summary.interrupted
    assert time.monotonic() - started < 20
    assert 3 <= len(stored(tmp_path / "s")) < 500
    assert len(summary.gaps) == 500 - len(stored(tmp_path / "s"))
    assert signal.getsignal(signal.SIGTERM) is before
    left = collect(
        questions(20), agent(database, SCRIPT), database, store=tmp_path / "s", workers=2
    )
    assert left.already_there >= 3
    assert left.gaps == ()


def test_a_call_that_hangs_is_not_waited_for(
    database: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sentinel_sql.pipeline.ask_many.GRACE", 0.2)
    free = threading.Event()

    def hang(messages: Sequence[Message]) -> str:
        if not question_in(messages).endswith(" 0"):
            free.wait(30)
        return "FINAL: null"

    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    started = time.monotonic()
    summary = collect(
        questions(3),
        agent(database, hang),
        database,
        store=tmp_path / "s",
        workers=2,
        on_progress=interrupt,
    )
    free.set()
    assert summary.interrupted
    assert time.monotonic() - started < 10
    assert stored(tmp_path / "s") == ["q0"]


def test_a_question_given_twice_is_refused_before_anything_runs(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    twice = [*questions(3), questions(2)[1]]
    with pytest.raises(QuestionsError, match="two questions have the id q1"):
        collect(twice, agent(database, SCRIPT), database, store=tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_other_questions_under_the_ids_of_a_store_are_refused(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    collect(questions(2), agent(database, SCRIPT), database, store=tmp_path / "s")
    other = Question(id="q1", text="another question", answerable=True)
    with pytest.raises(StoreError, match="other questions under 1 of these ids, such as q1"):
        collect([questions(1)[0], other], agent(database, SCRIPT), database, store=tmp_path / "s")
    again = collect(questions(3), agent(database, SCRIPT), database, store=tmp_path / "s")
    assert (again.already_there, again.done) == (2, 1)


def test_another_agents_store_is_refused(database: SqliteDatabase, tmp_path: Path) -> None:
    collect(questions(1), agent(database, SCRIPT), database, store=tmp_path / "s")
    other = ReactAgent(
        model=ScriptedModel(SCRIPT, name="other"),
        database=database,
        prompt=Prompt.build(database.schema, database.clock),
    )
    with pytest.raises(StoreError, match=r"scripted.*other"):
        collect(questions(2), other, database, store=tmp_path / "s")
    assert stored(tmp_path / "s") == ["q0"]


@pytest.mark.parametrize("step", [LiveStep(sql="SELECT 1", final=True), "SELECT 1", None, {}])
def test_an_agent_that_yields_no_steps_of_a_record_is_told_what_to_do(
    step: Any, database: SqliteDatabase, tmp_path: Path
) -> None:
    class Mine:
        info = AgentInfo(name="mine")

        def steps(self, question: Asked) -> Iterator[Step]:
            yield step

    with pytest.raises(InputError, match="import_runs") as told:
        collect(questions(2), Mine(), database, store=tmp_path / "store")
    assert type(step).__name__ in str(told.value)


def test_nothing_to_do_is_done_at_once(database: SqliteDatabase, tmp_path: Path) -> None:
    summary = collect([], agent(database, SCRIPT), database, store=tmp_path / "s")
    assert (summary.asked, summary.done, summary.gaps) == (0, 0, ())


def test_over_http_runs_are_collected_through_passing_faults(
    database: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sentinel_sql.agent.endpoint.FIRST_PAUSE", 0.01)
    with (
        ScriptedEndpoint(SCRIPT, fault=lambda n, _: 503 if n % 4 == 1 else None) as endpoint,
        OpenAIModel(base_url=endpoint.url, model="m") as model,
    ):
        reacting = ReactAgent(
            model=model,
            database=database,
            prompt=Prompt.build(database.schema, database.clock),
        )
        summary = collect(questions(20), reacting, database, store=tmp_path / "s", workers=4)
    assert (summary.done, summary.failed) == (20, {})
    for run in read_trajectories(tmp_path / "s"):
        assert run.outcome.kind == "answered"
        assert all(step.telemetry is not None for step in run.steps)


def test_cut_replies_and_impossible_telemetry_are_counted(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    def fault(number: int, _: object) -> bytes | None:
        choice: dict[str, object] = {"message": {"content": "FINAL: null"}}
        if number == 0:
            choice["finish_reason"] = "length"
        if number == 1:
            choice["logprobs"] = {"content": [{"logprob": 13}]}
        return json.dumps({"choices": [choice]}).encode()

    with (
        ScriptedEndpoint(["x"], fault=fault) as endpoint,
        OpenAIModel(base_url=endpoint.url, model="m") as model,
    ):
        cut = ReactAgent(
            model=model, database=database, prompt=Prompt.build(database.schema, database.clock)
        )
        summary = collect(questions(2), cut, database, store=tmp_path / "s", workers=1)
    assert summary.notes == {"cut-by-length": 1, "telemetry-unread": 1}
    assert summary.steps == 3


def test_replies_that_can_not_be_read_are_failed_runs_that_nothing_learns_from(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    empty = json.dumps({"choices": [{"message": {"content": None}}]}).encode()
    with (
        ScriptedEndpoint(["x"], fault=lambda *_: empty) as endpoint,
        OpenAIModel(base_url=endpoint.url, model="m") as model,
    ):
        mute = ReactAgent(
            model=model, database=database, prompt=Prompt.build(database.schema, database.clock)
        )
        summary = collect(questions(3), mute, database, store=tmp_path / "s", workers=1)
    assert (summary.done, sum(summary.failed.values())) == (0, 3)
    assert "without any text" in next(iter(summary.failed))
