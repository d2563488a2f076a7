"""Scoring a long store with the `linear` head: prefixes a second on two cores, and level memory.

The runs are the bundled recorded ones, sent again and again with every digit of their questions,
queries and results shifted, so that nothing cached helps; they are made as they are read. Wall time
depends on what else the machine does, so processor time is told beside it.
`python benchmarks/scoring.py` prints the figures.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.hospital.recordings import recording
from sentinel_sql.hospital.schema import CLOCK
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.questions.pools import FRACTIONS, PoolName, Pools
from sentinel_sql.trajectory.codec import decode, encode
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import read_trajectories

PREFIXES = 100_000
WORKERS = 2
FEWEST_A_SECOND = 1_000.0
GROWTH_BUDGET_MB = 100.0
"""From a fifth of the store to its end; the columns of 100,000 prefixes are 8 MB of it."""


def measure(prefixes: int = PREFIXES) -> dict[str, Any]:
    """Return prefixes a second and how much memory grew while the store went by."""
    monitor = _monitor()
    return _scored(monitor, prefixes)


def _monitor() -> Monitor:
    """Fit on recorded runs whose labels are dealt at random: what is scored is cost alone."""
    rng = random.Random(1)
    runs = list(islice(_runs(), 400))
    order: tuple[PoolName, ...] = ("train", "train", "calibration", "heldout")
    pools = Pools(
        seed=0,
        fractions=FRACTIONS,
        pools={f"t{i}": order[i % 4] for i in range(101)},
        templates={run.question.id: f"t{at % 101}" for at, run in enumerate(runs)},
    )
    labels = {
        run.question.id: _label(run, answerable=rng.random() < 0.8, correct=rng.random() < 0.5)
        for run in runs
    }
    with tempfile.TemporaryDirectory() as folder:
        made = HospitalFolder.write(Path(folder) / "hospital", size=20)
        with SqliteDatabase.open(made.database, clock=CLOCK) as database:
            header = LabelsHeader(
                judge="strict",
                mode="sentinel-1",
                database="hospital",
                clock=CLOCK,
                schema=database.schema,
            )
    return fit(runs, pools, labels, header)


def _scored(monitor: Monitor, prefixes: int) -> dict[str, Any]:
    seen: dict[str, Label] = {}
    memory: list[float] = []
    counted = [0, 0]

    def passing() -> Iterator[Trajectory]:
        for run in _runs():
            counted[0] += len(run.steps) + 1
            counted[1] += 1
            seen[run.question.id] = _label(run, answerable=True, correct=True)
            if not memory and counted[0] >= prefixes / 5:
                memory.append(_peak_mb())
            yield run
            if counted[0] >= prefixes:
                return

    pools = _AnyPool(seed=0, fractions=FRACTIONS, pools={"t": "train"}, templates={"q": "t"})
    started, busy = time.perf_counter(), _processor_seconds()
    scores = prefix_scores(monitor.estimators, passing(), pools=pools, labels=seen, workers=WORKERS)
    took, busy = time.perf_counter() - started, _processor_seconds() - busy
    grown = _peak_mb() - memory[0]
    total = len(scores.p_correct)
    return {
        "prefixes": total,
        "runs": counted[1],
        "seconds": round(took, 1),
        "cpu_seconds": round(busy, 1),
        "prefixes_a_second": round(total / took),
        "prefixes_a_cpu_second_on_two": round(WORKERS * total / busy),
        "within_budget": total / took >= FEWEST_A_SECOND,
        "memory_grown_mb": round(grown, 1),
        "memory_level": grown <= GROWTH_BUDGET_MB,
        "cores": os.cpu_count(),
    }


class _AnyPool(Pools):
    """A manifest in which every question is of one template."""

    def template_of(self, question_id: str) -> str:  # noqa: ARG002
        return "t"


def _runs() -> Iterator[Trajectory]:
    lines = [encode(run) for run in read_trajectories(recording("guided"))]
    number = 0
    while True:
        shift = number // len(lines)
        digits = str.maketrans("123456789", "".join(str((d + shift) % 9 + 1) for d in range(9)))
        run = decode(lines[number % len(lines)], where="a bundled recording")
        text = run.question.text.translate(digits)
        steps = tuple(
            step.model_copy(
                update={
                    "sql": None if step.sql is None else f"{step.sql.translate(digits)} -- {number}"
                }
            )
            for step in run.steps
        )
        question = run.question.model_copy(update={"id": f"q{number}", "text": text})
        yield run.model_copy(update={"question": question, "steps": steps})
        number += 1


def _label(run: Trajectory, *, answerable: bool, correct: bool) -> Label:
    answered = run.outcome.kind == "answered"
    return Label(
        question_id=run.question.id,
        answerable=answerable,
        outcome=run.outcome.kind,
        correct=correct and answerable if answered else None,
        reason="made up",
    )


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _processor_seconds() -> float:
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else PREFIXES), indent=1))
