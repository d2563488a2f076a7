"""Packing recorded runs, and what holds for the recordings that are bundled."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hospital_runs import ended_live_and_replayed
from sentinel_sql.errors import StoreError
from sentinel_sql.hospital.recordings import bundled, confidences, provenance, recording
from sentinel_sql.pipeline.demo import DemoFolder
from sentinel_sql.rivals.confidences import (
    RECORDS,
    Confidence,
    ConfidencesManifest,
    ConfidenceStore,
    answer_hash,
    read_confidences,
)
from sentinel_sql.trajectory.store import read_trajectories

RECORDINGS_LIMIT = 12 * 2**20


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "pack_recordings.py"
    spec = importlib.util.spec_from_file_location("pack_recordings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def runs(recorded_runs: Path) -> Path:
    return recorded_runs


def packed(tool: ModuleType, runs: Path, into: Path, *more: str) -> int:
    (model := into.parent / "model.gguf").write_bytes(b"weights")
    arguments: Sequence[str] = (
        *(str(runs), "--into", str(into), "--model-file", str(model)),
        *("--quantization", "Q4_K_M", "--server", "a server 1.0"),
        *("--days", "2026-11-30/2026-12-01"),
        *(more if "--name" in more else ("--name", "guided", *more)),
    )
    code: int = tool.main(arguments)
    return code


def test_equal_runs_in_any_order_give_equal_bytes(
    tool: ModuleType, runs: Path, tmp_path: Path
) -> None:
    shuffled = tmp_path / "shuffled.jsonl"
    shuffled.write_text("\n".join(reversed(runs.read_text().splitlines())) + "\n")
    folders = [tmp_path / "one", tmp_path / "two"]
    for source, folder in zip((runs, shuffled), folders, strict=True):
        assert packed(tool, source, folder) == 0
    one, two = ({f.name: f.read_bytes() for f in folder.iterdir()} for folder in folders)
    assert one == two
    assert set(one) == {"guided.jsonl.gz", "provenance.json"}


def test_recording_keeps_every_run_and_its_origin(
    tool: ModuleType, runs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "recordings"
    packed(tool, runs, folder)
    packed(tool, runs, folder, "--name", "plain")
    assert list(bundled(folder)) == ["guided", "plain"]
    kept = list(read_trajectories(recording("guided", folder)))
    assert {run.question.id: run for run in kept} == {
        run.question.id: run for run in read_trajectories(runs)
    }
    known = provenance(folder)["guided"]
    assert known["runs"] == len(kept)
    assert sum(known["outcomes"].values()) == len(kept)
    assert known["model_sha256"] == hashlib.sha256(b"weights").hexdigest()
    assert known["agent"]["prompt_sha256"] == kept[0].agent.prompt_sha256
    assert set(provenance(folder)) == {"guided", "plain"}


def said_of(runs: Path, store: Path, *, answer: str | None = None) -> Path:
    answered = [run for run in read_trajectories(runs) if run.outcome.kind == "answered"]
    manifest = ConfidencesManifest(agent=answered[0].agent)
    with ConfidenceStore.open(store, manifest=manifest) as opened:
        for run in reversed(answered):
            opened.append(
                Confidence(
                    run=run.question.id,
                    answer=answer or answer_hash(run),
                    method="verbalized",
                    score=0.5,
                    calls=1,
                    seconds=1.0,
                )
            )
    return store


def test_confidences_are_packed_with_their_runs(
    tool: ModuleType, runs: Path, tmp_path: Path
) -> None:
    said = said_of(runs, tmp_path / "said")
    folder = tmp_path / "recordings"
    assert packed(tool, runs, folder, "--confidences", str(said)) == 0
    kept = confidences("guided", folder)
    assert kept is not None
    assert confidences("plain", folder) is None
    there, before = read_confidences(kept), read_confidences(said)
    assert there[0] == before[0]
    assert there[1] == sorted(before[1], key=lambda one: one.run)
    known = provenance(folder)["guided"]["confidences_sha256"]
    assert known == hashlib.sha256((kept / RECORDS).read_bytes()).hexdigest()


def test_confidences_of_other_answers_are_not_packed(
    tool: ModuleType, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_of(runs, tmp_path / "said", answer="another")
    assert packed(tool, runs, tmp_path / "out", "--confidences", str(said)) == StoreError.exit_code
    assert "other answers" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"question": {"id": "stranger"}}, "stranger"),
        ({"question": {"text": "another text"}}, "benchmark"),
        ({"question": {"clock": "2001-01-01 00:00:00"}}, "benchmark"),
        ({"agent": {"model": "another"}}, "2 agents"),
    ],
)
def test_runs_of_other_questions_or_several_agents_are_not_packed(
    change: dict[str, Any],
    named: str,
    tool: ModuleType,
    runs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = [json.loads(line) for line in runs.read_text().splitlines()[:3]]
    for part, values in change.items():
        lines[1][part] |= values
    spoiled = tmp_path / "spoiled.jsonl"
    spoiled.write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert packed(tool, spoiled, tmp_path / "out") == StoreError.exit_code
    assert named in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_missing_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="'guided'"):
        recording("guided", tmp_path)
    assert provenance(tmp_path) == {}


def test_every_bundled_recording_agrees_with_its_provenance() -> None:
    known = provenance()
    assert set(known) == set(bundled())
    for name, path in bundled().items():
        content = gzip.decompress(path.read_bytes())
        assert hashlib.sha256(content).hexdigest() == known[name]["sha256"]
        runs = list(read_trajectories(path))
        assert len(runs) == known[name]["runs"]
        assert {run.agent.fingerprint for run in runs} == {known[name]["fingerprint"]}
        if (said := confidences(name)) is not None:
            manifest, records = read_confidences(said)
            assert manifest.agent == runs[0].agent
            answers = {run.question.id: answer_hash(run) for run in runs}
            assert all(answers[record.run] == record.answer for record in records)
            digest = hashlib.sha256((said / RECORDS).read_bytes()).hexdigest()
            assert digest == known[name]["confidences_sha256"]
    assert sum(path.stat().st_size for path in bundled().values()) <= RECORDINGS_LIMIT


@pytest.mark.parametrize("each", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_live_guard_ends_bundled_runs_as_the_evaluation_does(
    bundled_demo: DemoFolder, each: int
) -> None:
    for early_stop in (False, True):
        live, replayed = ended_live_and_replayed(
            bundled_demo, stakes=1.0, early_stop=early_stop, each=each
        )
        assert live == replayed
        assert len(live) >= 900 / each
