"""Guard an agent of your own: import its logs, fit a monitor on them, put the guard in front.

`python examples/guard_any_agent.py` does it in a temporary folder, with a made-up agent.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import sentinel_sql as sentinel
import ward


def my_agent(question: str, database: str | Path = "ward.sqlite") -> Iterator[sentinel.LiveStep]:
    """Ask the model for a query, run it and show the model the result, until it is done."""
    results: list[list[tuple[Any, ...]]] = []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        while True:
            turn = ward.model(question, results)
            if turn.sql is None:
                yield sentinel.LiveStep(thought=turn.thought, abstained=True)
                return
            rows = connection.execute(turn.sql).fetchall()
            yield sentinel.LiveStep(
                thought=turn.thought, sql=turn.sql, result=rows, final=turn.final
            )
            if turn.final:
                return
            results.append(rows)


def logged(identity: str, question: str, database: Path) -> dict[str, Any]:
    """Run the agent and return its chat, as frameworks log it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for number, step in enumerate(my_agent(question, database)):
        if step.abstained:
            messages.append({"role": "assistant", "content": step.thought})
            continue
        name = f"call_{number}"
        call = {"name": "run_sql", "arguments": json.dumps({"sql": step.sql})}
        asks = [{"id": name, "type": "function", "function": call}]
        messages += [
            {"role": "assistant", "content": step.thought, "tool_calls": asks},
            {"role": "tool", "tool_call_id": name, "content": str(step.result)},
        ]
        if step.final:
            messages.append({"role": "assistant", "content": "Here is the result."})
    return {"id": identity, "messages": messages}


def fit_monitor(folder: Path) -> Path:
    """Record the made-up agent's runs in a folder, fit a monitor on them, and return its place."""
    ward.write(folder)
    questions = sentinel.read_questions(folder / "questions.csv")
    logs = folder / "logs.jsonl"
    with logs.open("w", encoding="utf-8") as file:
        for question in questions:
            run = logged(question.id, question.text, folder / "ward.sqlite")
            file.write(json.dumps(run) + "\n")
    sentinel.import_runs([logs], store=folder / "runs", model="my-agent")
    labels = sentinel.label_runs(folder / "runs", questions, folder / "ward.sqlite")
    monitor = sentinel.fit(folder / "runs", sentinel.make_pools(questions, seed=42), labels)
    sentinel.save_monitor(monitor, folder / "monitor")
    return folder / "monitor"


def main() -> None:
    """Guard the agent on a few questions, and print what the guard makes of each."""
    with tempfile.TemporaryDirectory() as place:
        guard = sentinel.Guard.load(fit_monitor(Path(place)), stakes=1)
        for question in (
            "how many patients were given heparin in ward B",
            "how many patients were given morphine in ward B",
            "is warfarin safe",
        ):
            answer = guard.run(lambda asked: my_agent(asked, f"{place}/ward.sqlite"), question)
            print(f"{question}? {answer.decision} ({answer.reason}): {answer.value}")


if __name__ == "__main__":
    main()
