"""A watched chat costs its new messages, and is read anew where it isn't the one that was known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.session import GuardSession
from sentinel_sql.integrations.watch import make_watch
from sentinel_sql.trajectory.recorder import Recorder
from sentinel_sql.trajectory.store import read_trajectories
from small_runs import fitted

Message = dict[str, Any]


def asked(question: str) -> Message:
    return {"role": "user", "content": question}


def turn(number: int) -> list[Message]:
    sql = f"SELECT dose FROM prescriptions WHERE ward = {number}"
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {
            "name": "run_sql",
            "arguments": json.dumps({"sql": sql}),
        },
    }
    return [
        {"role": "assistant", "content": "the table has it", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": "[[5], [7]]"},
    ]


def watch(**more: Any) -> Any:
    guard = Guard.over(fitted()[0], stakes=0.0, gate=False, on_unavailable="deliver")
    arguments = {"guard": guard, "recorder": None, "sql_tools": None, "texts": None}
    return make_watch("openai-messages", **{**arguments, "grounder": None, **more})


def test_each_step_is_judged_once_however_long_the_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[int] = []
    observe = GuardSession.observe_step

    def counted(self: GuardSession, step: Any) -> Any:
        judged.append(step.index)
        return observe(self, step)

    monkeypatch.setattr(GuardSession, "observe_step", counted)
    watched, chat = watch(), [asked("how many patients got heparin?")]
    for number in range(1, 6):
        assert watched.stop(chat) is None
        chat = [*chat, *turn(number)]
    watched.stop(chat)
    assert len(judged) == len(set(judged))


def test_chats_side_by_side_and_changed_ones_get_the_verdicts_of_a_fresh_watch() -> None:
    watched = watch()
    chats = [
        [asked(question), *turn(1), *turn(2)]
        for question in ("how many patients got heparin?", "who was given insulin?")
    ]
    for length in (1, 3, 5):
        for chat in chats:
            assert watched.stop(chat[:length]) == watch().stop(chat[:length])
    # an edited chat, a shorter one, and a further question of the same chat
    edited = [*chats[0][:3], *turn(9)]
    further = [*chats[0], {"role": "assistant", "content": "Two."}, asked("and aspirin?")]
    for chat in (edited, chats[1][:3], further, [*further, *turn(3)]):
        assert watched.stop(chat) == watch().stop(chat)
        kept = watched.chats.take(chat)
        assert kept is not None
        assert kept.question == ("and aspirin?" if len(chat) > 5 else chat[0]["content"])
        watched.chats.keep(kept)


def test_more_words_of_the_question_open_it_anew() -> None:
    watched, first = watch(), asked("how many patients got heparin?")
    watched.stop([first])
    both = [first, asked("only in ward 3")]
    watched.stop(both)
    kept = watched.chats.take(both)
    assert kept is not None
    session = kept.watched(watched.guard, None).session
    assert "only in ward 3" in session.question.text


def test_a_recorder_alone_withholds_nothing_whatever_the_messages(tmp_path: Any) -> None:
    with Recorder(tmp_path / "runs") as recorder:
        watched = watch(guard=None, recorder=recorder)
        chat = [asked("how many patients got heparin?"), *turn(1)]
        ended = [*chat, {"role": "assistant", "content": "There are 2."}]
        for messages in (ended, [], [object()], [{"role": "tool"}], [None]):
            assert watched.end(messages) is None
    assert [run.question.text for run in read_trajectories(tmp_path / "runs")] == [
        "how many patients got heparin?"
    ]
