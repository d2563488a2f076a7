"""A small real encoder is trained, killed, resumed, exported, saved and served without torch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import killed_fit
from run_cases import HEADER, planted_store
from sentinel_sql.monitor import bundle
from sentinel_sql.monitor.encoders.drift import drift
from sentinel_sql.monitor.encoders.text import Text
from sentinel_sql.monitor.heads.encoder import EncoderHead, FittedEncoderHead
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.monitor.snapshots import ReadRun, Task, fit_heads, read_run, score_prefixes
from sentinel_sql.pipeline.fit import fit
from tiny_encoder import make_encoder

MADE, POOLS, LABELS = planted_store(240, seed=5)


@pytest.fixture(scope="module")
def read() -> list[ReadRun]:
    return [read_run(run, head=EncoderHead()) for run in MADE]


@pytest.fixture(scope="module")
def trunk(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> EncoderHead:
    return EncoderHead(
        encoder=str(tiny_encoder),
        shared_trunk=True,
        epochs=10,
        batch=16,
        learning_rate=3e-3,
        patience=20,
        work=tmp_path_factory.mktemp("work"),
    )


def fitted_pair(head: EncoderHead, read: list[ReadRun]) -> tuple[FittedEncoderHead, ...]:
    """Both heads, fitted on two templates of three."""
    labels = [LABELS[run.question.id] for run in MADE]
    judged = np.array([label.answerable and label.outcome == "answered" for label in labels])
    tasks = (
        Task(
            targets=np.array([not label.answerable for label in labels])[_trained()],
            trained_on=np.ones(len(_trained()), np.bool_),
        ),
        Task(
            targets=np.array([label.correct is True for label in labels])[_trained()],
            trained_on=judged[_trained()],
        ),
    )
    return fit_heads(
        head,
        [read[i] for i in _trained()],
        tasks,
        templates=[POOLS.template_of(MADE[i].question.id) for i in _trained()],
        seed=1,
    )


def _trained() -> list[int]:
    return [i for i in range(len(MADE)) if i % 60 < 40]


@pytest.fixture(scope="module")
def pair(trunk: EncoderHead, read: list[ReadRun]) -> tuple[FittedEncoderHead, ...]:
    return fitted_pair(trunk, read)


@pytest.fixture(scope="module")
def unseen(read: list[ReadRun]) -> list[ReadRun]:
    return [run for i, run in enumerate(read) if i % 60 >= 40]


def test_shared_encoder_learns_two_planted_signals(
    pair: tuple[FittedEncoderHead, ...], unseen: list[ReadRun]
) -> None:
    labels = [LABELS[run.question.id] for i, run in enumerate(MADE) if i % 60 >= 40]
    last = np.cumsum([len(run.scoring) for run in unseen]) - 1
    unanswerable, correct = (score_prefixes(head, unseen)[last] for head in pair)
    judged = np.array([label.answerable and label.outcome == "answered" for label in labels])
    assert roc_auc_score([not label.answerable for label in labels], unanswerable) > 0.95
    truly = np.array([label.correct is True for label in labels])
    assert roc_auc_score(truly[judged], correct[judged]) > 0.95


def test_two_heads_on_one_trunk_need_one_pass(
    pair: tuple[FittedEncoderHead, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    network = pair[0].encoder._network
    real = network.vectors
    monkeypatch.setattr(
        type(network), "vectors", lambda _, rows: passes.append(len(rows)) or real(rows)
    )
    text = [Text(question="QUESTION: was this one never asked before?")]
    assert pair[0].score(text) != pair[1].score(text)
    assert passes == [1]


@pytest.mark.parametrize("serve", ["onnx", "onnx-int8"])
def test_graph_scores_equal_torch_scores(
    serve: str,
    trunk: EncoderHead,
    pair: tuple[FittedEncoderHead, ...],
    read: list[ReadRun],
    unseen: list[ReadRun],
) -> None:
    served = fitted_pair(replace(trunk, serve=serve), read)  # type: ignore[arg-type]
    # From one token to the longest that this encoder reads, across its local attention window.
    lengths = [Text(question="QUESTION: " + "so " * count) for count in (0, 1, 60, 130, 600)]
    texts = [*(text for run in unseen[:20] for text in run.scoring), *lengths]
    for torch_head, graph_head in zip(pair, served, strict=True):
        apart = np.abs(torch_head.score(texts) - graph_head.score(texts)).max()
        assert apart <= (1e-3 if serve == "onnx" else 0.05)
        told = graph_head.facts()["drift"]
        assert told["snapshots"] == 64
        assert 0 <= told["mean"] <= told["largest"] <= (1e-3 if serve == "onnx" else 0.05)
    assert drift(pair, pair, texts)["largest"] == 0.0


def test_distilbert_can_be_trained_and_exported(
    planted_texts: list[str], tiny_encoder: Path, tmp_path: Path, read: list[ReadRun]
) -> None:
    folder = make_encoder(tmp_path / "distil", planted_texts, family="distilbert", width=32)
    texts = [run.training[-1] for run in read[:40]]
    targets = np.arange(40) % 2 == 0
    head = EncoderHead(encoder=str(folder), epochs=1, batch=16, work=tmp_path / "work")
    by_torch, by_graph = (
        replace(head, serve=serve).fit(texts, targets, groups=np.arange(40), seed=1)  # type: ignore[arg-type]
        for serve in ("torch", "onnx")
    )
    assert by_torch.encoder.description.limit == 512
    assert np.abs(by_torch.score(texts) - by_graph.score(texts)).max() <= 1e-3


@pytest.mark.slow
def test_resumed_fit_equals_an_uninterrupted_fit(tiny_encoder: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    command = [sys.executable, killed_fit.__file__, str(tiny_encoder), str(work)]
    tests = str(Path(killed_fit.__file__).parent)
    threads = {"OMP_NUM_THREADS": str(_threads()), "PYTHONPATH": tests}
    ended = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, timeout=300)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-2000:]

    kept = [path for path in work.rglob("checkpoint-*/*") if path.is_file()]
    assert {path.suffix for path in kept} == {".json", ".safetensors"}

    steps: list[int] = []
    finished = killed_fit.fit(str(tiny_encoder), work, 1, lambda *at: steps.append(at[1]))
    assert steps == []  # the first fit was over, and is only read again
    resumed = killed_fit.fit(str(tiny_encoder), work, 2, lambda *at: steps.append(at[1]))
    assert 0 < steps[0] <= killed_fit.KILLED_AT
    assert steps[0] > 1

    texts = killed_fit.cases()[0]
    for seed, its in ((1, finished), (2, resumed)):
        undisturbed = killed_fit.fit(str(tiny_encoder), None, seed)
        assert np.abs(undisturbed.score(texts) - its.score(texts)).max() <= 1e-6
        assert undisturbed.facts()["steps"] == its.facts()["steps"]
    assert not list(work.rglob("checkpoint-*"))


def _threads() -> int:
    import torch

    return torch.get_num_threads()


@pytest.fixture(scope="module")
def monitor(
    trunk: EncoderHead, pair: tuple[FittedEncoderHead, ...], read: list[ReadRun]
) -> Monitor:
    """A monitor whose heads are a shared trunk, served by a graph."""
    plain = fit(MADE, POOLS, LABELS, HEADER, head="ngrams")
    kind = replace(trunk, serve="onnx-int8")
    answerability, correctness = fitted_pair(kind, read)
    return replace(
        plain,
        estimators=replace(
            plain.estimators, head=kind, answerability=answerability, correctness=correctness
        ),
    )


def test_bundle_stores_a_shared_network_once(monitor: Monitor, tmp_path: Path) -> None:
    bundle.save(monitor, tmp_path / "monitor")
    files = [path for path in (tmp_path / "monitor").rglob("*") if path.is_file()]
    assert len([path for path in files if path.name == "model.onnx"]) == 1
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)
    manifest = json.loads((tmp_path / "monitor" / bundle.MANIFEST).read_bytes())
    assert manifest["settings"]["shared_trunk"] is True
    assert "work" not in manifest["settings"]

    loaded = bundle.load(tmp_path / "monitor")
    assert loaded.estimators.head == monitor.estimators.head
    assert loaded.estimators.answerability.encoder is loaded.estimators.correctness.encoder
    for run in MADE[:10]:
        assert list(loaded.replay(run)) == list(monitor.replay(run))
    bundle.save(loaded, tmp_path / "monitor")  # over itself
    again = bundle.load(tmp_path / "monitor")
    assert list(again.replay(MADE[11])) == list(monitor.replay(MADE[11]))


def test_damaged_weights_are_refused_in_one_line(monitor: Monitor, tmp_path: Path) -> None:
    bundle.save(monitor, tmp_path / "monitor")
    path = tmp_path / "monitor" / "answerability" / "model.onnx"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(bundle.BundleError, match=r"model\.onnx is damaged"):
        bundle.load(tmp_path / "monitor")
    path.unlink()
    with pytest.raises(bundle.BundleError, match=r"can't read .*model.onnx"):
        bundle.load(tmp_path / "monitor")


def test_graph_is_served_without_torch_or_transformers(monitor: Monitor, tmp_path: Path) -> None:
    bundle.save(monitor, tmp_path / "monitor")
    script = """
import sys
class Absent:
    def find_spec(self, name, *_):
        if name in ("torch", "transformers", "onnx", "accelerate", "safetensors"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from sentinel_sql.monitor import bundle
from run_cases import planted_store
loaded = bundle.load(sys.argv[1])
for run in planted_store(4, seed=5)[0]:
    print(*(told.raw_correct for told in loaded.replay(run)))
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(killed_fit.__file__).parent)}
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "monitor")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    expected = [[each.raw_correct for each in monitor.replay(run)] for run in MADE[:4]]
    assert len(told.stdout.splitlines()) == 4
    for line, scores in zip(told.stdout.splitlines(), expected, strict=True):
        assert [float(score) for score in line.split()] == pytest.approx(scores, abs=1e-6)


@pytest.mark.slow
def test_finished_fit_is_reused_from_its_work_folder(tiny_encoder: Path, tmp_path: Path) -> None:
    made, pools, labels = planted_store(120, seed=8)
    told: list[str] = []
    head = EncoderHead(
        encoder=str(tiny_encoder),
        shared_trunk=True,
        epochs=1,
        batch=32,
        work=tmp_path / "work",
        on_progress=lambda what, _done, _total: told.append(what.split()[0]),
    )
    first = fit(made, pools, labels, HEADER, head=head)
    assert set(told) == {"training", "scoring"}
    assert len(list((tmp_path / "work").iterdir())) == first.facts["folds"] + 1
    told.clear()
    second = fit(made, pools, labels, HEADER, head=head)
    assert set(told) == {"scoring"}
    assert second.facts == first.facts
    assert second.thresholds == first.thresholds
    assert first.facts["chosen"]["correctness"]["precision"] == "fp32"
