"""Recorded runs of a scripted agent over the default benchmark, for tests of demo and ask."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

from sentinel_sql.agent.model import Message
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.decision.agent_loop import guarded
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.policy import KINDS, REASONS
from sentinel_sql.hospital.benchmark import benchmark_questions
from sentinel_sql.hospital.briefing import EXAMPLES, NOTES
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.labels.file import read_labels
from sentinel_sql.monitor.bundle import load
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.demo import DemoFolder
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.questions.pools import Pools
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import ScriptedModel
from sentinel_sql.trajectory.codec import encode
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import read_trajectories

FEW = 30
EVERY = 2
"""Only each second question is run, so that tests stay short."""


def script_over(questions: Sequence[Question]) -> Callable[[Sequence[Message]], str]:
    """Return an agent that is right half the time, and then usually sounds so."""
    known: Mapping[str, Question] = {question.text: question for question in questions}

    def script(messages: Sequence[Message]) -> str:
        asked = max(n for n, said in enumerate(messages) if said["content"].startswith("QUESTION:"))
        text = messages[asked]["content"].removeprefix("QUESTION: ")
        turn = sum(message["role"] == "assistant" for message in messages[asked:])
        seed = crc32(text.encode())
        rng, luck = random.Random(seed + turn), seed % 100
        right = luck < 50
        sure = rng.random() < (0.8 if right else 0.3)
        thought = f"THOUGHT: {'plain and certain' if sure else 'a guess perhaps'}\n"
        gold = known[text].gold_sql
        if turn < luck % 3:
            return f"{thought}SQL: SELECT label FROM d_items WHERE itemid % 7 = {luck % 7}"
        if luck > 94:
            return f"{thought}SQL: SELECT 1"
        if gold is None and luck % 10 < 4:
            return f"{thought}FINAL: null"
        if gold is None or not right:
            return f"{thought}FINAL_SQL: SELECT COUNT(*) FROM patients WHERE row_id < {luck}"
        return f"{thought}FINAL_SQL: {gold}"

    return script


def record_runs(folder: Path) -> Path:
    """Write the runs to `runs.jsonl` in a folder, and return its path."""
    hospital = HospitalFolder.write(folder / "hospital")
    questions = benchmark_questions(hospital.database)
    path = folder / "runs.jsonl"
    with SqliteDatabase.open(hospital.database) as database, path.open("wb") as sink:
        agent = ReactAgent(
            model=ScriptedModel(script_over(questions)),
            database=database,
            prompt=Prompt.build(database.schema, database.clock, notes=NOTES, examples=EXAMPLES),
        )
        for question in questions[::EVERY]:
            sink.write(encode(agent.run(question)))
    return path


@cache
def _scored(made: DemoFolder) -> tuple[Monitor, Sequence[Trajectory], PrefixScores]:
    """Score all labelled runs of a demo once, whatever the policies that replay them."""
    monitor, labels = load(made.monitor), read_labels(made.labels)[1]
    runs = [run for run in read_trajectories(made.runs) if run.question.id in labels]
    scores = prefix_scores(monitor.estimators, runs, pools=Pools.read(made.pools), labels=labels)
    return monitor, runs, scores


def ended_live_and_replayed(
    made: DemoFolder, *, stakes: float, early_stop: bool, each: int = 1
) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """Return decision, reason and t of labelled runs: as guarded live, and as replayed.

    Args:
        made: the demo.
        stakes: λ.
        early_stop: whether doomed runs are stopped.
        each: 1 for every run, 5 for each fifth.
    """
    monitor, runs, scores = _scored(made)
    guard = Guard.over(monitor, stakes=stakes, early_stop=early_stop)
    live = []
    for run in runs[::each]:
        with guard.session(run.question) as session:
            for _ in guarded(run.steps, session):
                pass
        answer = session.close()
        live.append((answer.decision, answer.reason, answer.t))
    verdicts = guard.policy.replay(scores)
    replayed = [
        (KINDS[kind], REASONS[reason], int(t))
        for kind, reason, t in zip(verdicts.kinds, verdicts.reasons, verdicts.t, strict=True)
    ]
    return live, replayed[::each]
