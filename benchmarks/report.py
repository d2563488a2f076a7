"""The report's promise: 5 agents × 10,000 trajectories in a minute, and a page that opens anywhere.

The evaluations are made up column by column, with as many runs, steps and templates as real ones
have, and saved as `sentinel evaluate --out` saves them; that isn't timed. The report is written by
a process of its own, whose time and peak memory are measured. `python benchmarks/report.py` prints
the figures.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from sentinel_sql.decision.policy import policy
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation_store.folder import save
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.views import FORMAT, VIEWS
from sentinel_sql.monitor.prefix_scores import PrefixScores

AGENTS = 5
RUNS = 10_000
TEMPLATES = 300
CAP = 8
SHARE_UNANSWERABLE = 0.1
SECONDS_BUDGET = 60.0
MEMORY_BUDGET_MB = 1_500.0
PAGE_BUDGET_MB = 5.0

_WRITE = """
import json, resource, sys, time
from pathlib import Path
started = time.perf_counter()
from sentinel_sql.report.write import write_report
written = write_report([Path(folder) for folder in sys.argv[2:]], Path(sys.argv[1]))
print(json.dumps({
    "seconds": time.perf_counter() - started,
    "cpu_seconds": time.process_time(),
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    "bytes": written.bytes,
    "runs": written.runs,
    "figures": written.figures,
}))
"""


def measure(agents: int = AGENTS, runs: int = RUNS) -> dict[str, Any]:
    """Return the figures and whether each is within its budget."""
    with tempfile.TemporaryDirectory() as place:
        started = time.perf_counter()
        folders = [Path(place) / f"agent-{number}" for number in range(agents)]
        for number, folder in enumerate(folders):
            save(made_up(number, runs), folder)
            _write_views(folder, number)
        prepared = time.perf_counter() - started
        done = subprocess.run(
            [sys.executable, "-c", _WRITE, str(Path(place) / "report"), *map(str, folders)],
            stdout=subprocess.PIPE,
            check=True,
        )
    told = json.loads(done.stdout)
    peak = told["peak"] / (1024 if sys.platform != "darwin" else 1 << 20)
    return {
        "agents": agents,
        "runs_each": runs,
        "evaluations_made_in_seconds": round(prepared, 1),
        "seconds": round(told["seconds"], 1),
        "cpu_seconds": round(told["cpu_seconds"], 1),
        "seconds_within_budget": told["seconds"] <= SECONDS_BUDGET,
        # One thread: on a quiet core this is what the clock shows.
        "cpu_seconds_within_budget": told["cpu_seconds"] <= SECONDS_BUDGET,
        "peak_memory_mb": round(peak),
        "memory_within_budget": peak <= MEMORY_BUDGET_MB,
        "page_mb": round(told["bytes"] / 1e6, 2),
        "page_within_budget": told["bytes"] <= PAGE_BUDGET_MB * 1e6,
        "single_runs": told["runs"],
        "figures": told["figures"],
        "cores": os.cpu_count(),
    }


def made_up(seed: int, runs: int) -> Evaluation:
    """Make the evaluation of one agent whose monitor is good, not perfect."""
    calibration = columns(1_000 + seed, 2_000)
    thresholds = freeze(calibration)
    evidence = Evidence.gather(columns(seed, runs), thresholds, calibration=calibration)
    return Evaluation(
        pool="heldout",
        evidence=evidence,
        early_stops=tuple(
            policy("early-stop", thresholds=thresholds, stakes=level) for level in evidence.stakes
        ),
        exhibits={name: exhibit(evidence) for name, exhibit in EXHIBITS.items()},
        gaps={},
        monitor={
            "agent": f"react | made-up-{seed} | - | {CAP} | 0.0",
            "head": "linear",
            "delivery": "head",
            "facts": {},
        },
        hashes={"pools": "made-up", "runs": str(seed)},
        seed=42,
        spent=None,
    )


def columns(seed: int, runs: int) -> PrefixScores:
    """Make columns in which right answers tend to look right."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(1, CAP + 1, runs)
    offsets = np.concatenate([[0], np.cumsum(steps + 1)]).astype(np.int64)
    run = np.repeat(np.arange(runs), steps + 1)
    answerable = rng.random(runs) > SHARE_UNANSWERABLE
    ending = np.where(steps == CAP, 2, (rng.random(runs) > 0.8).astype(np.int64))
    answered = ending == 0
    correct = answered & answerable & (rng.random(runs) < 0.6)
    score = np.clip(rng.normal(0.4 + 0.25 * correct, 0.2), 0.0, 1.0)
    nowhere = np.full(runs, np.nan)
    first = np.zeros(len(run), np.bool_)
    first[offsets[:-1]] = True
    raw = np.clip(rng.normal(0.4 + 0.15 * correct[run], 0.2), 0.0, 1.0)
    return PrefixScores(
        question_ids=tuple(f"q{number}" for number in range(runs)),
        templates=tuple(f"t{number}" for number in rng.integers(0, TEMPLATES, runs)),
        offsets=offsets,
        p_answerable=np.clip(rng.normal(0.3 + 0.4 * answerable[run], 0.15), 0.0, 1.0),
        p_correct=raw * 0.9,
        raw_correct=raw,
        delivery_score=np.where(answered, score, nowhere),
        delivery=np.where(answered, score**1.2, nowhere),
        p_unanswerable=np.where(answered, 0.1, nowhere),
        answered=answered,
        abstained=ending == 1,
        answerable=answerable,
        correct=correct,
        clean=answered & (rng.random(runs) < 0.9),
        tokens=np.where(first, 0.0, rng.integers(20, 200, len(run))),
        seconds=np.where(first, 0.0, rng.random(len(run))),
    )


def _write_views(folder: Path, seed: int) -> None:
    rng = random.Random(seed)
    lines = [json.dumps(_view(rng, number)) + "\n" for number in range(200)]
    (folder / VIEWS).write_text("".join(lines))


def _view(rng: random.Random, number: int) -> dict[str, Any]:
    def words(count: int) -> str:
        return " ".join(
            rng.choice(("heparin", "patient", "stay", "SELECT", "=")) for _ in range(count)
        )

    steps = rng.randrange(1, CAP + 1)
    states = [
        {
            "t": t,
            "action": None if t == 0 else "final_sql" if t == steps else "sql",
            "thought": words(40) if t else None,
            "sql": words(50) if t else None,
            "result": words(30) if t else None,
            "kind": "rows" if t else None,
            "p_answerable": rng.random(),
            "p_correct": rng.random(),
            "delivery": rng.random() if t == steps else None,
            "p_unanswerable": rng.random() if t == steps else None,
            "neighbours": [{"words": words(20)}, {"words": words(20)}],
            "contributions": {
                head: [{"name": words(5), "value": rng.random()} for _ in range(10)]
                for head in ("answerability", "correctness")
            },
            "features": None,
        }
        for t in range(steps + 1)
    ]
    return {
        "format": FORMAT,
        "id": f"q{number}",
        "question": words(15),
        "ending": "answer",
        "answerable": True,
        "correct": rng.random() < 0.5,
        "judged": "made-up",
        "states": states,
    }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
