"""The unaccounted phrases where people read them: live verdicts, views and the terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console, Group

from run_cases import HEADER, planted_store
from sentinel_sql.decision.judgement import Judgement
from sentinel_sql.decision.policy import policy
from sentinel_sql.decision.verdict import Verdict
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.run_views import view
from sentinel_sql.report.terminal.gauges import State, row
from sentinel_sql.report.terminal.reasons import reasons, why_screen
from sentinel_sql.trajectory.record import AskedQuestion, Observation, Outcome, Step, Trajectory

SQL = "SELECT gender FROM patients WHERE subject_id = 7"
SENTENCE = 'Nothing in the query accounts for "blood group".'


@pytest.fixture(scope="module")
def monitor() -> Monitor:
    runs, pools, labels = planted_store(240, seed=6)
    return fit(iter(runs), pools, labels, HEADER)


@pytest.fixture(scope="module")
def run() -> Trajectory:
    runs, _, _ = planted_store(1, seed=6)
    seen = Observation(kind="rows", rows=1, columns=1, text="1 rows x 1 cols; sample [['F']]")
    return Trajectory(
        question=AskedQuestion(id="q", text="Which blood group has subject 7?"),
        agent=runs[0].agent,
        steps=(
            Step(index=1, action="sql", sql="SELECT 1", observation=seen),
            Step(index=2, action="final_sql", sql=SQL, observation=seen),
        ),
        outcome=Outcome(kind="answered", final_sql=SQL),
    )


def live(monitor: Monitor, run: Trajectory) -> list[Verdict]:
    judged = Judgement(
        monitor=monitor,
        policy=policy("full", thresholds=monitor.thresholds, stakes=1.0),
        question=run.question,
        on_unavailable="withhold",
        misfit=None,
    )
    verdicts = [judged.verdict]
    for step in run.steps:
        judged.advance(step, over=False)
        verdicts.append(judged.verdict)
    return verdicts


def text_of(part: object) -> str:
    out = StringIO()
    Console(file=out, width=80).print(part)
    return " ".join(out.getvalue().split())


def test_a_live_verdict_names_what_the_committed_query_leaves_out(
    monitor: Monitor, run: Trajectory
) -> None:
    assert [it.unaccounted for it in live(monitor, run)] == [(), (), ("blood group",)]
    replayed = [it.unaccounted for it in monitor.replay(run)]
    assert replayed == [(), (), ("blood group",)]


def test_reasons_and_gauges_say_it_in_a_sentence(monitor: Monitor, run: Trajectory) -> None:
    states = view(run, monitor)["states"]
    why = {"t": 2} | reasons(states[2])
    assert SENTENCE in text_of(Group(*why_screen(why)))
    assert SENTENCE not in text_of(Group(*why_screen({"t": 1} | reasons(states[1]))))
    before, answer = (State.of_verdict(live(monitor, run)[t], run.steps[t - 1]) for t in (1, 2))
    assert SENTENCE in text_of(row(answer))
    assert SENTENCE not in text_of(row(before))
    assert answer.to_json()["unaccounted"] == ("blood group",)
