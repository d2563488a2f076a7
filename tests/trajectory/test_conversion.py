from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from message_forms import FORM_NAMES, Told, Turn
from sentinel_sql.errors import InputError
from sentinel_sql.trajectory.formats import FORMS
from sentinel_sql.trajectory.formats.conversion import Conversion
from sentinel_sql.trajectory.formats.endings import ENDINGS
from sentinel_sql.trajectory.formats.logged_record import ReadRecord, read_record
from sentinel_sql.trajectory.formats.results import read_value
from sentinel_sql.trajectory.formats.tools import Tools, tools

COUNT = "SELECT COUNT(*) FROM patients"
FORM = pytest.mark.parametrize("form", FORM_NAMES)


def query(sql: str, result: str = "[(3,)]", said: str = "", **how: Any) -> Turn:
    return Turn(said=said, tool="run_sql", arguments={"query": sql}, result=result, **how)


def told(*turns: Turn, closing: str = "There are 3.", question: str = "How many?") -> Told:
    return Told(question=question, turns=turns, closing=closing)


def read(messages: list[Any], form: str = "auto", **how: Any) -> ReadRecord:
    return read_record(
        {"id": "q", "messages": messages}, form=form, model="m", fallback_id="x", **how
    )


def ending(messages: list[Any], **how: Any) -> tuple[str, str, str | None]:
    run = read(messages, **how).runs[0]
    outcome = run.trajectory.outcome
    assert outcome.kind == ENDINGS[run.rule].outcome
    return run.rule, outcome.kind, outcome.final_sql


words = st.text("abc SELECT'\"[]():;-\n0é", max_size=20).map(str.strip)
plain = st.sampled_from(["", "Let me look.", "I count them", "Now the other one."])
turns = st.builds(
    Turn,
    said=plain,
    tool=st.sampled_from(["run_sql", "list_tables", "sql_db_query_checker"]),
    arguments=st.dictionaries(
        st.sampled_from(["query", "k"]),
        st.sampled_from([COUNT, "PRAGMA table_info(patients)", "SELECT 1", "patients"]),
    ),
    result=st.sampled_from(["[(3,)]", "[]", "Error: no such table: x", "none", "a, b", ""]),
    id=st.sampled_from(["call_0", "call_1", "x"]),
)
stories = st.builds(
    Told,
    question=st.just("How many?"),
    turns=st.lists(turns, max_size=5).map(tuple),
    closing=st.sampled_from(["", "There are 3.", "I can't answer that.", "Which one?"]),
)


@given(stories)
def test_one_run_gives_equal_steps_in_each_of_the_five_forms(story: Told) -> None:
    found = [read(story.messages(form), form).runs for form in FORM_NAMES]
    assert all(len(runs) == 1 for runs in found)
    assert len({runs[0].rule for runs in found}) == 1
    for (run,) in found:
        assert run.trajectory.steps == found[0][0].trajectory.steps
        assert run.trajectory.outcome == found[0][0].trajectory.outcome


@given(stories, st.sampled_from(FORM_NAMES))
def test_steps_fed_one_by_one_only_grow_and_end_as_all_at_once(story: Told, form: str) -> None:
    conversion = Conversion(FORMS[form])
    seen: list[Any] = []
    for message in story.messages(form):
        conversion.feed(message)
        steps = conversion.runs[0].steps
        assert steps[: len(seen)] == seen
        assert all(step.action == "sql" for step in steps)
        seen = list(steps)
    conversion.finish()
    conversion.finish()
    whole = read(story.messages(form), form).runs[0].trajectory.steps
    assert tuple(conversion.runs[0].steps) == whole
    assert list(whole[: len(seen)]) == seen


@given(st.recursive(st.none() | st.integers() | words, lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["role", "type", "content", "tool_calls", "name", "id", "lc",
    "kwargs", "data", "input", "text", "output", "arguments", "function"]), inner | st.sampled_from(
    ["assistant", "ai", "tool", "tool_use", "function_call", "message"]), max_size=5)))  # fmt: skip
def test_any_item_is_taken_by_any_form(item: Any) -> None:
    for form in FORMS.values():
        conversion = Conversion(form, question="How many?")
        for fed in (item, object(), item):
            conversion.feed(fed)
        conversion.finish()
        assert conversion.runs[0].ending is not None


@FORM
def test_form_is_found_by_its_marks(form: str) -> None:
    (run,) = read(told(query(COUNT)).messages(form)).runs
    assert run.trajectory.agent.name == form
    assert run.trajectory.outcome.final_sql == COUNT


def test_items_of_two_forms_are_refused_by_both_names() -> None:
    mixed = [
        *told(query(COUNT)).messages("openai-messages"),
        *told(query(COUNT)).messages("anthropic"),
    ]
    with pytest.raises(InputError, match=r"openai-messages, anthropic.*--format"):
        read(mixed)


@FORM
@pytest.mark.parametrize("identity", ["call_0", "functions.run_sql:0", "", "0"])
def test_reused_call_ids_keep_each_result_with_its_call(form: str, identity: str) -> None:
    story = told(
        query("SELECT 1", "[(1,)]", id=identity),
        query("SELECT 2", "[(2,)]", id=identity),
        query("SELECT 3", "Error: gone", id=identity),
        query("SELECT 4", "[(4,)]", id=identity),
    )
    run = read(story.messages(form), form).runs[0].trajectory
    assert [step.observation.kind for step in run.steps] == ["rows", "rows", "error", "rows"]
    assert ["['1']" in (run.steps[0].observation.text or "")] == [True]
    assert ["['2']" in (run.steps[1].observation.text or "")] == [True]
    assert run.outcome.final_sql == "SELECT 4"


def chat(*calls: tuple[str, str], said: str | None = None) -> dict[str, Any]:
    listed = [
        {"id": i, "function": {"name": "run_sql", "arguments": json.dumps({"query": sql})}}
        for i, sql in calls
    ]
    return {"role": "assistant", "content": said, **({"tool_calls": listed} if listed else {})}


def back(identity: str | None, text: Any) -> dict[str, Any]:
    named = {"tool_call_id": identity} if identity is not None else {}
    return {"role": "tool", "content": text, **named}


USER = {"role": "user", "content": "How many?"}


@pytest.mark.parametrize(
    ("between", "texts"),
    [
        # A missing result isn't made up for by the next call of the same id.
        ([chat(("0", "SELECT 1")), back("0", "[(1,)]"), chat(("0", "SELECT 2")), chat(("1", COUNT)),
          back("1", "[(3,)]")], ["1", None, "3"]),
        ([chat(("a", "SELECT 1"), ("b", "SELECT 2")), back("b", "[(2,)]"), back("a", "[(1,)]")],
         ["1", "2"]),
        ([chat(("a", "SELECT 1"), ("a", "SELECT 2")), back("a", "[(1,)]"), back("a", "[(2,)]")],
         ["1", "2"]),
        ([chat(("a", "SELECT 1"), ("b", "SELECT 2")), back("b", "[(2,)]"),
          chat(("a", "SELECT 3")), back("a", "[(3,)]")], [None, "2", "3"]),
        ([chat(("a", "SELECT 1")), back(None, "[(1,)]"), chat(("b", "SELECT 2")),
          back(None, "[(2,)]")], ["1", "2"]),
    ],
)  # fmt: skip
def test_results_find_their_calls_in_any_order(between: list[Any], texts: list[str | None]) -> None:
    found = read([USER, *between, chat(said="Done.")])
    steps = found.runs[0].trajectory.steps[: len(texts)]
    shown = [step.observation.text for step in steps]
    assert shown == [text and f"1 rows x 1 cols; sample [['{text}']]" for text in texts]
    assert found.notes.get("a tool call without a result", 0) == texts.count(None)


@pytest.mark.parametrize(
    ("between", "why"),
    [
        ([chat(("0", "SELECT 1")), chat(("0", COUNT)), back("0", "[(3,)]")], "share an id"),
        ([chat(("0", "SELECT 1"), ("0", COUNT)), back("0", "[(3,)]")], "share an id"),
        ([chat(("fc_1", COUNT)), back("call_1", "[(3,)]")], "names a call that isn't there"),
        ([chat(("a", "SELECT 1"), ("b", COUNT)), back("a", "[(1,)]"), back("c", "[(3,)]")],
         "names a call that isn't there"),
    ],
)  # fmt: skip
def test_run_whose_results_fit_no_call_is_refused(between: list[Any], why: str) -> None:
    found = read([USER, *between, chat(said="There are 3.")])
    assert not found.runs
    (reason,) = found.refused
    assert why in reason


@pytest.mark.parametrize(
    "message",
    [
        {"toolInvocations": [{"toolName": "run_sql", "args": {"query": COUNT}, "result": 3}]},
        {"tool_plan": "I run it", "steps": [{"code": f"con.execute('{COUNT}')"}]},
        {"parsed": {"sql": COUNT}},
        {"intermediate_steps": f"SQL: {COUNT}"},
    ],
)
def test_sql_in_a_field_that_is_not_read_refuses_the_run(message: dict[str, Any]) -> None:
    found = read([USER, {**chat(said="There are 3."), **message}])
    assert not found.runs
    assert any("holds SQL in items that aren't read" in reason for reason in found.refused)
    assert any(kind.startswith("field ") for kind in found.unread)


def test_fields_of_thoughts_and_measures_refuse_no_run() -> None:
    beside = {"reasoning_content": f"I try {COUNT}", "usage": {"tokens": 9}, "audio": None}
    found = read([USER, {**chat(("a", COUNT)), **beside}, back("a", "[(3,)]"), chat(said="3")])
    assert (len(found.runs), dict(found.refused), dict(found.unread)) == (1, {}, {})


@pytest.mark.parametrize(
    ("result", "closing", "stated"),
    [
        ("[(9,)]", "There are nine, though I don't know their ages.", True),
        ("[(1234,)]", "There are 1,234; I cannot determine more.", True),
        ("[(3.14159,)]", "On average 3.14.", True),
        ("[(9,)]", "Es sind neun.", False),
        ("[(9,)]", "Dazu gibt es hier keine Angaben.", False),
        ("[(1, 'Ann'), (2, 'Bob')]", "There are 9 patients.", False),
        ("[]", "Nobody.", True),
    ],
)
def test_last_words_that_state_nothing_of_the_result_are_counted(
    result: str, closing: str, stated: bool
) -> None:
    found = read([USER, chat(("a", COUNT)), back("a", result), chat(said=closing)])
    assert found.runs[0].trajectory.outcome.kind == "answered"
    assert any("state no value" in note for note in found.notes) is not stated


@pytest.mark.parametrize(
    "closing",
    [
        *("I don't know.", "N/A", "None", "This question is out of scope."),
        *("There is no way to tell from these tables.", "Insufficient data to answer."),
        *("That isn't something this database tracks.", "We lack the information needed."),
    ],
)
def test_last_words_decline_in_many_ways(closing: str) -> None:
    found = read([USER, chat(("a", COUNT)), back("a", "[(9,)]"), chat(said=closing)])
    assert found.runs[0].rule == "declined-after-query"


@pytest.mark.parametrize(
    "name", ["FinalAnswer", "finalAnswer", "final-answer", "mcp__x__Final_Answer", "finish"]
)
def test_a_final_tool_is_known_in_each_spelling(name: str) -> None:
    final = {"id": "z", "function": {"name": name, "arguments": '{"answer": "9"}'}}
    handed = {"role": "assistant", "tool_calls": [final]}
    found = read([USER, chat(("a", COUNT)), back("a", "[(9,)]"), handed])
    assert found.runs[0].rule == "final-tool"


def test_result_without_a_call_is_counted() -> None:
    found = read([USER, chat(("a", COUNT)), back("a", "[(3,)]"), back("z", "[(9,)]"), chat()])
    assert found.notes["a tool result without its call: left out"] == 1


@FORM
@pytest.mark.parametrize(
    ("closing", "rule"),
    [
        ("There are 3.", "closing-words"),
        ("No patients were found.", "closing-words"),
        ("None of them got heparin.", "closing-words"),
        ("I'm sorry, this database holds nothing about that.", "declined-after-query"),
        ("Unfortunately this question cannot be answered.", "declined-after-query"),
        ("I couldn't determine it from the tables.", "declined-after-query"),
        ("There is no information about blood groups.", "declined-after-query"),
        ("The database doesn't contain phone numbers.", "declined-after-query"),
        ("There's no column for phone numbers.", "declined-after-query"),
        ("I can't tell their ages, but there are 3 of them.", "closing-words"),
    ],
)
def test_words_that_decline_after_a_query_are_an_abstention(
    form: str, closing: str, rule: str
) -> None:
    found = ending(told(query(COUNT), closing=closing).messages(form), form=form)
    assert found[0] == rule


@pytest.mark.parametrize("result", ["[]", "[(0,)]", "[(None,)]", ""])
@pytest.mark.parametrize(
    "closing",
    [
        "No patients were found.",
        "There are no records for patient 7 in 2100.",
        "The prescriptions table does not contain any heparin.",
        "There is no data for that year.",
    ],
)
def test_words_that_nothing_was_found_are_an_answer_where_nothing_was(
    result: str, closing: str
) -> None:
    messages = told(query(COUNT, result), closing=closing).messages("anthropic")
    assert ending(messages) == ("closing-words", "answered", COUNT)


@FORM
@pytest.mark.parametrize(
    "sql",
    [
        "PRAGMA table_info(patients)",
        "pragma table_list;",
        "SELECT name FROM sqlite_master WHERE type = 'table'",
        'SELECT m.name FROM main."sqlite_schema" m',
        "SELECT name FROM pragma_table_info('patients')",
        "SELECT table_name FROM information_schema.tables",
        "WITH t AS (SELECT name FROM sqlite_master) SELECT * FROM t -- FROM patients",
        "SHOW TABLES",
        "DESCRIBE patients",
        "EXPLAIN QUERY PLAN SELECT * FROM patients",
        "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) p",
    ],
)
def test_catalog_query_is_never_the_answer(form: str, sql: str) -> None:
    alone = told(query(sql), closing="It has many tables.").messages(form)
    assert ending(alone, form=form) == ("catalog-alone", "abstained", None)
    after = told(query(COUNT), query(sql)).messages(form)
    assert ending(after, form=form) == ("closing-words", "answered", COUNT)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM patients WHERE note = 'FROM sqlite_master'",
        "SELECT 1",
        "WITH t AS (SELECT 1 FROM patients) SELECT * FROM t",
        "SELECT * FROM describe_me",
        "SELECT * FROM sqlite_master_copy",
    ],
)
def test_query_over_data_that_only_looks_like_catalog_is_an_answer(sql: str) -> None:
    assert ending(told(query(sql)).messages("anthropic"))[1:] == ("answered", sql)


@FORM
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"answer": "There are 3."}, ("final-tool", "answered", COUNT)),
        ({"answer": "This cannot be answered."}, ("declined-after-query", "abstained", None)),
        ({"answer": None}, ("final-tool-null", "abstained", None)),
        ({}, ("final-tool-null", "abstained", None)),
        ({"answer": "null"}, ("final-tool-null", "abstained", None)),
        ({"sql": COUNT + " ;"}, ("final-tool-query", "answered", COUNT)),
        ({"sql": "SELECT 1"}, ("final-tool-query", "answered", "SELECT 1")),
        ({"sql": "SELECT 9"}, ("final-tool-not-run", "cap", None)),
    ],
)
@pytest.mark.parametrize("tool", ["final_answer", "submit_answer", "hand_in"])
def test_final_tool_ends_the_run(
    form: str, tool: str, arguments: dict[str, Any], expected: tuple[str, str, str | None]
) -> None:
    last = Turn(said="", tool=tool, arguments=arguments, result="Submitted.")
    story = told(query("SELECT 1"), query(COUNT), last, closing="")
    found = ending(story.messages(form), form=form, tools=tools(final=("hand_in",)))
    assert found == expected


def test_final_query_is_one_step_and_a_final_tool_none() -> None:
    last = Turn(said="", tool="final_answer", arguments={"answer": "3"}, result="")
    for closing in (told(query(COUNT), last, closing=""), told(query(COUNT))):
        (run,) = read(closing.messages("openai-messages")).runs
        assert [step.action for step in run.trajectory.steps] == ["final_sql"]


@FORM
def test_run_without_last_words_is_unfinished(form: str) -> None:
    story = told(query(COUNT), closing="")
    assert ending(story.messages(form), form=form) == ("unfinished", "cap", None)


def two_questions(form: str, closing: str = "There are 3.") -> list[Any]:
    first = told(query("SELECT 1"), question="How many men?", closing=closing)
    second = told(query("SELECT 2"), question="How many women?")
    return first.messages(form) + second.messages(form)


@FORM
def test_second_question_is_a_run_of_its_own(form: str) -> None:
    found = read(two_questions(form), form)
    assert [
        (run.trajectory.question.id, run.trajectory.question.text, run.trajectory.outcome.final_sql)
        for run in found.runs
    ] == [("q", "How many men?", "SELECT 1"), ("q.2", "How many women?", "SELECT 2")]


@FORM
def test_question_after_a_refusal_is_a_run_of_its_own(form: str) -> None:
    runs = read(two_questions(form, "I can't answer that."), form).runs
    assert [run.trajectory.outcome.kind for run in runs] == ["abstained", "answered"]
    assert runs[1].trajectory.question.text == "How many women?"


@FORM
def test_user_who_speaks_in_the_middle_of_a_run_refuses_it(form: str) -> None:
    messages = two_questions(form, "")
    found = read(messages, form)
    assert found.runs == ()
    ((reason, count),) = found.refused.items()
    assert count == 2
    assert "`question`" in reason
    record = {"question": "How many men and women?", "messages": messages}
    (run,) = read_record(record, form=form, model="m", fallback_id="x").runs
    assert run.trajectory.question.text == "How many men and women?"
    assert run.trajectory.steps[1].thought == "USER: How many women?"


def test_reminder_beside_a_tool_result_is_no_question() -> None:
    messages = told(query(COUNT)).messages("anthropic")
    messages[2]["content"].append({"type": "text", "text": "3 steps are left."})
    found = read(messages)
    assert [run.rule for run in found.runs] == ["closing-words"]
    assert found.unread == {"text beside a tool result": 1}


def test_thanks_are_no_question_and_are_counted() -> None:
    thanks = told(closing="You're welcome!", question="Thanks!").messages("anthropic")
    found = read(told(query(COUNT)).messages("anthropic") + thanks)
    assert len(found.runs) == 1
    assert sum("later turn" in note for note in found.notes) == 1


def test_second_question_that_is_declined_without_a_query_is_a_run() -> None:
    asked = told(closing="The database has no column for that.", question="Their phones?")
    found = read(told(query(COUNT)).messages("anthropic") + asked.messages("anthropic"))
    assert [run.trajectory.outcome.kind for run in found.runs] == ["answered", "abstained"]


def test_answer_to_what_the_agent_asks_back_belongs_to_the_same_question() -> None:
    asked = told(closing="Which patient do you mean?").messages("langchain")
    said = told(query(COUNT), question="Patient 7").messages("langchain")
    (run,) = read(asked + said).runs
    assert run.trajectory.question.text == "How many?"
    assert run.trajectory.steps[0].thought == "Which patient do you mean?\nUSER: Patient 7"


@FORM
def test_item_of_another_form_that_holds_sql_refuses_the_run(form: str) -> None:
    for other in FORM_NAMES:
        story = told(query(COUNT), closing="Three of them.").messages(other)
        found = read(story, form)
        sql = [step.sql for run in found.runs for step in run.trajectory.steps]
        assert sql == [COUNT] or (not sql and found.refused), (form, other)


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"role": "critic", "content": "SELECT 1 FROM t"}, "critic"),
        ({"type": "sql_execution", "sql": "SELECT a FROM t"}, "sql_execution"),
        ({"role": "assistant", "content": [{"type": "code", "text": "SELECT a FROM t"}]}, "code"),
        ("SELECT a FROM t", "str"),
    ],
)
def test_items_that_are_not_understood_are_counted_by_kind(item: Any, kind: str) -> None:
    messages = told(query(COUNT)).messages("openai-messages")
    found = read([*messages[:1], item, *messages[1:]], "openai-messages")
    assert found.unread == {kind: 1}
    assert found.runs == ()
    assert any(kind in reason and "--format" in reason for reason in found.refused)


@pytest.mark.parametrize("block", ["thinking", "redacted_thinking", "image"])
def test_blocks_without_sql_are_counted_and_the_run_is_read(block: str) -> None:
    messages = told(query(COUNT)).messages("anthropic")
    messages[1]["content"].insert(0, {"type": block, "thinking": "SELECT a FROM t?"})
    if block == "image":
        messages[1]["content"][0] = {"type": "image", "source": {}}
    found = read(messages)
    assert found.unread == {block: 1}
    assert len(found.runs) == 1


@pytest.mark.parametrize(
    "words",
    [
        "```sql\nselect 1\n```",
        "FINAL_SQL: select count(*) from patients",
        "I ran SELECT a\nFROM t.",
        "select count(*) from patients",
    ],
)
def test_sql_in_words_alone_is_no_abstention(words: str) -> None:
    found = read([USER, {"role": "assistant", "content": words}])
    assert found.runs == ()
    assert any("hold SQL" in reason for reason in found.refused)
    beside = read([*told(query(COUNT), closing=words).messages("anthropic")])
    assert len(beside.runs) == 1


def test_tool_that_is_given_hidden_sql_is_named() -> None:
    code = {"code": "db.execute('SELECT a FROM t')"}
    messages = told(Turn(said="", tool="python", arguments=code, result="3")).messages("anthropic")
    (reason,) = read(messages).refused
    assert "--sql-tool python" in reason
    (run,) = read(messages, tools=tools(sql=("python:code",))).runs
    assert run.trajectory.outcome.final_sql == code["code"]


def test_tools_named_as_sql_tools_take_the_place_of_the_common_ones() -> None:
    one = Turn(said="", tool="mcp__db__ask", arguments={"q": "SELECT 7"}, result="[(7,)]")
    other = Turn(said="", tool="plan", arguments={"query": "SELECT 8"}, result="[(8,)]")
    (run,) = read(told(one, other).messages("langchain"), tools=tools(sql=("ask:q",))).runs
    assert [step.sql for step in run.trajectory.steps] == ["SELECT 7", None, "SELECT 7"]
    assert tools() == Tools()
    with pytest.raises(InputError, match="NAME"):
        tools(sql=(":q",))


@FORM
def test_checker_that_runs_nothing_gives_no_query(form: str) -> None:
    check = Turn(said="", tool="sql_db_query_checker", arguments={"query": COUNT}, result=COUNT)
    found = read(told(check, query(COUNT)).messages(form), form)
    assert [step.sql for step in found.runs[0].trajectory.steps] == [None, COUNT]
    assert found.notes["tool without SQL: sql_db_query_checker"] == 1


def test_langchain_objects_are_read_as_their_json() -> None:
    story = told(query(COUNT, said="Counting."), query("SELECT 2"))
    flat = []
    for message in story.messages("langchain"):
        fields = {**message, **(message.get("kwargs") or message.get("data") or {})}
        kind = {"constructor": "ai"}.get(fields["type"], fields["type"])
        flat.append(SimpleNamespace(**{**fields, "type": kind}))
    conversion = Conversion(FORMS["langchain"])
    for message in flat:
        conversion.feed(message)
    conversion.finish()
    whole = read(story.messages("langchain")).runs[0].trajectory.steps
    assert tuple(conversion.runs[0].steps) == whole


def test_old_langchain_calls_are_read_from_additional_fields() -> None:
    function = {"name": "run_sql", "arguments": json.dumps({"query": COUNT})}
    ai = {"content": "", "additional_kwargs": {"function_call": function}}
    messages = [
        {"type": "human", "content": "How many?"},
        {"type": "ai", "data": ai},
        {"type": "function", "data": {"content": "[(3,)]", "name": "run_sql"}},
        {"type": "ai", "data": {"content": "3"}},
    ]
    assert ending(messages) == ("closing-words", "answered", COUNT)


REACT = f"""Question: How many patients?
Thought: I should count.
Action: sql_db_query
Action Input: ```sql
{COUNT}
```
Observation: [(3,)]
Thought: I now know the final answer
Final Answer: There are 3 patients."""


@pytest.mark.parametrize("record", [REACT, {"id": "q", "text": REACT}, {"output": REACT}])
def test_react_text_is_read_whole(record: Any) -> None:
    (run,) = read_record(record, model="m", fallback_id="x").runs
    assert run.trajectory.question.text == "How many patients?"
    (step,) = run.trajectory.steps
    assert (step.action, step.sql, step.thought) == ("final_sql", COUNT, "I should count.")


@pytest.mark.parametrize(
    "action",
    [
        f"Action: sql_db_query[{COUNT}]",
        f"Action: run_sql\nAction Input: {COUNT}",
        f'Action: run_sql\nAction Input: "{COUNT}"',
        f'**Action:** run_sql\n**Action Input:** {{"query": "{COUNT}"}}',
        f'Action:\n```json\n{{"action": "run_sql", "action_input": "{COUNT}"}}\n```',
        f"Action 1: run_sql\nAction Input 1: {COUNT}\n",
    ],
)
def test_dialects_of_react_are_read(action: str) -> None:
    text = f"Thought: so\n{action}\nObservation: [(3,)]\nFinal Answer: 3"
    (run,) = read_record({"question": "q?", "text": text}, model="m", fallback_id="x").runs
    assert run.trajectory.outcome.final_sql == COUNT


def test_response_beside_its_request_is_read() -> None:
    question, *output = told(query(COUNT)).messages("openai-responses")
    record = {"input": question["content"], "output": output}
    (run,) = read_record(record, model="m", fallback_id="x").runs
    assert (run.trajectory.question.text, run.trajectory.outcome.final_sql) == ("How many?", COUNT)


@pytest.mark.parametrize(
    ("value", "kind", "rows"),
    [
        ([["failed"], ["none"]], "rows", 2),
        ([{"n": "Error: none"}], "rows", 1),
        ([], "empty", 0),
        ({"rows": []}, "empty", 0),
        ({"columns": ["n"], "rows": [["none"]]}, "rows", 1),
        ({"error": "no such table: t"}, "error", None),
        (3, "rows", 1),
        ("5 rows x 1 cols; sample [['a'], ['b']]", "rows", None),
        ([10**5000], "rows", 1),
    ],
)
def test_typed_results_are_taken_as_they_are(value: Any, kind: str, rows: int | None) -> None:
    observation = read_value(value)
    assert (observation.kind, observation.rows) == (kind, rows)


@pytest.mark.parametrize("result", ["boom", "[(3,)]", ""])
def test_result_that_the_form_marks_as_failed_is_an_error(result: str) -> None:
    messages = told(query(COUNT, result)).messages("anthropic")
    messages[2]["content"][0]["is_error"] = True
    assert ending(messages) == ("no-query-ran", "abstained", None)


@pytest.mark.parametrize(
    "hostile",
    [
        "/**/",
        "a",
        "a ",
        "(",
        "no information ",
        "] ",
        "SELECT ",
        "```",
        "Action: ",
        "error ",
        "-- x\n",
    ],
)
def test_time_to_read_grows_with_the_length_of_a_text(hostile: str) -> None:
    def seconds(length: int) -> float:
        text = hostile * (length // len(hostile))
        messages = told(query(f"SELECT 1 {text}", f"[({text}", said=text), closing=text)
        asked = [messages.messages(form) for form in FORM_NAMES]
        asked.append([{"role": "assistant", "content": f"Action: run_sql {text}b\nThought: x"}])
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            for form, items in zip([*FORM_NAMES, "react"], asked, strict=True):
                read(items, form)
            best = min(best, time.process_time() - started)
        return best

    assert seconds(32_000) < 100 * seconds(2_000)
