"""The `llm` judge: one digit or nothing, durable at every verdict, never guessed."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sentinel_sql.agent.model import Message, Reply
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import EndpointError, InputError, LabelsError
from sentinel_sql.labels.file import read_labels, write_labels
from sentinel_sql.labels.llm_judge import PROMPT_SHA256, REMINDER, TRIES, digit
from sentinel_sql.labels.verdicts import VerdictLog, read_verdicts
from sentinel_sql.pipeline.llm_label import PreparedCases, estimate, label_by_model, prepare
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import ScriptedModel
from sentinel_sql.trajectory.record import Trajectory

CLOCK = "2100-12-31 23:59:00"
SECRET = "rosebud"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    path = tmp_path / "ward.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            f"CREATE TABLE t (x INT, note TEXT); INSERT INTO t VALUES (1, '{SECRET}'), (2, 'b')"
        )
    with SqliteDatabase.open(path, clock=CLOCK) as opened:
        yield opened


def runs(count: int = 5) -> tuple[list[Trajectory], list[Question]]:
    """Run q0 is strictly right, q1 fails, the others differ."""
    asked, made = [], []
    for number in range(count):
        asked.append(
            Question(
                id=f"q{number}", text=f"How many, {number}?", answerable=True,
                gold_sql="SELECT COUNT(*) FROM t",
            )
        )  # fmt: skip
        sql = {0: "SELECT 2", 1: "SELECT nothing FROM t"}.get(
            number, f"SELECT {number + 10}, note FROM t"
        )
        made.append(
            Trajectory.model_validate(
                {
                    "question": {"id": f"q{number}", "text": "…", "clock": CLOCK},
                    "agent": {"name": "scripted"},
                    "outcome": {"kind": "answered", "final_sql": sql},
                }
            )
        )
    return made, asked


def prepared(database: SqliteDatabase, *, rows: int = 20, count: int = 5) -> PreparedCases:
    return prepare(*runs(count), database, "sentinel-1", rows=rows)


class Counted:
    """A model that counts its calls and may fail."""

    def __init__(self, say: Callable[[int, str], str]) -> None:
        self._say = say
        self.heard: list[str] = []
        self.name = "judge"
        self.temperature = 0.0

    def complete(self, messages: Sequence[Message]) -> Reply:
        self.heard.append("\n".join(message["content"] for message in messages))
        said = self._say(len(self.heard), self.heard[-1])
        return Reply(text=said, prompt_tokens=100, completion_tokens=1)


def test_only_what_the_strict_comparison_refused_is_asked_about(database: SqliteDatabase) -> None:
    assert [case.run_id for case in prepared(database).cases] == ["q2", "q3", "q4"]


def test_each_verdict_is_stored_with_model_and_prompt(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    model = Counted(lambda _, heard: "1" if "How many, 3?" in heard else " 0.")
    with VerdictLog.open(tmp_path / "v") as log:
        made = label_by_model(prepared(database), model, log, workers=2)
    labels = {label.question_id: label for label in made.labelling.labels}
    assert {qid: (label.strict, label.correct, label.reason) for qid, label in labels.items()} == {
        "q0": (True, True, "strict-match"),
        "q1": (False, False, "answer-error"),
        "q2": (False, False, "judged-wrong"),
        "q3": (False, True, "judged-correct"),
        "q4": (False, False, "judged-wrong"),
    }
    assert {labels[q].model for q in ("q2", "q3", "q4")} == {"judge"}
    assert {labels[q].prompt_sha256 for q in ("q2", "q3", "q4")} == {PROMPT_SHA256}
    assert labels["q0"].model is None
    assert {(v.model, v.prompt_sha256, v.tries) for v in read_verdicts(tmp_path / "v")} == {
        ("judge", PROMPT_SHA256, 1)
    }
    assert (made.calls, made.prompt_tokens, made.completion_tokens) == (3, 300, 3)
    write_labels(tmp_path / "l", made.labelling.header, made.labelling.labels)
    header, found = read_labels(tmp_path / "l")
    assert (header.judge, header.model, header.prompt_sha256) == ("llm", "judge", PROMPT_SHA256)
    assert found == labels


def test_what_is_no_digit_is_asked_again_and_then_left_unjudged(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    model = Counted(
        lambda number, heard: "1" if REMINDER in heard and "many, 4" in heard else "It is 1"
    )
    with VerdictLog.open(tmp_path / "v") as log:
        made = label_by_model(prepared(database), model, log, workers=1)
        again = label_by_model(prepared(database), Counted(lambda *_: "0"), log)
    labels = {label.question_id: label for label in made.labelling.labels}
    assert (labels["q4"].correct, labels["q4"].reason) == (True, "judged-correct")
    for qid in ("q2", "q3"):
        assert (labels[qid].correct, labels[qid].reason) == (None, "unjudged")
        assert labels[qid].without_verdict
    assert made.labelling.to_json()["unjudged"] == 2
    assert len(model.heard) == TRIES * 2 + 2
    assert again.calls == 0, "at temperature 0 the same model is not asked the same again"
    assert again.labelling == made.labelling


@pytest.mark.parametrize("known", range(1, 6))
def test_an_end_at_any_verdict_costs_none_and_the_rest_is_asked_once(
    database: SqliteDatabase, tmp_path: Path, known: int
) -> None:
    def go_on(model: Counted, until: int = 99) -> list[bool | None]:
        def dies(done: int, _total: int) -> None:
            if done == until:
                raise KeyboardInterrupt

        with VerdictLog.open(tmp_path / "v") as log:
            made = label_by_model(
                prepared(database, count=8), model, log, workers=1, on_progress=dies
            )
        return [label.correct for label in made.labelling.labels]

    with pytest.raises(KeyboardInterrupt):
        go_on(Counted(lambda *_: "1"), until=known)
    assert len(read_verdicts(tmp_path / "v")) == known
    with (tmp_path / "v").open("ab") as torn:
        torn.write(b'{"format":"sentinel-verd')
    rest = Counted(lambda *_: "1")
    assert go_on(rest) == [True, False, *[True] * 6]
    assert len(rest.heard) == 6 - known
    assert (tmp_path / "v.torn").exists()


def test_another_model_or_a_changed_answer_is_asked_again(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    with VerdictLog.open(tmp_path / "v") as log:
        label_by_model(prepared(database), ScriptedModel(["1"], name="a"), log)
        assert prepared(database).pending(log, "a") == []
        assert len(prepared(database).pending(log, "b")) == 3
        assert len(prepared(database, rows=1).pending(log, "a")) == 3


def test_calls_that_fail_are_unjudged_for_now_and_asked_again_next_time(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    def fails_once(number: int, _heard: str) -> str:
        if number == 1:
            raise EndpointError("http://x: too slow")
        return "1"

    with VerdictLog.open(tmp_path / "v") as log:
        first = label_by_model(prepared(database), Counted(fails_once), log, workers=1)
        second = label_by_model(prepared(database), Counted(lambda *_: "1"), log)
    assert (dict(first.failed), first.labelling.to_json()["unjudged"]) == (
        {"http://x: too slow": 1},
        1,
    )
    assert (second.asked, second.labelling.to_json()["unjudged"]) == (1, 0)


@pytest.mark.parametrize(("for_every_call", "calls"), [(True, 1), (False, 10)])
def test_an_endpoint_that_is_gone_ends_it(
    database: SqliteDatabase, tmp_path: Path, for_every_call: bool, calls: int
) -> None:
    def gone(_number: int, _heard: str) -> str:
        raise EndpointError("http://x: no connection", for_every_call=for_every_call)

    model = Counted(gone)
    said = r"no connection\. 0 new verdicts are kept in .*v; the same command resumes"
    with VerdictLog.open(tmp_path / "v") as log, pytest.raises(EndpointError, match=said):
        label_by_model(prepared(database, count=40), model, log, workers=1)
    assert len(model.heard) == calls


def test_rows_are_sent_only_as_asked_and_never_stored(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    with VerdictLog.open(tmp_path / "v") as log:
        shown, silent = Counted(lambda *_: "0"), Counted(lambda *_: "0")
        label_by_model(prepared(database), shown, log)
        label_by_model(prepared(database, rows=0), silent, log)
    assert all(SECRET in heard for heard in shown.heard)
    assert len(silent.heard) == 3
    assert not any(SECRET in heard for heard in silent.heard)
    assert SECRET not in (tmp_path / "v").read_text()
    assert stat.S_IMODE((tmp_path / "v").stat().st_mode) == 0o600


def test_a_second_process_and_a_damaged_line_are_named(tmp_path: Path) -> None:
    with VerdictLog.open(tmp_path / "v"), pytest.raises(LabelsError, match="is writing to it"):
        VerdictLog.open(tmp_path / "v")
    (tmp_path / "v").write_text(json.dumps({"format": "sentinel-verdicts/1"}) + "\n")
    with pytest.raises(LabelsError, match=r"v, line 1 is no sentinel-verdicts/1 verdict"):
        VerdictLog.open(tmp_path / "v")
    VerdictLog.open(tmp_path / "w").__exit__(None, None, None)


def test_a_judge_that_samples_is_refused(database: SqliteDatabase, tmp_path: Path) -> None:
    model = ScriptedModel(["1"], temperature=0.7)
    with (
        VerdictLog.open(tmp_path / "v") as log,
        pytest.raises(InputError, match=r"temperature 0\.7"),
    ):
        label_by_model(prepared(database), model, log)


def test_the_estimate_covers_what_is_sent(database: SqliteDatabase) -> None:
    model = Counted(lambda *_: "0")
    cases = prepared(database).cases
    cost = estimate(cases, price=2.0)
    assert (cost.calls, cost.most_calls) == (3, 3 * TRIES)
    assert cost.price == pytest.approx((cost.prompt_tokens + cost.completion_tokens) * 2e-6)
    assert estimate(cases).price is None
    assert estimate([]).prompt_tokens == 0
    assert 250 * 3 < cost.prompt_tokens < 800 * 3
    assert model.heard == []


@given(st.text())
def test_a_verdict_is_read_only_from_one_digit(reply: str) -> None:
    letters = [
        sign for sign in reply if sign not in " \t\r\n\"'`*().\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0"
    ]
    if digit(reply) is not None:
        assert len(letters) <= 1 or not reply.isascii()
    assert digit(f"the verdict is {reply} 1") is None


@pytest.mark.parametrize(
    ("reply", "read"),
    [("1", True), ("0", False), (" 1\n", True), ("**0**", False), ("`1`.", True), ("(0)", False),
     ("10", None), ("2", None), ("", None), ("1 or 0", None), ("yes", None), ("1, because", None)],
)  # fmt: skip
def test_replies_and_what_is_read_from_them(reply: str, read: bool | None) -> None:
    assert digit(reply) is read


@pytest.mark.parametrize(
    "foreign",
    [
        b"SQLite format 3\0 page \n half a page",
        b'{"id": 1}\n{"id": 2}',
        b'{"seed": 4}',
        b"\x1f\x8b",
    ],
)
def test_a_file_of_another_kind_is_refused_and_left_as_it_is(
    tmp_path: Path, foreign: bytes
) -> None:
    (tmp_path / "v").write_bytes(foreign)
    with pytest.raises(LabelsError, match="--verdicts"):
        VerdictLog.open(tmp_path / "v")
    assert (tmp_path / "v").read_bytes() == foreign
    assert not (tmp_path / "v.torn").exists()
