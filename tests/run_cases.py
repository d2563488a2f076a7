"""Builders of runs for tests: random ones for hypothesis, and a store with planted signals."""

from __future__ import annotations

import random
from collections.abc import Mapping

from hypothesis import strategies as st

from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.questions.pools import FRACTIONS, PoolName, Pools
from sentinel_sql.schema import ForeignKey, Schema
from sentinel_sql.testing import CLOCK, make_step, make_trajectory
from sentinel_sql.trajectory.record import Observation, Step, Telemetry, Trajectory

SCHEMA = Schema(
    tables={
        "patients": {"subject_id": "INT", "gender": "TEXT", "dob": "TEXT"},
        "admissions": {"hadm_id": "INT", "subject_id": "INT", "admittime": "TEXT"},
        "labevents": {"row_id": "INT", "hadm_id": "INT", "itemid": "INT", "valuenum": "REAL"},
        "prescriptions": {"row_id": "INT", "hadm_id": "INT", "drug": "TEXT", "route": "TEXT"},
        "d_labitems": {"itemid": "INT", "label": "TEXT"},
    },
    foreign_keys=(
        ForeignKey(
            table="admissions", column="subject_id", to_table="patients", to_column="subject_id"
        ),
        ForeignKey(table="labevents", column="hadm_id", to_table="admissions", to_column="hadm_id"),
        ForeignKey(
            table="prescriptions", column="hadm_id", to_table="admissions", to_column="hadm_id"
        ),
        ForeignKey(table="labevents", column="itemid", to_table="d_labitems", to_column="itemid"),
    ),
)
HEADER = LabelsHeader(
    judge="strict", mode="ehrsql-2024", database="tiny", clock=CLOCK, schema=SCHEMA
)

QUERIES = (
    "SELECT COUNT(*) FROM patients WHERE gender = 'f'",
    "SELECT drug FROM prescriptions WHERE route = 'po' AND dose = 5",
    "SELECT l.valuenum FROM labevents l JOIN d_labitems d ON l.itemid = d.itemid "
    "WHERE d.label = 'glucose'",
    "SELECT * FROM labevents a JOIN prescriptions b ON a.row_id = b.row_id",
    "SELECT nothing FROM nowhere",
    "this isn't SQL (",
)

texts = st.text(st.characters(codec="utf-8"), max_size=60)
observations = st.sampled_from(
    [
        Observation(kind="rows", rows=1, columns=1, text="1 rows x 1 cols; sample [['glucose']]"),
        Observation(kind="rows", rows=2, columns=1, text="2 rows x 1 cols; sample [['5'], ['7']]"),
        Observation(kind="empty", rows=0, text="empty (0 rows)"),
        Observation(kind="error", error="no such table: nowhere", text="ERROR: no such table"),
        Observation(kind="refused", error="not a query", text="ERROR: not a query"),
    ]
)
telemetries = st.none() | st.builds(
    lambda values: Telemetry(logprobs=tuple(-v for v in values), entropies=tuple(values)),
    st.lists(st.floats(0, 20), max_size=8),
)


@st.composite
def runs(draw: st.DrawFn, *, longest: int = 6) -> Trajectory:
    """Draw a run of 0 to `longest` steps that ends as its last step says."""
    steps: list[Step] = []
    for index in range(1, draw(st.integers(0, longest)) + 1):
        action = draw(st.sampled_from(["sql", "sql", "invalid"]))
        steps.append(_drawn(draw, index, action))
    if steps and draw(st.booleans()):
        action = draw(st.sampled_from(["final_sql", "final_sql", "final_null"]))
        steps[-1] = _drawn(draw, len(steps), action)
    return make_trajectory("q", draw(texts), steps=steps)


def _drawn(draw: st.DrawFn, index: int, action: str) -> Step:
    queries = action in ("sql", "final_sql")
    return make_step(
        index,
        action=action,  # type: ignore[arg-type]
        sql=draw(st.sampled_from(QUERIES) | texts.filter(bool)),
        thought=draw(st.none() | texts),
        observation=draw(observations) if queries else None,
        telemetry=draw(telemetries),
    )


def planted_store(
    count: int, *, seed: int, shuffled: bool = False, templates: int = 60
) -> tuple[list[Trajectory], Pools, Mapping[str, Label]]:
    """Make labelled runs in which a word of the thought tells correct from wrong.

    Unanswerable questions speak of the weather. With `shuffled`, labels of correctness and
    answerability are dealt at random instead.
    """
    rng = random.Random(seed)
    made, labels, template_of = [], {}, {}
    for number in range(count):
        name = f"q{number}"
        template_of[name] = f"t{number % templates}"
        answerable, correct = rng.random() < 0.7, rng.random() < 0.5
        run = _planted(rng, name, answerable, correct)
        made.append(run)
        if shuffled:
            answerable, correct = rng.random() < 0.7, rng.random() < 0.5
        judged = answerable and run.outcome.kind == "answered"
        labels[name] = Label(
            question_id=name,
            answerable=answerable,
            outcome=run.outcome.kind,
            strict=correct if judged else None,
            correct=correct if judged else None,
            reason="planted",
        )
    order: tuple[PoolName, ...] = ("train", "train", "calibration", "heldout")
    pools = Pools(
        seed=seed,
        fractions=FRACTIONS,
        pools={f"t{i}": order[i % 4] for i in range(templates)},
        templates=template_of,
    )
    return made, pools, labels


def _planted(rng: random.Random, name: str, answerable: bool, correct: bool) -> Trajectory:
    filler = [f"word{rng.randrange(40)}" for _ in range(6)]
    hint = "carefully" if correct else "hastily"
    topic = "glucose" if answerable else "weather"
    steps = [
        make_step(index, thought=" ".join([*filler, hint]), sql=rng.choice(QUERIES))
        for index in range(1, rng.randrange(1, 4))
    ]
    ending = rng.choice(["final_sql"] * 5 + ["final_null", "sql"])
    steps.append(
        make_step(
            len(steps) + 1,
            action=ending,  # type: ignore[arg-type]
            sql=rng.choice(QUERIES[:3]),
            thought=hint,
        )
    )
    question = f"what was the {topic} of patient {rng.randrange(10**6)} {' '.join(filler[:3])}?"
    return make_trajectory(name, question, steps=steps)
