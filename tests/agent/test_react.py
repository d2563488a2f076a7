from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sentinel_sql.agent.model import CutBy, Message, Reply
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import REMINDER, ReactAgent
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import EndpointError
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, Script, ScriptedModel, tiny_database
from sentinel_sql.trajectory.codec import decode, encode
from sentinel_sql.trajectory.record import AskedQuestion, Trajectory

QUESTION = Question(id="q1", text="How many patients are there?", answerable=True)
COUNT = "SELECT COUNT(*) FROM patients"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.open(tiny_database(tmp_path / "tiny.sqlite"), clock=CLOCK) as opened:
        yield opened


def agent(database: SqliteDatabase, script: Script, **settings: bool | int) -> ReactAgent:
    return ReactAgent(
        model=ScriptedModel(script),
        database=database,
        prompt=Prompt.build(database.schema, database.clock),
        **settings,  # type: ignore[arg-type]
    )


def kinds(trajectory: Trajectory) -> list[tuple[str, str]]:
    return [(step.action, step.observation.kind) for step in trajectory.steps]


def test_a_run_looks_answers_and_is_recorded_whole(database: SqliteDatabase) -> None:
    script = ["THOUGHT: look\nSQL: SELECT gender FROM patients", f"FINAL_SQL: {COUNT}"]
    reacting = agent(database, script)
    run = reacting.run(QUESTION)
    assert run.question == AskedQuestion(id="q1", text=QUESTION.text, database="tiny", clock=CLOCK)
    assert run.agent == reacting.info
    assert run.outcome.kind == "answered"
    assert run.outcome.final_sql == COUNT
    look, final = run.steps
    assert (look.index, look.thought, look.action) == (1, "look", "sql")
    assert look.observation.text == "3 rows x 1 cols; sample [['f'], ['m'], ['f']]"
    assert (look.observation.rows, look.observation.columns) == (3, 1)
    assert look.reply == script[0]
    assert final.observation.text == "1 rows x 1 cols; sample [['3']]"
    assert final.usage is not None
    assert final.usage.completion_tokens == 5
    assert final.telemetry is not None
    assert len(final.telemetry.logprobs) == len(final.telemetry.entropies) == 5
    assert final.seconds is not None
    assert final.seconds.sql is not None


def test_an_abstention_ends_the_run(database: SqliteDatabase) -> None:
    run = agent(database, ["THOUGHT: no such column\nFINAL: null"]).run(QUESTION)
    assert run.outcome.kind == "abstained"
    assert kinds(run) == [("final_null", "none")]


def test_without_commitment_the_run_ends_at_the_cap(database: SqliteDatabase) -> None:
    run = agent(database, ["SQL: SELECT 1"], max_steps=3).run(QUESTION)
    assert run.outcome.kind == "cap"
    assert len(run.steps) == 3


@pytest.mark.parametrize(("cut_by", "void"), [(None, True), ("length", False)])
def test_reasoning_without_an_action_voids_the_run_unless_it_was_cut(
    database: SqliteDatabase, cut_by: CutBy | None, void: bool
) -> None:
    class Thinker(ScriptedModel):
        def complete(self, messages: Sequence[Message]) -> Reply:
            return Reply(text="I should count them.", reasoning=True, cut_by=cut_by)

    reacting = dataclasses.replace(agent(database, [""]), model=Thinker([""]))
    if void:
        with pytest.raises(EndpointError, match="reasoning and no action"):
            reacting.run(QUESTION)
    else:
        assert {step.notes for step in reacting.run(QUESTION).steps} == {("cut-by-length",)}


def test_an_invalid_reply_is_a_step_and_answered_with_a_reminder(database: SqliteDatabase) -> None:
    run = agent(database, ["I would count them.", f"FINAL_SQL: {COUNT}"]).run(QUESTION)
    assert kinds(run) == [("invalid", "reminder"), ("final_sql", "rows")]
    assert run.steps[0].observation.text == REMINDER


def test_an_erring_final_query_is_no_commitment_unless_switched(database: SqliteDatabase) -> None:
    script = ["FINAL_SQL: SELECT nothing FROM nowhere", f"FINAL_SQL: {COUNT}"]
    run = agent(database, script).run(QUESTION)
    assert kinds(run) == [("final_sql", "error"), ("final_sql", "rows")]
    assert run.outcome.final_sql == COUNT
    switched = agent(database, script, commit_on_error=True).run(QUESTION)
    assert kinds(switched) == [("final_sql", "error")]
    assert switched.outcome.kind == "answered"


def test_a_query_that_would_change_data_is_refused_and_the_run_goes_on(
    database: SqliteDatabase,
) -> None:
    run = agent(database, ["SQL: DELETE FROM patients", f"FINAL_SQL: {COUNT}"]).run(QUESTION)
    assert kinds(run) == [("sql", "refused"), ("final_sql", "rows")]
    assert run.steps[1].observation.text == "1 rows x 1 cols; sample [['3']]"


def test_each_chat_begins_with_the_last_one_so_that_prompts_can_be_cached(
    database: SqliteDatabase,
) -> None:
    chats: list[list[Message]] = []

    def listen(messages: list[Message]) -> str:
        chats.append(list(messages))
        return ["SQL: SELECT 1", "well…", "SQL: SELECT 1", f"FINAL_SQL: {COUNT}"][len(chats) - 1]

    agent(database, listen).run(QUESTION)  # type: ignore[arg-type]
    for earlier, later in itertools.pairwise(chats):
        assert later[: len(earlier)] == earlier
        assert [message["role"] for message in later[len(earlier) :]] == ["assistant", "user"]
    assert chats[0][-1]["content"] == "QUESTION: How many patients are there?"
    assert "You know this result" in chats[3][-1]["content"]
    assert "You know this result" not in chats[1][-1]["content"]


def test_what_stands_before_a_question_is_the_same_for_all(database: SqliteDatabase) -> None:
    beginnings = []

    def listen(messages: list[Message]) -> str:
        beginnings.append(messages[:-1])
        return "FINAL: null"

    reacting = agent(database, listen)  # type: ignore[arg-type]
    for text in ("How many?", "Who?"):
        reacting.run(AskedQuestion(id=text, text=text))
    assert beginnings == [reacting.prompt.messages] * 2


def test_invented_results_are_not_fed_back(database: SqliteDatabase) -> None:
    chats: list[list[Message]] = []

    def listen(messages: list[Message]) -> str:
        chats.append(list(messages))
        if len(chats) == 1:
            return "THOUGHT: a\nSQL: SELECT 1\nRESULT: 99 rows\nFINAL_SQL: SELECT 99"
        return "FINAL: null"

    agent(database, listen).run(QUESTION)  # type: ignore[arg-type]
    assert chats[1][-2]["content"] == "THOUGHT: a\nSQL: SELECT 1"


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        ("SELECT gender FROM admissions", "gender is a column of patients."),
        ("SELECT a.drug FROM admissions AS a", "drug is a column of prescriptions."),
        ("SELECT shoe FROM patients", "nothing has shoe."),
        ("SELECT 1 FROM nowhere", "the tables are patients, admissions, prescriptions."),
        ("SELECT FROM WHERE", "use the tables and columns listed above"),
        ("SELECT 1 FROM patients WHERE gender = 'x'", "Look the name up by one shorter word."),
    ],
)
def test_a_result_that_leads_nowhere_comes_with_a_way_on(
    database: SqliteDatabase, sql: str, advice: str
) -> None:
    heard: list[str] = []

    def listen(messages: list[Message]) -> str:
        heard.append(messages[-1]["content"])
        return [f"SQL: {sql}", "FINAL: null"][len(heard) - 1]

    run = agent(database, listen).run(QUESTION)  # type: ignore[arg-type]
    shown, _, hint = heard[1].partition("\n")
    assert shown == f"RESULT: {run.steps[0].observation.text}"  # the record holds no hint
    assert advice in hint


def test_the_last_turn_is_announced(database: SqliteDatabase) -> None:
    heard: list[str] = []

    def listen(messages: list[Message]) -> str:
        heard.append(messages[-1]["content"])
        return "SQL: SELECT 1"

    agent(database, listen, max_steps=3).run(QUESTION)  # type: ignore[arg-type]
    assert ["last turn" in one for one in heard] == [False, False, True]


def test_steps_come_one_by_one_and_no_model_is_called_before_it_is_asked_for(
    database: SqliteDatabase,
) -> None:
    calls: list[int] = []

    def listen(messages: list[Message]) -> str:
        calls.append(len(messages))
        return "SQL: SELECT 1"

    steps = agent(database, listen).steps(QUESTION)  # type: ignore[arg-type]
    assert calls == []
    next(steps)
    assert len(calls) == 1


def test_a_model_that_is_gone_voids_the_run(database: SqliteDatabase) -> None:
    def gone(_: object) -> str:
        raise EndpointError("gone")

    with pytest.raises(EndpointError):
        agent(database, gone).run(QUESTION)


def test_agents_differ_by_model_prompt_cap_and_setting(database: SqliteDatabase) -> None:
    one = agent(database, ["x"])
    others = [
        agent(database, ["x"], max_steps=4),
        agent(database, ["x"], commit_on_error=True),
        ReactAgent(model=ScriptedModel(["x"], name="other"), database=database, prompt=one.prompt),
        ReactAgent(
            model=one.model,
            database=database,
            prompt=Prompt.build(database.schema, database.clock, name="plain"),
        ),
    ]
    assert len({one.info.fingerprint, *(other.info.fingerprint for other in others)}) == 5


def test_without_telemetry_there_is_none(database: SqliteDatabase) -> None:
    model = ScriptedModel([f"FINAL_SQL: {COUNT}"], logprobs=False)
    prompt = Prompt.build(database.schema, database.clock)
    run = ReactAgent(model=model, database=database, prompt=prompt).run(QUESTION)
    assert run.steps[0].telemetry is None


class CutModel(ScriptedModel):
    """Its first reply is cut."""

    def complete(self, messages: Sequence[Message]) -> Reply:
        first = messages[-1]["content"].startswith("QUESTION:")
        reply = super().complete(messages)
        return dataclasses.replace(reply, cut_by="length") if first else reply


@pytest.mark.parametrize("reply", [f"FINAL_SQL: {COUNT}", "FINAL: null", f"SQL: {COUNT}"])
def test_a_cut_reply_commits_to_nothing_and_its_step_says_so(
    database: SqliteDatabase, reply: str
) -> None:
    prompt = Prompt.build(database.schema, database.clock)
    model = CutModel([reply, f"FINAL_SQL: {COUNT}"])
    run = ReactAgent(model=model, database=database, prompt=prompt).run(QUESTION)
    assert kinds(run) == [("invalid", "reminder"), ("final_sql", "rows")]
    cut, whole = run.steps
    assert (cut.notes, cut.sql, cut.reply) == (("cut-by-length",), None, reply)
    assert "cut before its end" in (cut.observation.text or "")
    assert whole.notes == ()
    assert b"cut-by-length" in encode(run)
    assert decode(encode(run), where="here") == run
    assert "notes" not in run.steps[1].model_dump()
