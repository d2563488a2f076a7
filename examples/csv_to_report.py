"""From questions in a CSV file to a report, with the public names alone.

`python examples/csv_to_report.py [FOLDER]` does it with a made-up model in the place of yours.
"""

from __future__ import annotations

import sys
from pathlib import Path

import sentinel_sql as sentinel
import ward
from sentinel_sql.testing import ScriptedModel


def main(folder: Path) -> Path:
    """Run the whole loop in a folder, and return the page of the report."""
    ward.write(folder)
    with sentinel.open_database(folder / "ward.sqlite", clock="2100-12-31 23:59:00") as db:
        model = ScriptedModel(ward.chat)  # yours: sentinel.OpenAIModel(base_url=…, model=…)
        prompt = sentinel.Prompt.build(db.schema, db.clock)
        agent = sentinel.ReactAgent(model=model, database=db, prompt=prompt)

        questions = sentinel.read_questions(folder / "questions.csv")
        pools = sentinel.make_pools(questions, seed=42)
        sentinel.collect(questions, agent, db, store=folder / "runs")
        labels = sentinel.label_runs(folder / "runs", questions, db)
    monitor = sentinel.fit(folder / "runs", pools, labels)
    sentinel.save_monitor(monitor, folder / "monitor")
    evaluation = sentinel.evaluate(folder / "monitor", folder / "runs", pools, labels)
    evaluation.save(folder / "evaluation")
    sentinel.write_report(evaluation, folder / "report")
    return folder / "report" / "report.html"


if __name__ == "__main__":
    print(f"open {main(Path(sys.argv[1] if len(sys.argv) > 1 else 'ward-report'))} in a browser")
