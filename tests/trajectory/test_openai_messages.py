from __future__ import annotations

import copy
import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.errors import InputError
from sentinel_sql.trajectory.formats import AUTO, FORMS
from sentinel_sql.trajectory.formats.log import read_records
from sentinel_sql.trajectory.formats.logged_record import question_of, read_record
from sentinel_sql.trajectory.formats.results import read_result
from sentinel_sql.trajectory.record import Trajectory


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str | None, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def call(identity: str, name: str = "run", **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": identity, "type": "function", "function": function}


def result(identity: str, text: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": text}


@dataclass(frozen=True)
class Read:
    trajectory: Trajectory
    rule: str
    notes: dict[str, int]


def read(record: Any) -> Read:
    found = read_record(record, form="openai-messages", model="gpt", fallback_id="run-1")
    if not found.runs:
        raise InputError("; ".join(found.refused))
    first = found.runs[0]
    notes = {note: n for note, n in found.notes.items() if not note.startswith("tool without")}
    return Read(trajectory=first.trajectory, rule=first.rule, notes=notes)


def kinds(trajectory: Trajectory) -> list[tuple[str, str]]:
    return [(step.action, step.observation.kind) for step in trajectory.steps]


RUN = [
    {"role": "system", "content": "You are an agent."},
    user("How many got heparin?"),
    said(None, call("a", "list_tables")),
    result("a", "patients, prescriptions"),
    said("Let me count.", call("b", query="SELECT COUNT(*) FROM rx")),
    result(
        "b", "Error: (sqlite3.OperationalError) no such table: rx\n[SQL: SELECT]\n(Background…)"
    ),
    said(None, call("c", query="SELECT COUNT(*) FROM prescriptions;")),
    result("c", "[(3,)]"),
    said("Three patients got heparin."),
    user("Thanks!"),
]


def test_each_call_is_a_step_and_the_newest_query_that_ran_is_the_final_one() -> None:
    run = read(RUN).trajectory
    assert run.question.text == "How many got heparin?"
    assert kinds(run) == [("sql", "none"), ("sql", "error"), ("final_sql", "rows")]
    tables, wrong, final = run.steps
    assert (tables.sql, tables.thought, tables.reply) == (None, None, "CALL: list_tables {}")
    assert tables.observation.text == "patients, prescriptions"
    assert wrong.thought == "Let me count."
    assert wrong.observation.error == "no such table: rx"
    assert wrong.observation.text == "ERROR: no such table: rx"
    assert final.observation.text == "1 rows x 1 cols; sample [['3']]"
    assert (final.thought, final.reply) == (None, "Three patients got heparin.")
    assert final.sql == run.outcome.final_sql == "SELECT COUNT(*) FROM prescriptions;"
    assert run.outcome.kind == "answered"
    assert run.prefix(3).commitment == "answer"
    assert run.prefix(2).commitment is None


def test_what_the_user_says_later_in_one_task_is_not_seen_earlier() -> None:
    later = {"task_id": 1, "messages": [*RUN[:-1], user("Distinct ones, please."), *RUN[6:]]}
    run = read(later).trajectory
    assert run.question.text == "How many got heparin?"
    assert [step.action for step in run.steps] == ["sql", "sql", "sql", "final_sql"]
    assert run.steps[3].thought == "Three patients got heparin.\nUSER: Distinct ones, please."
    assert all("Distinct" not in (step.thought or "") for step in run.steps[:3])
    assert all("Thanks" not in (step.thought or "") for step in run.steps)


@pytest.mark.parametrize(("messages", "complete"), [(4, 0), (6, 1), (8, 2), (9, 3), (10, 3)])
def test_a_log_that_ends_early_has_the_same_complete_steps(messages: int, complete: int) -> None:
    early, whole = read(RUN[:messages]).trajectory.steps, read(RUN).trajectory.steps
    assert early[:complete] == whole[:complete]


@pytest.mark.parametrize(
    ("messages", "outcome", "notes"),
    [
        ([user("q?"), said("I can't tell; no such data.")], "abstained", []),
        ([user("q?")], "cap", []),
        (RUN[:-2], "cap", []),
        (RUN[:-3], "cap", ["a tool call without a result"]),
        (
            [*RUN[:6], said("I can't find it.")],
            "abstained",
            [],
        ),
    ],
)
def test_the_outcome_of_runs_that_deliver_nothing(
    messages: list[Any], outcome: str, notes: list[str]
) -> None:
    run = read(messages)
    assert run.trajectory.outcome.kind == outcome
    assert list(run.notes) == notes


def test_calls_side_by_side_are_steps_in_their_order() -> None:
    run = read(
        [
            user("q?"),
            said(None, call("a", query="SELECT 1"), call("b", query="SELECT 2")),
            result("b", "[(2,)]"),
            result("a", "[(1,)]"),
            said("two"),
        ]
    )
    assert [step.sql for step in run.trajectory.steps] == ["SELECT 1", "SELECT 2"]
    assert [step.observation.text for step in run.trajectory.steps[:2]] == [
        "1 rows x 1 cols; sample [['1']]",
        "1 rows x 1 cols; sample [['2']]",
    ]
    assert run.notes == {"calls side by side: taken as steps one after the other": 1}


def test_old_function_calls_and_content_in_parts_are_read() -> None:
    run = read(
        [
            user([{"type": "text", "text": "How"}, {"type": "image_url"}, {"text": "many?"}]),
            {
                "role": "assistant",
                "function_call": {"name": "f", "arguments": '{"sql":"SELECT 1"}'},
            },
            {"role": "function", "name": "f", "content": "[[1]]"},
            said("one"),
        ]
    )
    assert run.trajectory.question.text == "How\nmany?"
    assert kinds(run.trajectory) == [("final_sql", "rows")]


@pytest.mark.parametrize(
    ("arguments", "sql"),
    [
        ('{"query": "SELECT 1"}', "SELECT 1"),
        ('{"k": 3, "text": "with a as (select 1) select * from a"}',
         "with a as (select 1) select * from a"),
        ('{"user_query": "find all patients"}', None),
        ('{"query": "show all patients"}', None),
        ('{"query": "```sql\\nSELECT 1\\n```"}', "SELECT 1"),
        ('{"query": 5}', None),
        ("SELECT 1", "SELECT 1"),
        ("{broken", None),
        ("", None),
        (None, None),
        ({"sql": "-- all\nSELECT 1"}, "-- all\nSELECT 1"),
        ("[1]", None),
    ],
)  # fmt: skip
def test_sql_is_found_among_arguments_of_any_form(arguments: Any, sql: str | None) -> None:
    tool = {"id": "a", "function": {"name": "f", "arguments": arguments}}
    run = read([user("q?"), said(None, tool), result("a", "[(1,)]")])
    assert run.trajectory.steps[0].sql == sql
    damaged = "arguments that are damaged JSON: taken as text" in run.notes
    assert damaged == (arguments == "{broken")


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("[('a', 1), ('b', None)]", "rows", "2 rows x 2 cols; sample [['a', '1'], ['b', 'None']]"),
        ("[[1], [2], [3], [4]]", "rows", "4 rows x 1 cols; sample [['1'], ['2'], ['3']]"),
        ('[{"n": 1, "m": "x"}]', "rows", "1 rows x 2 cols; sample [['1', 'x']]"),
        ('{"columns": ["n"], "rows": [[1]]}', "rows", "1 rows x 1 cols; sample [['1']]"),
        ("('a', 2)", "rows", "1 rows x 2 cols; sample [['a', '2']]"),
        ("[1, 2]", "rows", "2 rows x 1 cols; sample [['1'], ['2']]"),
        ("[('a',)]\n\nNote: 2 results [not] shown", "rows", "1+ rows x 1 cols; sample [['a']]"),
        ("[]", "empty", "empty (0 rows)"),
        ("", "empty", "empty (0 rows)"),
        ("No rows returned.", "empty", "empty (0 rows)"),
        ("0 rows", "empty", "empty (0 rows)"),
        ('{"rows": []}', "empty", "empty (0 rows)"),
        ("Error: no such column: x", "error", "ERROR: no such column: x"),
        ("sqlite3.OperationalError: no such table: t", "error", "ERROR: no such table: t"),
        ('{"error": "no such table: t"}', "error", "ERROR: no such table: t"),
        ("Error: (psycopg2.errors.UndefinedColumn) column x\nLINE 1", "error", None),
        ("| n |\n|---|\n| 1 |", "rows", "| n | |---| | 1 |"),
        ("[('unclosed'", "rows", "[('unclosed'"),
        ("Errorless patients: 3", "rows", "Errorless patients: 3"),
        ("failed", "rows", "failed"),
        ("none", "rows", "none"),
        ("NULL", "rows", "NULL"),
        ("empty", "rows", "empty"),
        ("Error in dosage", "rows", "Error in dosage"),
        ("no results found in the chart", "rows", "no results found in the chart"),
        ("empty stomach: advised", "rows", "empty stomach: advised"),
        ("failed back surgery", "rows", "failed back surgery"),
        ("[('Error: none',)]", "rows", "1 rows x 1 cols; sample [['Error: none']]"),
        ("Empty set (0.00 sec)", "empty", "empty (0 rows)"),
        ("Query returned no results.", "empty", "empty (0 rows)"),
        ("Error executing query: no such table: t", "error", "ERROR: no such table: t"),
        ("ERROR 1146 (42S02): no table", "error", None),
    ],
)
def test_printed_results(text: str, kind: str, shown: str | None) -> None:
    observation = read_result(text)
    assert observation.kind == kind
    if shown is not None:
        assert observation.text == shown


@given(st.text(max_size=40) | st.text("[(',)]{}:\"0 ", max_size=60))
def test_any_printed_result_is_read(text: str) -> None:
    observation = read_result(text)
    assert observation.text is not None
    assert "\n" not in observation.text


def test_a_result_that_nests_deep_is_kept_as_text() -> None:
    assert read_result("[" * 5_000).kind == "rows"
    assert read_result("(" * 5_000 + ")" * 5_000).kind == "rows"


def test_ids_and_model_are_taken_from_where_logs_keep_them() -> None:
    run = {"messages": RUN}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"id": "x"}, "x"),
        ({"question_id": 7}, "7"),
        ({"task_id": "3", "trial": 2}, "3#2"),
        ({"info": {"task": {"task_id": "4"}}, "trial": 0, "task_idx": 9}, "4#0"),
        ({"task_idx": 9}, "9"),
        ({}, "run-1"),
    ]
    for fields, identity in cases:
        assert read({**run, **fields}).trajectory.question.id == identity
    assert read(run).trajectory.agent.model == "gpt"
    assert read({**run, "model": "own"}).trajectory.agent.model == "own"
    assert read({**run, "question": "Mine?"}).trajectory.question.text == "Mine?"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["role", "content", "tool_calls", "function", "arguments", "name", "id", "messages",
             "type", "data", "kwargs", "lc", "output", "input", "call_id", "text",
             "tool_call_id", "function_call", "info", "task", "text"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(json_values)
def test_any_json_gives_a_run_or_an_input_error(value: Any) -> None:
    for form in (AUTO, *FORMS):
        try:
            found = read_record(value, form=form, model="m", fallback_id="x")
        except InputError:
            continue
        assert all(run.trajectory.question.text for run in found.runs)


@given(st.data())
def test_a_log_damaged_anywhere_gives_a_run_or_an_input_error(data: st.DataObject) -> None:
    damaged = copy.deepcopy(RUN)
    for _ in range(data.draw(st.integers(1, 3))):
        message = damaged[data.draw(st.integers(0, len(damaged) - 1))]
        field = data.draw(st.sampled_from(["role", "content", "tool_calls", "tool_call_id"]))
        message[field] = data.draw(json_values)
    try:
        read(damaged)
    except InputError:
        return


def test_nothing_of_what_should_have_happened_comes_in(shared_data: Path) -> None:
    for file in sorted((shared_data / "logs" / "openai_messages").iterdir()):
        for record in read_records(file):
            stripped = {
                "messages": record["messages"],
                "task_id": record["info"]["task"]["task_id"],
            }
            ours, theirs = read(record).trajectory, read(stripped).trajectory
            assert ours.steps == theirs.steps
            assert ours.outcome == theirs.outcome


def test_real_logs_are_read_whole(shared_data: Path) -> None:
    folder = shared_data / "logs" / "openai_messages"
    outcomes = {}
    for name in ("gpt-4o-mini", "gemini-2.5-flash"):
        records = read_records(folder / f"{name}.json.gz")
        runs = [read(record) for record in records]
        outcomes[name] = Counter(run.trajectory.outcome.kind for run in runs)
        for record, run in zip(records, runs, strict=True):
            calls = sum(len(item.get("tool_calls") or ()) for item in record["messages"])
            last = run.trajectory.steps[-1]
            beside = last.action == "final_null" or (
                last.action == "final_sql" and last.sql == _newest_sql(run.trajectory)
            )
            assert len(run.trajectory.steps) == calls + beside
            for step in run.trajectory.steps:
                if step.observation.kind == "rows":
                    assert step.observation.rows is not None
            # What the project's own evaluation took as the answer.
            rewarded = record["info"].get("reward_info", {}).get("info") or {}
            if record["reward"] == 1.0:
                assert run.trajectory.outcome.final_sql == rewarded["pred_sql"].strip()
    assert outcomes["gpt-4o-mini"] == {"answered": 35, "abstained": 2, "cap": 3}
    assert outcomes["gemini-2.5-flash"] == {"answered": 38, "cap": 2}


def _newest_sql(run: Trajectory) -> str | None:
    """The newest query before the last step, where that step states it again."""
    ran = [step.sql for step in run.steps[:-1] if step.observation.kind in ("rows", "empty")]
    return ran[-1] if ran and run.steps[-2].sql != run.steps[-1].sql else None


def test_gold_is_found_for_the_questions_file_only() -> None:
    task = {"task_id": "4", "instruction": "Count them.", "gold_sql": "SELECT 1"}
    record = {"messages": RUN, "info": {"task": task}, "trial": 3}
    assert question_of(record) == {"id": "4", "question": "Count them.", "gold_sql": "SELECT 1"}
    assert question_of({"id": "4", "messages": RUN, "gold_sql": "SELECT 1"}) == {
        "id": "4",
        "question": "How many got heparin?",
        "gold_sql": "SELECT 1",
    }
    assert question_of({"id": "4", "messages": RUN}) is None
    assert question_of(RUN) is None


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (json.dumps(RUN), 1),
        (json.dumps([RUN, RUN]), 2),
        (json.dumps([{"messages": RUN}]), 1),
        (json.dumps({"messages": RUN}), 1),
        (json.dumps({"messages": RUN}) + "\n\n" + json.dumps(RUN) + "\n", 2),
        ("[]", 0),
    ],
)
def test_log_files_in_their_forms(tmp_path: Path, text: str, count: int) -> None:
    plain, zipped = tmp_path / "log.json", tmp_path / "log.json.gz"
    plain.write_text(text)
    zipped.write_bytes(gzip.compress(text.encode()))
    assert len(read_records(plain)) == len(read_records(zipped)) == count


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"a": 1}\nheparin\n', "line 2: not JSON"),
        (b"heparin", "line 1: not JSON"),
        (gzip.compress(b"[]" * 50, mtime=0)[:-9], "damaged gzip"),
        (b"\x1f\x8bheparin", "damaged gzip|check the path"),
    ],
)
def test_a_file_that_is_no_log_is_named(tmp_path: Path, data: bytes, told: str) -> None:
    file = tmp_path / "log.json"
    file.write_bytes(data)
    with pytest.raises(InputError, match=told) as caught:
        read_records(file)
    assert "log.json" in str(caught.value)
    assert "heparin" not in str(caught.value)
    with pytest.raises(InputError, match="No such file"):
        read_records(tmp_path / "none.json")


@pytest.mark.parametrize("calls", [5, True, "x", {"a": 1}, [5, "x", None]])
def test_tool_calls_that_are_no_list_of_calls_are_none(calls: Any) -> None:
    messages = [{"role": "user", "content": "q?"}, {"role": "assistant", "tool_calls": calls}]
    assert read({"messages": messages}).trajectory.steps == ()
