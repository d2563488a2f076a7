from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.agent.chat import Chat
from sentinel_sql.agent.model import Message
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, ScriptedModel, tiny_database
from sentinel_sql.trajectory.codec import decode, encode

REPLIES = (
    "THOUGHT: look\nSQL: SELECT gender FROM patients",
    "SQL: SELECT gender FROM patients",
    "SQL: SELECT nothing FROM patients",
    "THOUGHT: über\nFINAL_SQL: SELECT x FROM nowhere\nRESULT: 3 rows",
    "SQL: SELECT 1 WHERE 0",
    "I don't know what to do. " * 40,
    "",
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteDatabase]:
    file = tiny_database(tmp_path_factory.mktemp("chat") / "tiny.sqlite")
    with SqliteDatabase.open(file, clock=CLOCK) as opened:
        yield opened


@given(replies=st.lists(st.sampled_from(REPLIES), min_size=1, max_size=7))
def test_the_chat_of_a_recorded_run_is_the_one_that_the_model_was_asked_with(
    database: SqliteDatabase, replies: list[str]
) -> None:
    asked: list[list[Message]] = []

    def script(messages: Sequence[Message]) -> str:
        asked.append(list(messages))
        return replies[min(len(asked), len(replies)) - 1]

    agent = ReactAgent(
        model=ScriptedModel(script),
        database=database,
        prompt=Prompt.build(database.schema, CLOCK, notes="a note"),
    )
    run = agent.run(Question(id="q", text="how many patients?", answerable=True))
    stored = decode(encode(run), where="here")
    chat = Chat(
        agent.prompt, stored.question.text, schema=database.schema, max_steps=agent.max_steps
    )
    for step, messages in zip(stored.steps, asked, strict=True):
        assert chat.messages == messages
        chat.add(step)


def test_messages_once_had_don_t_grow_with_the_chat(database: SqliteDatabase) -> None:
    chat = Chat(Prompt.build(database.schema, CLOCK), "who?", schema=database.schema, max_steps=8)
    before = chat.messages
    before.append({"role": "user", "content": "aside"})
    assert len(chat.messages) == len(before) - 1
