"""A small world to fit a real monitor on: made-up questions, runs, labels and pools."""

from __future__ import annotations

import random
from functools import cache

from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.questions.pools import Pools, make_pools
from sentinel_sql.questions.record import Question
from sentinel_sql.schema import Schema
from sentinel_sql.testing import CLOCK, make_step, make_trajectory
from sentinel_sql.trajectory.record import AgentInfo, Observation, Step, Telemetry, Trajectory

DRUGS = ("heparin", "aspirin", "insulin", "morphine", "warfarin", "lasix")
ASKED = ("how many patients got", "who was given", "when was the last dose of", "what dose of")
UNASKABLE = (
    "predict tomorrow's weather over",
    "name the favourite song of whoever takes",
    "is the nurse's mood better since",
    "draw me a picture showing",
    "translate to french:",
    "which stock should we buy given",
    "when will the canteen serve",
    "book a table near",
    "explain quantum gravity without",
    "whose dog dislikes",
    "tell a joke about",
    "what's the colour of",
)


CAP = 6
AGENT = AgentInfo(name="react", model="scripted", max_steps=CAP, temperature=0.0)


EMPTY = Observation(kind="empty", rows=0, columns=1, text="empty (0 rows)")
ONE_ROW = Observation(kind="rows", rows=1, columns=1, text="1 rows x 1 cols; sample [['5']]")


def world(
    seed: int = 0, size: int = 240, *, telling: bool = False
) -> tuple[list[Trajectory], list[Question], dict[str, Label], LabelsHeader]:
    """Make runs in which wrong answers are hesitant, and often come after an empty result.

    With `telling`, most wrong answers are empty themselves, which the default head reads.
    """
    rng = random.Random(seed)
    runs, questions, labels = [], [], {}
    for number in range(size):
        answerable = rng.random() < 0.75
        stem = rng.choice(ASKED if answerable else UNASKABLE)
        text = f"{stem} {rng.choice(DRUGS)}"
        right = answerable and rng.random() < 0.6
        steps = [_look(rng, index, right) for index in range(1, rng.randrange(1, 5))]
        ending = rng.choices(("final_sql", "final_null", "cap"), (8, 1, 1))[0]
        if ending == "cap":
            steps = [_look(rng, index, right) for index in range(1, CAP + 1)]
        else:
            steps.append(_last(rng, len(steps) + 1, ending, right, telling))
        identity = f"q{number}"
        run = make_trajectory(identity, text, steps=steps, agent=AGENT)
        runs.append(run)
        questions.append(
            Question(
                id=identity,
                text=text,
                answerable=answerable,
                gold_sql=f"SELECT c{number % 8} FROM t{ASKED.index(stem)}" if answerable else None,
                template=f"{stem} {number % 8}" if answerable else stem,
            )
        )
        answered = run.outcome.kind == "answered"
        labels[identity] = Label(
            question_id=identity,
            answerable=answerable,
            outcome=run.outcome.kind,
            strict=right if answered and answerable else None,
            correct=right if answered else None,
            reason="made-up",
        )
    return runs, questions, labels, header()


def header() -> LabelsHeader:
    schema = Schema(tables={"prescriptions": {"drug": "TEXT", "dose": "REAL", "ward": "INTEGER"}})
    return LabelsHeader(
        judge="rules", mode="ehrsql-2024", database="tiny", clock=CLOCK, schema=schema
    )


@cache
def fitted() -> tuple[Monitor, list[Trajectory], Pools, dict[str, Label]]:
    """Fit a real monitor once a test session."""
    runs, questions, labels, head = world(telling=True)
    pools = make_pools(questions, seed=42)
    # Without a prior, so that a general monitor fitted anew changes no figure of these tests.
    made = fit(runs, pools, labels, head, prior=None, calibration="isotonic")
    return made, runs, pools, labels


def _look(rng: random.Random, index: int, right: bool) -> Step:
    empty = rng.random() < (0.1 if right else 0.6)
    text = "empty (0 rows)" if empty else "2 rows x 1 cols; sample [['5'], ['7']]"
    return make_step(
        index,
        sql=f"SELECT dose FROM {'prescriptions' if right else 'orders'} WHERE ward = {index}",
        thought="the table has it" if right or rng.random() < 0.4 else "not sure where this is",
        observation=Observation(
            kind="empty" if empty else "rows", rows=0 if empty else 2, columns=1, text=text
        ),
        telemetry=_telemetry(rng, right),
    )


def _last(rng: random.Random, index: int, action: str, right: bool, telling: bool) -> Step:
    if action == "final_null":
        return make_step(index, action="final_null", thought="not in the schema")
    sql = f"SELECT count(*) FROM prescriptions WHERE dose > {rng.randrange(9)}"
    thought = "this is it" if right or rng.random() < 0.5 else "a guess"
    seen = {}
    if telling:
        seen["observation"] = EMPTY if rng.random() < (0.0 if right else 0.9) else ONE_ROW
    telemetry = _telemetry(rng, right)
    return make_step(
        index, action="final_sql", sql=sql, thought=thought, telemetry=telemetry, **seen
    )


def _telemetry(rng: random.Random, right: bool) -> Telemetry:
    doubt = rng.uniform(0.0, 0.5 if right else 0.9)
    return Telemetry(logprobs=(-doubt, -0.1), entropies=(doubt, 0.05))
