"""Import an agent's logs, and read what was understood of them.

`python examples/import_logs.py` writes two small logs into a temporary folder and imports them.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import sentinel_sql as sentinel


def chat(identity: str, question: str, sql: str, result: str, said: str) -> dict[str, Any]:
    """Return one run in the form of OpenAI's chat messages."""
    call = {"name": "run_sql", "arguments": json.dumps({"query": sql})}
    asks = [{"id": "call_0", "type": "function", "function": call}]
    return {
        "id": identity,
        "messages": [
            {"role": "user", "content": question},
            {"role": "assistant", "content": None, "tool_calls": asks},
            {"role": "tool", "tool_call_id": "call_0", "content": result},
            {"role": "assistant", "content": said},
        ],
    }


RUNS = (
    chat("q1", "how many patients are there", "SELECT COUNT(*) FROM patients", "[(60,)]", "60."),
    chat("q2", "who is the oldest", "SELECT nam FROM patients", "Error: no such column: nam", "?"),
)


def main() -> None:
    """Import the runs, and print each step that was read."""
    with tempfile.TemporaryDirectory() as place:
        logs = Path(place) / "logs.jsonl"
        logs.write_text("".join(json.dumps(run) + "\n" for run in RUNS), encoding="utf-8")
        summary = sentinel.import_runs([logs], store=Path(place) / "runs", model="my-agent")
        print(f"imported {summary.imported}, failed {dict(summary.failed)}")
        print(f"notes {dict(summary.notes)}")
        for run in sentinel.read_trajectories(Path(place) / "runs"):
            print(f"{run.question.id}: {run.question.text} ({run.outcome.kind})")
            for step in run.steps:
                print(f"  {step.action}: {step.sql} -> {step.observation.text}")


if __name__ == "__main__":
    main()
