"""What intervals cost: the bootstrap of every system of five agents, and all exhibits of one.

The runs are made up, in the paper's size: five agents, 2,100 questions of 41 templates each, and
once more with 400 templates. Timed in processor time of one thread, so that a busy machine doesn't
count. Run: `python benchmarks/exhibits.py`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.evaluation.bootstrap import RESAMPLES, Resampling
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.monitor.prefix_scores import PrefixScores

AGENTS = 5
QUESTIONS = 2_100
TEMPLATES = (41, 400)
BUDGET_SECONDS = 2.0


def measure() -> dict[str, Any]:
    """Return the seconds of the bootstrap and of all exhibits, for few and for many templates."""
    found: dict[str, Any] = {
        "agents": AGENTS,
        "questions": QUESTIONS,
        "resamples": RESAMPLES,
        "systems": len(SYSTEMS),
        "stakes": 3,
    }
    for templates in TEMPLATES:
        agents = [_agent(seed, templates) for seed in range(AGENTS)]
        started = time.process_time()
        for evidence in agents:
            _bootstrap(evidence)
        took = time.process_time() - started
        started = time.process_time()
        for exhibit in EXHIBITS.values():
            exhibit(agents[0])
        found[f"templates_{templates}"] = {
            "bootstrap_seconds": round(took, 3),
            "within_budget": took <= BUDGET_SECONDS,
            "all_exhibits_of_one_agent_seconds": round(time.process_time() - started, 2),
        }
    found["required_seconds"] = BUDGET_SECONDS
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found["peak_memory_mb"] = round(kilobytes / (1024 if sys.platform != "darwin" else 1 << 20))
    return found


def _bootstrap(evidence: Evidence) -> None:
    """Draw the resamples, and make the intervals of RS, coverage and accuracy of every system."""
    resampling = Resampling.over(evidence.scores.templates)
    for run in evidence.replays.values():
        resampling.mean(run.payoff)
        resampling.mean(run.delivered)
        resampling.mean(evidence.scores.correct, run.delivered)


def _agent(seed: int, templates: int) -> Evidence:
    return Evidence.gather(_scores(seed, templates), freeze(_scores(seed + 100, templates)))


def _scores(seed: int, templates: int) -> PrefixScores:
    rng = np.random.default_rng(seed)
    steps = rng.integers(1, 9, QUESTIONS)
    offsets = np.concatenate([[0], np.cumsum(steps + 1)])
    prefixes = int(offsets[-1])
    answered = rng.random(QUESTIONS) < 0.84
    answerable = rng.random(QUESTIONS) < 0.97
    delivery = np.where(answered, rng.random(QUESTIONS), np.nan)
    first = np.zeros(prefixes, dtype=bool)
    first[offsets[:-1]] = True
    return PrefixScores(
        question_ids=tuple(f"q{i}" for i in range(QUESTIONS)),
        templates=tuple(f"t{i}" for i in rng.integers(0, templates, QUESTIONS)),
        offsets=offsets,
        p_answerable=rng.random(prefixes) ** 0.1,
        p_correct=rng.random(prefixes),
        raw_correct=rng.random(prefixes),
        delivery_score=delivery,
        delivery=delivery,
        p_unanswerable=np.where(answered, 0.03, np.nan),
        answered=answered,
        abstained=~answered & (rng.random(QUESTIONS) < 0.7),
        answerable=answerable,
        correct=answered & answerable & (rng.random(QUESTIONS) < np.nan_to_num(delivery)),
        clean=answered & (rng.random(QUESTIONS) < 0.9),
        tokens=np.where(first, 0.0, rng.integers(20, 200, prefixes)),
        seconds=np.where(first, 0.0, rng.random(prefixes)),
    )


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
