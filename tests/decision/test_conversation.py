from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from message_forms import FORM_NAMES, Told, Turn
from sentinel_sql.decision.agent_loop import guarded
from sentinel_sql.decision.conversation import GuardedConversation
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.policy import Policy
from sentinel_sql.decision.verdict import Answer
from sentinel_sql.trajectory.formats import FORMS
from sentinel_sql.trajectory.formats.log import read_records
from sentinel_sql.trajectory.formats.logged_record import read_record
from sentinel_sql.trajectory.record import Trajectory
from small_runs import fitted

COUNT = "SELECT COUNT(*) FROM prescriptions"
STAKES = (0.0, 1.0, 9.0)


@cache
def guards() -> tuple[Guard, ...]:
    monitor = fitted()[0]
    judging = [
        Guard.over(monitor, stakes=stakes, early_stop=early)
        for stakes in STAKES
        for early in (False, True)
    ]
    return tuple(
        # A stored run holds no sentence to compare, so import and live agree on all the rest.
        replace(guard, check_text=False)
        for guard in (replace(judging[0], policy=Policy(stakes=0.0)), *judging)
    )


def decided(answer: Answer | None) -> tuple[Any, ...]:
    assert answer is not None
    return (
        answer.decision, answer.reason, answer.status, answer.confidence, answer.final_sql, answer.t
    )  # fmt: skip


def live(
    guard: Guard, question: str, messages: Sequence[Any], form: str, **how: Any
) -> tuple[GuardedConversation, Answer]:
    with guard.session(question) as session:
        watched = GuardedConversation(session, FORMS[form], **how)
        for message in messages:
            watched.feed(message)
        return watched, watched.finish()


def imported(run: Trajectory, guard: Guard) -> tuple[Any, ...]:
    with guard.session(run.question) as session:
        for _ in guarded(iter(run.steps), session):
            pass
    return decided(session.answer)


turns = st.builds(
    Turn,
    said=st.sampled_from(["", "Let me count.", "The filter is exact."]),
    tool=st.sampled_from(["run_sql", "run_sql", "list_tables"]),
    arguments=st.sampled_from([COUNT, "SELECT drug FROM prescriptions", "PRAGMA table_list"]).map(
        lambda sql: {"query": sql}
    ),
    result=st.sampled_from(["[(3,)]", "[]", "Error: no such table: x", "[('heparin',)]"]),
)
stories = st.builds(
    Told,
    question=st.sampled_from(["how many patients got heparin", "what drug was it"]),
    turns=st.lists(turns, max_size=4).map(tuple),
    closing=st.sampled_from(["", "There are 3.", "This can't be answered."]),
)


@settings(max_examples=30)
@given(stories)
def test_import_and_live_decide_alike_in_each_of_the_five_forms(story: Told) -> None:
    found = set()
    for form in FORM_NAMES:
        messages = story.messages(form)
        run = read_record(messages, form=form, model="m", fallback_id="x").runs[0].trajectory
        for at, guard in enumerate(guards()):
            watched, answer = live(guard, story.question, messages, form)
            assert watched.steps == run.steps
            assert decided(answer) == imported(run, guard)
            found.add((at, decided(answer)))
    assert len(found) == len(guards())


def test_real_logs_decide_alike_imported_and_live(shared_data: Path) -> None:
    decisions = set()
    for file in sorted((shared_data / "logs" / "openai_messages").iterdir()):
        for record in read_records(file):
            run = read_record(record, model="m", fallback_id="x").runs[0].trajectory
            for guard in guards()[:3]:
                watched, answer = live(
                    guard,
                    run.question.text,
                    record["messages"],
                    "openai-messages",
                    one_question=True,
                )
                assert watched.steps == run.steps
                assert decided(answer) == imported(run, guard)
                decisions.add(answer.decision)
    assert len(decisions) > 1


@pytest.mark.parametrize("form", FORM_NAMES)
def test_result_of_a_delivered_answer_is_handed_back(form: str) -> None:
    turn = Turn(said="", tool="run_sql", arguments={"query": COUNT}, result="[(3,)]")
    story = Told(question="how many", turns=(turn,), closing="There are 3.")
    watched, answer = live(guards()[0], "how many", story.messages(form), form)
    assert (answer.decision, answer.value, answer.final_sql) == ("deliver", "[(3,)]", COUNT)
    assert watched.ending is not None
    assert watched.ending.text == "There are 3."
    assert watched.unread == {}


@pytest.mark.parametrize("form", FORM_NAMES)
@pytest.mark.parametrize(
    ("closing", "result", "decision"),
    [
        ("There are 3.", "[(3,)]", "deliver"),
        ("There are 4.", "[(3,)]", "withhold"),
        ("There are 512 patients.", "[(511,)]", "withhold"),
        ("It was aspirin.", "[('heparin',)]", "withhold"),
        ("It was heparin.", "[('heparin',)]", "deliver"),
        ("About 12.3 on 2100-05-02.", "[(12.345, '2100-05-02')]", "deliver"),
        ("About 12.3 on 2100-05-03.", "[(12.345, '2100-05-02')]", "withhold"),
    ],
)
def test_last_words_are_compared_with_the_result(
    form: str, closing: str, result: str, decision: str
) -> None:
    turn = Turn(said="", tool="run_sql", arguments={"query": COUNT}, result=result)
    messages = Told(question="how many", turns=(turn,), closing=closing).messages(form)
    checking = replace(guards()[0], check_text=True)
    _, answer = live(checking, "how many", messages, form)
    assert (answer.decision, answer.text_judged) == (decision, True)
    assert answer.text == (closing if decision == "deliver" else None)
    assert (answer.reason == "text-differs") == (decision == "withhold")
    assert live(guards()[0], "how many", messages, form)[1].decision == "deliver"


def test_words_given_to_a_final_tool_are_compared_too() -> None:
    decided_by = {}
    for said in ("There are 3.", "There are 5."):
        call = Turn(said="", tool="run_sql", arguments={"query": COUNT}, result="[(3,)]")
        end = Turn(said="", tool="final_answer", arguments={"answer": said}, result="ok")
        messages = Told(question="how many", turns=(call, end), closing="").messages("anthropic")
        checking = replace(guards()[0], check_text=True)
        decided_by[said] = live(checking, "how many", messages, "anthropic")[1].decision
    assert decided_by == {"There are 3.": "deliver", "There are 5.": "withhold"}


@pytest.mark.parametrize("form", FORM_NAMES)
def test_next_question_changes_nothing_of_the_answer(form: str) -> None:
    turn = Turn(said="", tool="run_sql", arguments={"query": COUNT}, result="[(3,)]")
    one = Told(question="how many", turns=(turn,), closing="There are 3.").messages(form)
    other = replace(turn, arguments={"query": "SELECT 9"}, result="[(9,)]")
    two = Told(question="which", turns=(other,), closing="9.").messages(form)
    alone = live(guards()[0], "how many", one, form)
    both = live(guards()[0], "how many", one + two, form)
    assert decided(both[1]) == decided(alone[1])
    assert both[0].steps == alone[0].steps


def test_step_is_judged_only_when_a_later_act_shows_what_it_is() -> None:
    turn = Turn(said="", tool="run_sql", arguments={"query": COUNT}, result="[(3,)]")
    messages = Told(question="how many", turns=(turn, turn), closing="").messages("anthropic")
    with guards()[0].session("how many") as session:
        watched = GuardedConversation(session, FORMS["anthropic"])
        seen = [watched.feed(message).t for message in messages]
    assert seen == [0, 0, 0, 1, 1]


@given(st.lists(st.sampled_from(["user", "assistant", "tool", "x"]), max_size=6))
def test_no_content_of_messages_raises_in_the_loop(roles: list[str]) -> None:
    for content in (None, [[10**5000]], {"error": "x"}, "\ud800", [{"type": 5}]):
        messages = [
            {
                "role": role,
                "content": content,
                "tool_calls": [{"id": 5, "function": {"name": "run_sql", "arguments": "SELECT 1"}}],
            }
            for role in roles
        ]
        for form in FORM_NAMES:
            live(guards()[0], "how many", messages, form)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_run_that_is_not_read_whole_is_never_delivered(at: int) -> None:
    turn = Turn(said="", tool="run_sql", arguments={"query": COUNT}, result="[(3,)]")
    messages = Told(question="how many", turns=(turn,), closing="There are 3.").messages(
        "openai-responses"
    )
    strange = {"type": "sql_execution", "sql": "SELECT 7"}
    messages = [*messages[:at], strange, *messages[at:]]
    watched, answer = live(guards()[0], "how many", messages, "openai-responses")
    assert (answer.decision, answer.value) == ("withhold", None)
    assert "sql_execution" in (watched.refusal or "")
