"""Probes beside runs: the agent never notices, the monitor never needs a database."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.database.probes.probe import PROBE_LIMITS, Prober
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import StoreError
from sentinel_sql.pipeline.collect import collect
from sentinel_sql.pipeline.probe import probe_store, with_probes
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, ScriptedModel, tiny_database
from sentinel_sql.trajectory.codec import decode, encode
from sentinel_sql.trajectory.record import Observation, Probes, Trajectory
from sentinel_sql.trajectory.render import render
from sentinel_sql.trajectory.store import read_manifest, read_trajectories

JOIN = (
    "SELECT COUNT(*) FROM patients p JOIN admissions a ON a.subject_id = p.subject_id "
    "JOIN prescriptions r ON r.hadm_id = a.hadm_id WHERE r.drug = 'heprin'"
)
TURNS = [
    f"THOUGHT: look\nSQL: {JOIN}",
    "SQL: SELECT oops",
    "FINAL_SQL: SELECT MAX(dob) FROM patients",
]
QUESTIONS = [Question(id=f"q{n}", text=f"How many, {n}?", answerable=True) for n in range(6)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tiny_database(tmp_path / "tiny.sqlite")


@pytest.fixture
def prober(path: Path) -> Iterator[Prober]:
    # Time enough on any machine: what a busy one can't tell in time is another test's.
    limits = replace(PROBE_LIMITS, seconds=60.0)
    with SqliteDatabase.open(path, clock=CLOCK, limits=limits) as opened:
        yield Prober(opened, seconds=600.0)


def run_agent(path: Path, store: Path, prober: Prober | None) -> list[str]:
    """Collect, and return all that the model was sent, byte for byte."""
    heard: list[str] = []

    def script(messages: list[dict[str, str]]) -> str:
        heard.append(json.dumps(messages))
        return TURNS[sum(m["role"] == "assistant" for m in messages) % len(TURNS)]

    with SqliteDatabase.open(path, clock=CLOCK) as database:
        agent = ReactAgent(
            model=ScriptedModel(script),  # type: ignore[arg-type]
            database=database,
            prompt=Prompt.build(database.schema, database.clock, examples=[]),
        )
        collect(QUESTIONS, agent, database, store=store, workers=1, prober=prober)
    return heard


def unprobed(run: Trajectory) -> bytes:
    steps = [
        step.model_copy(update={
            "observation": step.observation.model_copy(update={"probes": None}), "seconds": None,
        })
        for step in run.steps
    ]  # fmt: skip
    return encode(run.model_copy(update={"steps": tuple(steps)}))


def test_the_agent_s_transcripts_are_the_same_byte_for_byte(
    path: Path, tmp_path: Path, prober: Prober
) -> None:
    assert run_agent(path, tmp_path / "off", None) == run_agent(path, tmp_path / "on", prober)
    off, on = (list(read_trajectories(tmp_path / name)) for name in ("off", "on"))
    assert [unprobed(run) for run in off] == [unprobed(run) for run in on]
    first, failed, last = on[0].steps
    assert first.observation.probes is not None
    assert first.observation.probes.chain == (3, 3, 0)
    assert first.observation.probes.nearest[0].value == "heparin"
    assert failed.observation.probes is None
    assert last.observation.probes == Probes(chain=(3,), nulls=(0.0,), lookups=0)
    assert all(step.observation.probes is None for run in off for step in run.steps)
    assert render(on[0].prefix(3)) == render(off[0].prefix(3)), "heads read the same text"


def test_recorded_runs_are_probed_into_a_new_store_that_goes_on(
    path: Path, tmp_path: Path, prober: Prober
) -> None:
    run_agent(path, tmp_path / "old", None)
    before = (tmp_path / "old" / "trajectories.jsonl").read_bytes()
    manifest = read_manifest(tmp_path / "old")

    def dies(done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probe_store(tmp_path / "old", prober, store=tmp_path / "new", on_progress=dies)
    assert len(list(read_trajectories(tmp_path / "new"))) == 2
    made = probe_store(tmp_path / "old", prober, store=tmp_path / "new")
    assert (made.probed, made.already_there, made.steps) == (4, 2, 8)
    assert made.found == {"with a chain of joins": 4, "a text that no row has": 4}
    assert (tmp_path / "old" / "trajectories.jsonl").read_bytes() == before
    assert read_manifest(tmp_path / "new") == manifest
    old, new = (list(read_trajectories(tmp_path / name)) for name in ("old", "new"))
    assert new == [with_probes(run, prober) for run in old]
    records = tmp_path / "new" / "trajectories.jsonl"
    assert stat.S_IMODE(records.stat().st_mode) == 0o600


def test_probes_survive_the_disk_and_older_records_have_none(path: Path, prober: Prober) -> None:
    observation = Observation(kind="rows", rows=1, columns=1)
    assert observation.probes is None
    assert Observation.model_validate({"kind": "empty"}).probes is None
    probes = Probes(chain=(4, None, 8, 2), nulls=(0.5, None), lookups=None)
    assert probes.fan_out == 0.25
    assert Probes(chain=(4, 8)).fan_out == 2.0
    assert Probes(chain=(0, 0)).fan_out is None
    kept = observation.model_copy(update={"probes": probes})
    assert Observation.model_validate_json(kept.model_dump_json()) == kept
    with SqliteDatabase.open(path, clock=CLOCK) as database:
        agent = ReactAgent(
            model=ScriptedModel(TURNS), database=database,
            prompt=Prompt.build(database.schema, database.clock, examples=[]),
        )  # fmt: skip
        run = with_probes(agent.run(QUESTIONS[0]), prober)
    assert decode(encode(run), where="here") == run


def test_runs_of_another_database_or_clock_are_refused(
    path: Path, tmp_path: Path, prober: Prober
) -> None:
    run_agent(path, tmp_path / "old", None)
    with pytest.raises(StoreError, match="give a new store with --store"):
        probe_store(tmp_path / "old", prober, store=tmp_path / "old")
    with (
        SqliteDatabase.open(path, clock="2099-01-01 00:00:00") as other,
        pytest.raises(StoreError, match=r"recorded at the clock 2100.*--clock '2100"),
    ):
        probe_store(tmp_path / "old", Prober(other), store=tmp_path / "new")
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as made:
        made.execute("CREATE TABLE patients (x INT)")
    with (
        SqliteDatabase.open(tmp_path / "x.sqlite", clock=CLOCK) as other,
        pytest.raises(StoreError, match="another schema"),
    ):
        probe_store(tmp_path / "old", Prober(other), store=tmp_path / "new")
    assert not (tmp_path / "new").exists()
