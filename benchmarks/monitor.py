"""The monitor's promises: cost of a new step, and time and memory of fit plus evaluate.

The runs are made up: a small grammar of questions, queries, results and errors over a hospital's
tables, with the lengths of real runs. A step is timed in processor time of its one thread, so
that a busy machine doesn't count; fit plus evaluate in both. `python benchmarks/monitor.py`
prints the figures.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from typing import Any

from sentinel_sql.decision.policy import Policy
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor import bundle
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.questions.pools import FRACTIONS, PoolName, Pools
from sentinel_sql.schema import ForeignKey, Schema
from sentinel_sql.trajectory.record import (
    AgentInfo,
    AskedQuestion,
    Observation,
    Outcome,
    Step,
    Telemetry,
    Trajectory,
    Usage,
)
from sentinel_sql.trajectory.render import count_tokens, render

CLOCK = "2100-12-31 23:59:00"
RUNS = 2000
TEMPLATES = 300
STEPS = 6
SHARE_UNANSWERABLE = 0.1
TOKENS = 1_024
STEP_BUDGET_MS = 5.0
STEP_P99_BUDGET_MS = 10.0
FIT_BUDGET_SECONDS = 180.0
MEMORY_BUDGET_MB = 2000.0
LOAD_BUDGET_SECONDS = 1.0
BUNDLE_BUDGET_MB = 150.0

_EVENTS = ("labevents", "prescriptions", "diagnoses", "procedures", "inputevents", "transfers")
_COLUMNS = ("row_id", "subject_id", "hadm_id", "itemid", "charttime", "value", "unit")
SCHEMA = Schema(
    tables={
        "admissions": dict.fromkeys(("hadm_id", "subject_id", "admittime", "dischtime"), "TEXT"),
        "d_items": dict.fromkeys(("itemid", "label"), "TEXT"),
        **{table: dict.fromkeys(_COLUMNS, "TEXT") for table in _EVENTS},
    },
    foreign_keys=tuple(
        ForeignKey(table=table, column=column, to_table=target, to_column=column)
        for table in _EVENTS
        for column, target in (("hadm_id", "admissions"), ("itemid", "d_items"))
    ),
)
HEADER = LabelsHeader(
    judge="strict", mode="ehrsql-2024", database="made-up", clock=CLOCK, schema=SCHEMA
)
AGENT = AgentInfo(name="react", model="made-up", max_steps=8)
_SYLLABLES = ("car", "dio", "lin", "pro", "ma", "tri", "xol", "ne", "phro", "gly", "sta", "vir")


def measure() -> dict[str, Any]:
    """Return the figures and whether each is within its budget."""
    step = measure_step()
    whole = measure_fit_and_evaluate()
    return {**step, **whole, **measure_bundle()}


def measure_step() -> dict[str, Any]:
    """Time one new step: both heads, features, maps and decision, on one core."""
    runs, pools, labels = made_up(400, seed=1)
    monitor = fit(runs, pools, labels, HEADER)
    runs = [_run_of(seed, TOKENS) for seed in range(200)]
    _per_step(monitor, runs[0])
    # As a service does once it is loaded: else a full collection walks every imported object.
    gc.collect()
    gc.freeze()
    short = [_per_step(monitor, run)[-1] for run in runs]
    tokens = [count_tokens(render(run.prefix(len(run.steps)))) for run in runs]
    p99 = statistics.quantiles(short, n=100)[-1]
    # Past the scoring limit of 4,096 tokens the cost must stay level.
    long = [_per_step(monitor, _long_run(seed, 160)) for seed in range(3)]
    at_80 = statistics.median(took for run in long for took in run[70:90])
    at_160 = statistics.median(took for run in long for took in run[140:])
    return {
        "new_step_ms_median": round(statistics.median(short), 3),
        "new_step_ms_p99": round(p99, 3),
        "new_step_within_budget": statistics.median(short) <= STEP_BUDGET_MS
        and p99 <= STEP_P99_BUDGET_MS,
        "new_step_tokens_median": round(statistics.median(tokens)),
        "new_step_ms_at_80_steps": round(at_80, 3),
        "new_step_ms_at_160_steps": round(at_160, 3),
        "growth_past_the_cap": round(at_160 / at_80, 2),
    }


def measure_bundle() -> dict[str, Any]:
    """Time a load, and count the memory that a loaded monitor holds."""
    runs, pools, labels = made_up(400, seed=3)
    monitor = fit(runs, pools, labels, HEADER)
    with tempfile.TemporaryDirectory() as folder:
        bundle.save(monitor, f"{folder}/monitor")
        tracemalloc.start()
        started = time.perf_counter()
        loaded = bundle.load(f"{folder}/monitor")
        took = time.perf_counter() - started
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert loaded.thresholds == monitor.thresholds
    return {
        "bundle_load_seconds": round(took, 3),
        "bundle_memory_mb": round(held / 1e6, 1),
        "bundle_within_budget": took <= LOAD_BUDGET_SECONDS and held <= BUNDLE_BUDGET_MB * 1e6,
    }


def measure_fit_and_evaluate() -> dict[str, Any]:
    """Time fitting on 2,000 runs and replaying the systems and exhibits on the held-out pool."""
    runs, pools, labels = made_up(RUNS, seed=2)
    busy = time.process_time()
    started = time.perf_counter()
    monitor = fit(runs, pools, labels, HEADER)
    fitted = time.perf_counter()
    heldout = [run for run in runs if pools.pool_of(run.question.id) == "heldout"]
    scores = prefix_scores(monitor.estimators, heldout, pools=pools, labels=labels)
    _exhibits(monitor, scores)
    ended = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if _KILOBYTES else 1 << 20)
    return {
        "runs": RUNS,
        "prefixes": sum(len(run.steps) + 1 for run in runs),
        "fit_seconds": round(fitted - started, 1),
        "evaluate_seconds": round(ended - fitted, 1),
        "fit_and_evaluate_cpu_seconds": round(time.process_time() - busy, 1),
        "fit_and_evaluate_within_budget": ended - started <= FIT_BUDGET_SECONDS,
        "peak_memory_mb": round(peak),
        "memory_within_budget": peak <= MEMORY_BUDGET_MB,
        "cores": os.cpu_count(),
    }


_KILOBYTES = sys.platform != "darwin"


def _exhibits(monitor: Monitor, scores: PrefixScores) -> None:
    evidence = Evidence.gather(
        scores,
        monitor.thresholds,
        calibration=monitor.calibration,
    )
    for exhibit in EXHIBITS.values():
        exhibit(evidence)


def _per_step(monitor: Monitor, run: Trajectory) -> list[float]:
    policy = Policy(stakes=1.0, theta=0.01, early=0.01)
    session = monitor.open(run.question)
    took = []
    for step in run.steps:
        started = time.thread_time()
        session.observe(step)
        assessment = session.assess()
        policy.decide(assessment, assessment.committed)
        took.append(1000 * (time.thread_time() - started))
    return took


def made_up(count: int, *, seed: int) -> tuple[list[Trajectory], Pools, Mapping[str, Label]]:
    """Make runs over `TEMPLATES` templates with their pools and labels."""
    rng = random.Random(seed)
    runs = [_run(rng, number) for number in range(count)]
    templates = {run.question.id: f"t{i % TEMPLATES}" for i, run in enumerate(runs)}
    order: Sequence[PoolName] = ("train", "train", "calibration", "heldout")
    pools = Pools(
        seed=seed,
        fractions=FRACTIONS,
        pools={f"t{i}": order[i % 4] for i in range(TEMPLATES)},
        templates=templates,
    )
    labels = {
        run.question.id: Label(
            question_id=run.question.id,
            answerable=(answerable := rng.random() > SHARE_UNANSWERABLE),
            outcome=run.outcome.kind,
            correct=rng.random() < 0.5 if answerable and run.outcome.kind == "answered" else None,
            reason="made up",
        )
        for run in runs
    }
    return runs, pools, labels


def _run_of(seed: int, tokens: int) -> Trajectory:
    """Make a run whose last step brings its transcript to about as many tokens."""
    steps = 2
    run = _long_run(seed, steps)
    while count_tokens(render(run.prefix(steps))) < tokens:
        steps += 1
        run = _long_run(seed, steps)
    return run


def _long_run(seed: int, steps: int) -> Trajectory:
    rng = random.Random(seed)
    question = AskedQuestion(id="long", text=_question(rng), clock=CLOCK)
    told = tuple(_step(rng, index, "sql") for index in range(1, steps))
    return Trajectory(
        question=question,
        agent=AGENT,
        steps=(*told, _step(rng, steps, "final_sql", kind="rows")),
        outcome=Outcome(kind="answered", final_sql="SELECT 1"),
    )


def _run(rng: random.Random, number: int) -> Trajectory:
    length = rng.choice((1, 2, 2, 3, 4, 5, 6, 8))
    ending = "cap" if length == 8 else rng.choice(("answered", "answered", "answered", "abstained"))
    steps = [_step(rng, index, "sql") for index in range(1, length)]
    if ending == "answered":
        steps.append(_step(rng, length, "final_sql", kind=rng.choice(("rows", "rows", "empty"))))
    elif ending == "abstained":
        steps.append(_step(rng, length, "final_null", kind="none"))
    else:
        steps.append(_step(rng, length, "final_sql", kind="error"))
    return Trajectory(
        question=AskedQuestion(id=f"q{number}", text=_question(rng), clock=CLOCK),
        agent=AGENT,
        steps=tuple(steps),
        outcome=Outcome(kind=ending, final_sql=steps[-1].sql if ending == "answered" else None),
    )


def _step(rng: random.Random, index: int, action: Any, kind: str | None = None) -> Step:
    kind = kind or rng.choice(("rows", "rows", "rows", "empty", "error"))
    rows = [[_word(rng), str(rng.randrange(10**6)), _time(rng)] for _ in range(3)]
    text = {
        "rows": f"{rng.randrange(3, 900)} rows x 3 cols; sample {rows}",
        "empty": "empty (0 rows)",
        "error": f"ERROR: no such column: {_word(rng)}",
        "none": "",
    }[kind]
    tokens = rng.randrange(40, 120)
    return Step(
        index=index,
        thought=" ".join(_word(rng) for _ in range(rng.randrange(15, 45))),
        action=action,
        sql=None if action == "final_null" else _sql(rng),
        observation=Observation.model_validate({"kind": kind, "text": text}),
        usage=Usage(prompt_tokens=1500, completion_tokens=tokens),
        telemetry=Telemetry(
            logprobs=tuple(-rng.expovariate(5) for _ in range(tokens)),
            entropies=tuple(rng.expovariate(4) for _ in range(tokens)),
        ),
    )


def _question(rng: random.Random) -> str:
    words = " ".join(_word(rng) for _ in range(8))
    return f"How many {words} did patient {rng.randrange(10**7)} get since {_time(rng)[:10]}?"


def _sql(rng: random.Random) -> str:
    table = rng.choice(_EVENTS)
    return (
        f"SELECT COUNT(DISTINCT T1.{rng.choice(_COLUMNS)}) FROM {table} AS T1 "
        "JOIN d_items AS T2 ON T1.itemid = T2.itemid "
        "JOIN admissions AS T3 ON T1.hadm_id = T3.hadm_id "
        f"WHERE T3.subject_id = {rng.randrange(10**7)} AND T2.label = '{_word(rng)} {_word(rng)}' "
        f"AND strftime('%Y-%m', T1.charttime) >= '{_time(rng)[:7]}' "
        f"AND T1.hadm_id IN (SELECT hadm_id FROM {rng.choice(_EVENTS)} "
        f"WHERE value > {rng.randrange(100)}) ORDER BY T1.charttime DESC LIMIT 1"
    )


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(_SYLLABLES, k=rng.randrange(1, 4)))


def _time(rng: random.Random) -> str:
    return f"21{rng.randrange(100):02}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02} 12:00:00"


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
