"""`sentinel collect` samples at the temperature and seed asked for, and records the first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sentinel_sql.cli.main import app
from sentinel_sql.testing import CLOCK, ScriptedEndpoint, tiny_database
from sentinel_sql.trajectory.store import read_trajectories


@pytest.mark.parametrize(
    ("options", "temperature", "seed"),
    [([], 0.0, 0), (["--temperature", "0.7", "--seed", "3"], 0.7, 3)],
)
def test_the_model_samples_as_asked_and_the_run_says_so(
    options: list[str], temperature: float, seed: int, tmp_path: Path
) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text(json.dumps({"id": "a", "question": "How many?"}) + "\n")
    database = str(tiny_database(tmp_path / "tiny.sqlite"))
    with ScriptedEndpoint(["FINAL_SQL: SELECT COUNT(*) FROM prescriptions"]) as endpoint:
        call = ["collect", "--questions", str(questions), "--database", database]
        call += ["--base-url", endpoint.url, "--model", "m", "--store", str(tmp_path / "s")]
        done = CliRunner().invoke(app, [*call, "--clock", CLOCK, *options])
        assert done.exit_code == 0, done.output
        body = endpoint.requests[-1]
    assert (body["temperature"], body["seed"]) == (temperature, seed)
    [run] = read_trajectories(tmp_path / "s")
    assert run.agent.temperature == temperature
