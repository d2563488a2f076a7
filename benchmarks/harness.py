"""What the harness costs beside the model: throughput against an endpoint that answers in 250 ms.

The endpoint runs in its own process, as a real one does. Run: `python benchmarks/harness.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sentinel_sql.agent.openai import OpenAIModel
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.pipeline.collect import collect
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, tiny_database

LATENCY = 0.25
WORKERS = 32
RUNS = 960
"""Two calls a run, so that a measurement lasts 15 seconds or more."""

_ENDPOINT = f"""
import sys
from sentinel_sql.testing import ScriptedEndpoint
script = [
    "THOUGHT: how is it spelled?\\nSQL: SELECT DISTINCT drug FROM prescriptions LIMIT 5",
    "THOUGHT: count\\nFINAL_SQL: SELECT COUNT(*) FROM prescriptions WHERE drug = 'heparin'",
]
with ScriptedEndpoint(script, latency={LATENCY}) as endpoint:
    print(endpoint.url, flush=True)
    sys.stdin.read()
"""


def measure(runs: int = RUNS) -> dict[str, Any]:
    """Return the share of the ideal throughput (workers / latency) that a collection reaches."""
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, "-c", _ENDPOINT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as endpoint,
        SqliteDatabase.open(tiny_database(Path(folder) / "tiny.sqlite"), clock=CLOCK) as database,
    ):
        assert endpoint.stdout is not None
        assert endpoint.stdin is not None
        url = endpoint.stdout.readline().strip()
        with OpenAIModel(base_url=url, model="scripted") as model:
            agent = ReactAgent(
                model=model, database=database, prompt=Prompt.build(database.schema, CLOCK)
            )
            summary = collect(
                [_question(number) for number in range(runs)],
                agent,
                database,
                store=Path(folder) / "store",
                workers=WORKERS,
            )
        endpoint.stdin.close()
    calls_a_second = summary.steps / summary.seconds
    ideal = WORKERS / LATENCY
    return {
        "runs": summary.done,
        "calls": summary.steps,
        "workers": WORKERS,
        "latency_seconds": LATENCY,
        "calls_a_second": round(calls_a_second, 1),
        "ideal_calls_a_second": ideal,
        "share_of_ideal": round(calls_a_second / ideal, 4),
        "required_share": 0.9,
    }


def _question(number: int) -> Question:
    return Question(id=f"q{number}", text=f"How many got drug {number}?", answerable=True)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
