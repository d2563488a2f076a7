from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent, make_trajectory
from sentinel_sql.database.executor import ExecutionResult, summarize
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.decision.agent_loop import guarded
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.decision.policy import KINDS, REASONS, Policy
from sentinel_sql.decision.session import GuardSession
from sentinel_sql.decision.verdict import OnUnavailable
from sentinel_sql.errors import BundleError, InputError
from sentinel_sql.monitor.bundle import save
from sentinel_sql.monitor.delivery_estimator import INPUTS, Delivery, FittedHybrid
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.questions.record import Question
from sentinel_sql.schema import Schema
from sentinel_sql.testing import CLOCK, ScriptedModel, make_step, tiny_database
from sentinel_sql.trajectory.codec import encode
from sentinel_sql.trajectory.record import (
    AskedQuestion,
    Observation,
    Step,
    Trajectory,
    commitment,
    outcome_of,
)
from small_runs import AGENT, CAP, fitted, header

OTHER = "another | - | - | 6 | 0.0"
ASKED = "how many patients got heparin"
BLANKS = ("", "  \n", ";", "-- nothing", "/* nothing */ ;", "\u00a0")
QUESTION = Question(id="q1", text=ASKED, answerable=True)


@pytest.fixture(scope="module")
def monitor() -> Monitor:
    made = fitted()[0]
    # The head alone delivers, so that a run without token telemetry is judged.
    alone = replace(made.estimators.delivery, hybrid=None)
    return replace(made, estimators=replace(made.estimators, delivery=alone))


def observed(result: Any = None, **how: Any) -> Observation:
    return LiveResult.read(result, **how).observation


def lenient(monitor: Monitor, **how: Any) -> Guard:
    """A guard that stops nothing of its own, so that a test can reach the end of a run."""
    guard = Guard.over(monitor, stakes=0.0, **how)
    return replace(guard, policy=Policy(stakes=0.0))


def drive(guard: Guard, run: Trajectory) -> GuardSession:
    with guard.session(run.question) as session:
        for _ in guarded(iter(run.steps), session):
            pass
    return session


@pytest.mark.parametrize("early_stop", [False, True])
@pytest.mark.parametrize("exact_bar", [False, True])
@pytest.mark.parametrize("stakes", [1.0, 2.5, 9.0])
def test_a_live_run_ends_as_its_replay_says(
    monitor: Monitor, early_stop: bool, exact_bar: bool, stakes: float
) -> None:
    _, runs, pools, labels = fitted()
    guard = Guard.over(monitor, stakes=stakes, early_stop=early_stop, exact_bar=exact_bar)
    some = runs[:60] + [run for run in runs[60:] if run.outcome.kind == "cap"]
    scores = prefix_scores(monitor.estimators, some, pools=pools, labels=labels)
    verdicts = guard.policy.replay(scores)
    replayed = [
        (KINDS[kind], REASONS[reason], int(t))
        for kind, reason, t in zip(verdicts.kinds, verdicts.reasons, verdicts.t, strict=True)
    ]
    answers = [drive(guard, run).answer for run in some]
    assert [(a.decision, a.reason, a.t) for a in answers if a is not None] == replayed
    reasons = {reason for _, reason, _ in replayed}
    served = monitor.thresholds.serves(stakes)
    assert len(reasons) >= 3 if served else reasons == {"stakes-too-high"}


def test_the_step_at_the_agents_cap_ends_the_run_however_it_looks(monitor: Monitor) -> None:
    cap = monitor.estimators.max_steps
    assert cap == CAP
    failed = Observation(kind="error", error="no such column", text="ERROR: no such column")
    for last in (
        make_step(cap),
        make_step(cap, action="invalid"),
        make_step(cap, action="final_sql", observation=failed),
    ):
        doubtful = replace(lenient(monitor), policy=Policy(stakes=0.0, early=2.0))
        for guard, stops_at, reason in (
            (lenient(monitor), cap, "step-cap"),
            (doubtful, 1, "unlikely-correct"),
        ):
            with guard.session(ASKED) as session:
                steps = [*map(make_step, range(1, cap)), last, make_step(cap + 1)]
                assert len(list(guarded(steps, session))) == stops_at
            assert session.answer is not None
            assert (session.answer.reason, session.answer.t) == (reason, stops_at)


class Untimed:
    """A database whose executions take no time, so that equal runs are equal bytes."""

    def __init__(self, real: SqliteDatabase) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, sql: str) -> ExecutionResult:
        return replace(self._real.execute(sql), seconds=0.0)


def test_guarding_changes_nothing_that_the_agent_does(monitor: Monitor, tmp_path: Path) -> None:
    scripts = (
        ["SQL: SELECT drug FROM prescriptions", "FINAL_SQL: SELECT COUNT(*) FROM prescriptions"],
        ["THOUGHT: hm\nSQL: SELECT nothing", "chatter", "FINAL_SQL: SELECT gone", "FINAL: null"],
        ["SQL: SELECT 1"],
    )
    capped = replace(monitor, estimators=replace(monitor.estimators, max_steps=4))
    with SqliteDatabase.open(tiny_database(tmp_path / "tiny.sqlite"), clock=CLOCK) as opened:
        for script in scripts:
            agent = ReactAgent(
                model=ScriptedModel(script),
                database=Untimed(opened),
                prompt=Prompt.build(opened.schema, opened.clock),
                max_steps=4,
            )
            alone = agent.run(QUESTION)
            with lenient(capped).session(ASKED) as session:
                steps = guarded(agent.steps(QUESTION), session)
                watched = make_trajectory(agent.info, QUESTION, opened, steps)
            assert encode(watched) == encode(alone)
            assert session.answer is not None
            assert session.answer.t == len(alone.steps)


@pytest.mark.parametrize("early_stop", [False, True])
def test_a_session_at_its_own_stakes_ends_as_under_a_guard_at_these(
    monitor: Monitor, early_stop: bool
) -> None:
    shared = Guard.over(monitor, stakes=1.0, early_stop=early_stop)
    strict = Guard.over(monitor, stakes=9.0, early_stop=early_stop)
    differs = 0
    for run in fitted()[1][:40]:
        with shared.session(run.question, stakes=9.0) as session:
            list(guarded(run.steps, session))
        ours, theirs, plain = session.answer, drive(strict, run).answer, drive(shared, run).answer
        assert ours is not None
        assert theirs is not None
        assert plain is not None
        assert session.verdict.bar in (None, 0.9)
        assert replace(ours, monitor_seconds=0.0) == replace(theirs, monitor_seconds=0.0)
        differs += ours.decision != plain.decision
    assert differs
    with pytest.raises(InputError), shared.session(ASKED, stakes=-1.0):
        pass


def test_a_refused_question_costs_no_step(monitor: Monitor) -> None:
    started = []

    def agent() -> Iterator[Step]:
        started.append(True)
        yield make_step(1)

    guard = replace(lenient(monitor), policy=Policy(stakes=1.0, theta=1.1))
    with guard.session(ASKED) as session:
        assert session.verdict.decision == "refuse"
        assert list(guarded(agent(), session)) == []
    assert not started
    assert session.answer is not None
    assert (session.answer.reason, session.answer.value, session.answer.t) == (
        "unanswerable",
        None,
        0,
    )


def test_a_stop_closes_the_agents_generator_and_stays(monitor: Monitor) -> None:
    closed = []

    def agent() -> Iterator[Step]:
        try:
            for index in range(1, 9):
                yield make_step(index)
        finally:
            closed.append(True)

    guard = replace(lenient(monitor), policy=Policy(stakes=1.0, early=2.0))
    with guard.session(ASKED) as session:
        assert len(list(guarded(agent(), session))) == 1
        assert closed
    assert session.answer is not None
    assert (session.answer.decision, session.answer.reason) == ("exit", "unlikely-correct")


def test_after_a_stop_nothing_that_is_observed_or_closed_delivers(monitor: Monitor) -> None:
    guard = replace(lenient(monitor), policy=Policy(stakes=0.0, early=2.0))
    with guard.session(ASKED) as session:
        stop = session.observe(sql="SELECT 1", result=[(1,)])
        assert stop.stops
        assert session.observe(sql="SELECT 2", result=[(2,)]) is stop
        answer = session.close(final_sql="SELECT 3", result=[(3,)])
    assert (answer.delivered, answer.value, answer.final_sql) == (False, None, None)


def test_a_delivered_answer_carries_value_confidence_and_thresholds(monitor: Monitor) -> None:
    value = [("heparin", 4)]
    with lenient(monitor).session(ASKED, clock=CLOCK) as session:
        seen = session.observe(thought="look", sql="SELECT 1", result=[(1,)])
        assert (seen.decision, seen.reason, seen.t) == ("continue", "undecided", 1)
        answer = session.close(final_sql="SELECT drug, 4", result=value)
    assert answer.delivered
    assert answer.value is value
    assert answer.final_sql == "SELECT drug, 4"
    assert answer.confidence is not None
    assert session.verdict.bar == 0.0
    assert 0 < seen.monitor_seconds < answer.monitor_seconds
    assert session.close() is answer


def test_endings_without_an_answer_have_their_own_reasons(monitor: Monitor) -> None:
    guard = lenient(monitor)
    failed = sqlite3.OperationalError("no such column: dosage")
    for closing_with, reason in (
        ({"abstained": True}, "agent-abstained"),
        ({}, "no-answer"),
        ({"final_sql": "SELECT dosage", "result": failed}, "not-executed"),
        ({"final_sql": "SELECT 1"}, "not-executed"),
        *(({"final_sql": blank, "result": [(1,)]}, "not-executed") for blank in BLANKS),
    ):
        with guard.session(ASKED) as session:
            session.observe(sql="SELECT 1", result="1 rows x 1 cols; sample [['1']]")
            answer = session.close(**closing_with)  # type: ignore[arg-type]
        assert (answer.decision, answer.reason, answer.value) == ("withhold", reason, None)


@pytest.mark.parametrize("commit_on_error", [False, True])
@pytest.mark.parametrize("on_unavailable", ["withhold", "deliver"])
@pytest.mark.parametrize("blank", [*BLANKS, None])
def test_a_native_final_step_without_a_query_is_no_answer_live_nor_recorded(
    monitor: Monitor, blank: str | None, on_unavailable: OnUnavailable, commit_on_error: bool
) -> None:
    shown = Observation(kind="rows", rows=1, columns=1, text="1 rows x 1 cols; sample [['1']]")
    last = make_step(1, action="final_sql", sql=blank, observation=shown)
    assert commitment(last, commit_on_error=commit_on_error) is None
    assert outcome_of([last], commit_on_error=commit_on_error).kind == "cap"
    its = replace(monitor.estimators, commit_on_error=commit_on_error)
    for agent in (monitor.agent, OTHER):
        guard = lenient(
            replace(monitor, estimators=its), on_unavailable=on_unavailable, agent=agent
        )
        with guard.session(ASKED) as session:
            session.observe_step(last)
        assert session.answer is not None
        assert not session.answer.delivered


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_query_is_a_step_that_ran_nothing(monitor: Monitor, blank: str) -> None:
    told = []
    for given in ({"sql": blank, "result": [(1,)]}, {"sql": blank}, {}):
        with lenient(monitor).session(ASKED) as session:
            told.append(replace(session.observe(**given), monitor_seconds=0.0))
    assert told[0] == told[1] == told[2]
    assert not told[0].stops


@pytest.mark.parametrize(
    "given",
    [
        {"result": [(5,)]},
        {"result": []},
        {"abstained": True, "result": [(5,)]},
        {"abstained": True, "final_sql": "SELECT 5"},
    ],
)
def test_an_ending_that_contradicts_itself_teaches_and_delivers_nothing(
    monitor: Monitor, given: dict[str, Any]
) -> None:
    for guard in (lenient(monitor), lenient(monitor, agent=OTHER)):
        with guard.session(ASKED) as session:
            with pytest.raises(InputError, match=r"final_sql=.*abstained=True"):
                session.close(**given)
            assert session.answer is None
        assert session.answer is not None
        assert not session.answer.delivered


def test_reason_is_step_cap_only_at_the_cap_or_without_a_known_cap(
    monitor: Monitor,
) -> None:
    def reason(cap: int | None, steps: int) -> str:
        its = replace(monitor.estimators, max_steps=cap)
        with lenient(replace(monitor, estimators=its)).session(ASKED) as session:
            for _ in range(steps):
                session.observe(sql="SELECT 1", result=[(1,)])
            return session.close().reason

    assert {reason(8, steps) for steps in (0, 1, 7)} == {"no-answer"}
    assert reason(8, 8) == "step-cap"
    assert {reason(None, steps) for steps in (0, 1, 9)} == {"step-cap"}


def test_a_session_that_is_left_open_withholds_also_after_an_error(monitor: Monitor) -> None:
    guard = lenient(monitor)
    with pytest.raises(ZeroDivisionError), guard.session(ASKED) as session:
        raise ZeroDivisionError
    assert session.answer is not None
    assert session.answer.decision == "withhold"
    with pytest.raises(InputError, match="closed"):
        session.observe(sql="SELECT 1", result=[])


class Broken:
    """A fitted head that fails from the n-th score on, or says something that is no number."""

    def __init__(self, real: Any, after: int, nan: bool) -> None:
        self._real, self._left, self._nan = real, after, nan

    def score(self, inputs: Any) -> Any:
        self._left -= 1
        if self._left >= 0:
            return self._real.score(inputs)
        if self._nan:
            return np.full(len(inputs), np.nan)
        raise RuntimeError("secret row: mr smith")

    def arrays(self) -> Any:
        return {}


@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_broken_head_delivers_nothing_and_says_so(
    monitor: Monitor, after: int, nan: bool
) -> None:
    head = Broken(monitor.estimators.correctness, after, nan)
    broken = replace(monitor, estimators=replace(monitor.estimators, correctness=head))
    with lenient(broken).session(ASKED) as session:
        session.observe(sql="SELECT 1", result=[(1,)])
        answer = session.close(final_sql="SELECT 1", result=[(1,)])
    assert answer.decision == ("refuse", "exit", "withhold")[after]
    assert (answer.status, answer.reason) == ("unavailable", "monitor-error")
    assert (answer.value, answer.confidence) == (None, None)
    assert "smith" not in repr(answer) + repr(session.verdict)
    assert session.fault is not None
    assert answer.fault is session.fault


def test_unjudged_answers_pass_only_where_that_was_asked_for(monitor: Monitor) -> None:
    head = Broken(monitor.estimators.correctness, 0, nan=False)
    broken = replace(monitor, estimators=replace(monitor.estimators, correctness=head))
    with lenient(broken, on_unavailable="deliver").session(ASKED) as session:
        assert not session.observe(sql="SELECT 1", result=[(1,)]).stops
        answer = session.close(final_sql="SELECT 1", result=[(1,)])
    assert (answer.decision, answer.status, answer.value) == ("deliver", "unavailable", [(1,)])
    with lenient(broken, on_unavailable="deliver").session(ASKED) as session:
        assert session.close(abstained=True).decision == "withhold"


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ({"agent": OTHER}, "other-agent"),
        ({"schema": Schema(tables={"other": {}})}, "other-schema"),
        ({"clock": "2105-12-31 23:59:00"}, "other-clock"),
        ({"dialect": "postgres"}, "other-dialect"),
    ],
)
def test_monitor_of_another_agent_schema_clock_or_dialect_judges_nothing(
    monitor: Monitor, expected: dict[str, Any], reason: str
) -> None:
    with lenient(monitor, **expected).session(ASKED) as session:
        assert session.stops
    assert session.answer is not None
    assert (session.answer.decision, session.answer.reason) == ("refuse", reason)
    assert isinstance(session.fault, BundleError)
    assert session.answer.fault is session.fault
    assert "the monitor was fitted on" in str(session.fault)
    own = {"agent": monitor.agent, "schema": header().schema, "clock": CLOCK}
    with lenient(monitor, **own).session(ASKED) as session:
        assert session.verdict.status == "judged"


def test_schema_and_clock_are_reported_before_the_agent(
    monitor: Monitor,
) -> None:
    guard = lenient(monitor, agent=OTHER, clock="2105-12-31 23:59:00")
    assert guard.misfit is not None
    assert guard.misfit.reason == "other-clock"
    guard = lenient(monitor, agent=OTHER, schema=Schema(tables={"other": {}}))
    assert guard.misfit is not None
    assert guard.misfit.reason == "other-schema"


def fitted_over(monitor: Monitor, **known: str) -> Monitor:
    return replace(monitor, estimators=replace(monitor.estimators, **known))  # type: ignore[arg-type]


def test_a_run_over_a_database_of_another_dialect_or_time_zone_is_not_judged(
    monitor: Monitor,
) -> None:
    fitted = fitted_over(monitor, dialect="postgres", time_zone="UTC")
    for own in ({}, {"dialect": "postgres", "time_zone": "UTC"}):
        assert lenient(fitted, **own).misfit is None
        with lenient(fitted, **own).session(ASKED) as session:
            assert session.verdict.status == "judged"
    other_zone = lenient(fitted, time_zone="Europe/Berlin").misfit
    assert other_zone is not None
    assert other_zone.reason == "other-time-zone"
    for said, reason in (
        ({"dialect": "sqlite"}, "other-dialect"),
        ({"dialect": "duckdb"}, "other-dialect"),
        ({"dialect": "postgres", "time_zone": "Asia/Tokyo"}, "other-time-zone"),
    ):
        question = AskedQuestion(id="q", text="how many?", **said)
        with lenient(fitted).session(question) as session:
            assert session.verdict.reason == reason


def test_a_monitor_of_an_earlier_version_was_fitted_on_sqlite(monitor: Monitor) -> None:
    assert monitor.estimators.dialect is None
    assert lenient(monitor, dialect="sqlite", time_zone="UTC").misfit is None


@pytest.mark.parametrize("name", ["dialect", "time_zone"])
def test_a_dialect_or_time_zone_of_a_wrong_type_is_refused(monitor: Monitor, name: str) -> None:
    with pytest.raises(InputError, match=name):
        lenient(monitor, **{name: 7})


def test_a_question_asked_at_another_clock_is_not_judged(monitor: Monitor) -> None:
    with lenient(monitor).session(ASKED, clock="1999-01-01 00:00:00") as session:
        assert session.verdict.reason == "other-clock"
        told = str(session.fault)
    assert "1999-01-01 00:00:00" in told
    assert CLOCK in told
    assert "give the guard a clock" in told


def test_database_with_the_machines_time_is_judged_at_any_time(
    monitor: Monitor, tmp_path: Path
) -> None:
    path = tiny_database(tmp_path / "mine.sqlite")
    with SqliteDatabase.open(path) as then:  # when the runs were collected
        its = replace(monitor, estimators=replace(monitor.estimators, clock="2001-02-03 04:05:06"))
        assert then.clock != its.estimators.clock
        own = {"agent": monitor.agent, "schema": header().schema}
        with lenient(its, **own).session(ASKED) as session:
            result = then.execute("SELECT date('now')")
            session.observe(sql="SELECT date('now')", result=result)
            assert session.close(final_sql="SELECT 1", result=[(1,)]).status == "judged"
            assert session.fault is None


def reading(monitor: Monitor, feature: str) -> Monitor:
    """The monitor with a delivery estimator of one tree that splits on a feature."""
    ints = {"roots": [0], "column": [INPUTS.index(feature), -1, -1]}
    ints |= {"left": [1, 1, 2], "right": [2, 1, 2]}
    hybrid = FittedHybrid(
        base=0.0,
        threshold=np.array([-0.5, 0.0, 0.0]),
        value=np.array([0.0, -1.0, 1.0]),
        **{name: np.array(column) for name, column in ints.items()},
    )
    delivery = Delivery(hybrid=hybrid, auroc_head=0.5, auroc_hybrid=0.6)
    return replace(monitor, estimators=replace(monitor.estimators, delivery=delivery))


@pytest.mark.parametrize(
    ("feature", "given", "reason"),
    [
        ("lp_mean", {}, "missing-telemetry"),
        ("lp_min", {"entropies": (0.1,)}, "missing-telemetry"),
        ("ent_max", {"logprobs": (-0.1,)}, "missing-telemetry"),
        ("lp_mean", {"logprobs": (-0.1,)}, "above-bar"),
        ("ent_mean", {"entropies": (0.1,)}, "above-bar"),
        ("n_steps", {}, "above-bar"),
    ],
)
def test_an_estimator_without_the_telemetry_it_reads_judges_no_answer(
    monitor: Monitor, feature: str, given: dict[str, Any], reason: str
) -> None:
    with lenient(reading(monitor, feature)).session(ASKED) as session:
        assert session.verdict.status == "judged"
        answer = session.close(final_sql="SELECT 1", result=[(1,)], **given)
    assert answer.reason == reason


def test_threads_share_a_guard_and_get_what_they_would_get_alone(monitor: Monitor) -> None:
    runs = fitted()[1][:48]
    guard = Guard.over(monitor, stakes=1.0, early_stop=True)

    def outcome(run: Trajectory) -> tuple[Any, ...]:
        answer = drive(guard, run).answer
        assert answer is not None
        return answer.decision, answer.reason, answer.confidence, answer.t

    alone = [outcome(run) for run in runs]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(outcome, runs)) == alone


def test_threads_share_a_session_and_no_step_is_lost(monitor: Monitor) -> None:
    answers = []
    endless = replace(monitor, estimators=replace(monitor.estimators, max_steps=None))
    with lenient(endless).session(ASKED) as session:
        gate = threading.Barrier(6, timeout=60)

        def work() -> None:
            gate.wait()
            for _ in range(5):
                session.observe(sql="SELECT 1", result=[(1,)])
            gate.wait()
            answers.append(session.close(final_sql="SELECT 1", result=[(1,)]))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {answer.t for answer in answers} == {31}
    assert all(answer is answers[0] for answer in answers)


def test_steps_out_of_order_are_refused(monitor: Monitor) -> None:
    with lenient(monitor).session(ASKED) as session, pytest.raises(InputError, match="step 1"):
        session.observe_step(make_step(3))


def test_a_guard_loads_from_a_bundle_at_stakes_that_were_never_frozen(
    monitor: Monitor, tmp_path: Any
) -> None:
    save(monitor, tmp_path / "monitor")
    guard = Guard.load(tmp_path / "monitor", stakes=3.0, early_stop=True)
    assert guard.policy == Guard.over(monitor, stakes=3.0, early_stop=True).policy
    with pytest.raises(BundleError):
        Guard.load(tmp_path / "nothing", stakes=3.0)


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ((1,),),
        (("a" * 80, None, 2.5, b"xyz"),) * 5,
        (("heparin;x", "it's"), ("b", "c")),
    ],
)
@pytest.mark.parametrize("truncated", [False, True])
def test_guard_and_database_make_the_same_result_line(
    rows: tuple[tuple[Any, ...], ...], truncated: bool
) -> None:
    columns = tuple(f"c{i}" for i in range(len(rows[0]) if rows else 2))
    truncated = truncated and bool(rows)
    ran = ExecutionResult(
        kind="rows" if rows else "empty", columns=columns, rows=rows, truncated=truncated
    )
    by_hand = observed(list(rows), columns=columns, truncated=truncated)
    assert by_hand.text == summarize(ran)
    assert observed(ran) == by_hand
    if rows:
        printed = observed(result_text=summarize(ran))
        assert printed == by_hand


def test_failures_and_odd_results_have_different_kinds() -> None:
    error = observed(ValueError("no such table:\n orders"))
    assert (error.kind, error.text) == ("error", "ERROR: no such table: orders")
    refused = ExecutionResult(kind="refused", error="writes are not allowed")
    assert observed(refused).kind == "refused"
    assert observed(result_text="ERROR: no such table: orders").kind == "error"
    assert observed(result_text="empty (0 rows)").kind == observed([]).kind == "empty"
    assert observed(None).kind == "none"
    assert observed(7).text == "1 rows x 1 cols; sample [['7']]"
    assert observed([{"a": 1, "b": 2}]).columns == 2
    assert observed(result_text="[(1, 2), (3, 4)]").rows == 2


def test_failing_closed_is_the_default(monitor: Monitor) -> None:
    default: OnUnavailable = "withhold"
    assert Guard.over(monitor, stakes=1.0).on_unavailable == default


@pytest.mark.parametrize(
    "odd", [{"thought": 5}, {"sql": 5}, {"usage": {"prompt_tokens": -1}}, {"seconds": 5}]
)
def test_a_step_of_the_wrong_types_is_an_input_error_and_no_step(
    monitor: Monitor, odd: dict[str, Any]
) -> None:
    with Guard.over(monitor, stakes=1.0).session("how many?") as session:
        with pytest.raises(InputError, match=next(iter(odd))):
            session.observe(**{"sql": "SELECT 1", "result": [(1,)], **odd})
        assert session.observe(sql="SELECT 1", result=[(1,)]).t == 1


@pytest.mark.parametrize(
    ("wrong", "teaches"),
    [
        ({"schema": Path("hospital.sqlite")}, "SqliteDatabase.open(path).schema"),
        ({"schema": "hospital.sqlite"}, "SqliteDatabase.open(path).schema"),
        ({"schema": {"patients": {"id": "INTEGER"}}}, "SqliteDatabase.open(path).schema"),
        ({"agent": {"name": "react"}}, "fingerprint"),
        ({"agent": b"react"}, "fingerprint"),
        ({"clock": datetime(2100, 12, 31)}, "2100-12-31 23:59:00"),
        ({"clock": 4133980740}, "2100-12-31 23:59:00"),
        ({"on_unavailable": "witthold"}, "withhold"),
        ({"on_unavailable": None}, "withhold"),
        ({"stakes": "4"}, "give a number"),
        ({"stakes": None}, "give a number"),
    ],
)
def test_an_argument_of_the_wrong_kind_teaches_where_it_was_given(
    monitor: Monitor, wrong: dict[str, Any], teaches: str, tmp_path: Path
) -> None:
    save(monitor, tmp_path / "monitor")
    for make in (
        lambda **how: Guard.over(monitor, **how),
        lambda **how: Guard.load(tmp_path / "monitor", **how),
    ):
        with pytest.raises(InputError, match=re.escape(teaches)):
            make(**{"stakes": 1.0, **wrong})
    if "clock" in wrong:
        with (
            pytest.raises(InputError, match=teaches),
            Guard.over(monitor, stakes=1.0).session(ASKED, **wrong),
        ):
            pass


def test_a_question_of_the_wrong_type_teaches(monitor: Monitor) -> None:
    with (
        pytest.raises(InputError, match="AskedQuestion"),
        Guard.over(monitor, stakes=1.0).session(QUESTION),  # type: ignore[arg-type]
    ):
        pass


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "llama"}, "model (scripted there, llama here)"),
        ({"prompt_sha256": "cd" * 32}, "--notes, --examples"),
        ({"max_steps": 3}, "step cap (6 there, 3 here)"),
        ({"temperature": 0.7}, "temperature (0.0 there, 0.7 here)"),
        ({"commit_on_error": True}, "commit-on-error (off there, on here)"),
    ],
)
def test_message_names_what_differs_in_another_agent(
    monitor: Monitor, change: dict[str, Any], words: str
) -> None:
    other = AGENT.model_copy(update=change)
    for agent in (other, other.fingerprint):
        with Guard.over(monitor, stakes=1.0, agent=agent).session(ASKED) as session:
            assert session.verdict.reason == "other-agent"
            assert words in str(session.fault)


def test_guard_by_default_stops_nothing_mid_run_and_asks_for_chow_s_bar(
    monitor: Monitor, tmp_path: Path
) -> None:
    save(monitor, tmp_path / "monitor")
    for guard in (
        Guard.over(monitor, stakes=1.0),
        Guard.load(tmp_path / "monitor", stakes=1.0),
    ):
        assert (guard.policy.early, guard.policy.bar) == (None, "chow")
        assert guard.on_unavailable == "withhold"
