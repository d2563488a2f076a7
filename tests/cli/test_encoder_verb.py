"""An encoder is fitted, saved and used by the command like any other head."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_project import Project, Sentinel
from tiny_encoder import make_encoder


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    for name in ("torch", "transformers", "accelerate", "onnx", "onnxruntime"):
        pytest.importorskip(name, reason="needs the extra `encoders`")
    texts = ["how many patients?", "SELECT COUNT(*) FROM patients", "RESULT: 1 rows x 1 cols"]
    return make_encoder(tmp_path / "encoder", texts, layers=1, width=16, longest=128)


@pytest.mark.slow
def test_an_encoder_on_a_shared_trunk_is_fitted_served_and_shown(
    sentinel: Sentinel, fitted: Project, encoder: Path, tmp_path: Path
) -> None:
    monitor = tmp_path / "monitor"
    made = sentinel(
        *("fit", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--out", monitor, "--head", "encoder", "--encoder", encoder, "--shared-trunk"),
        *("--serve", "onnx-int8", "--work", tmp_path / "work", "--epochs", 1, "--batch", 32),
        "--json",
    )
    assert made.code == 0, made.err
    told = made.document
    assert told["head"] == "encoder"
    drift = told["facts"]["chosen"]["correctness"]["drift"]
    assert 0 <= drift["mean"] <= drift["largest"] < 0.1
    assert made.err == ""
    checked = sentinel("doctor", "--monitor", monitor, "--json")
    assert checked.code == 0, checked.err


def test_options_of_another_head_are_refused_before_any_work(
    sentinel: Sentinel, fitted: Project, tmp_path: Path
) -> None:
    for option in (("--shared-trunk",), ("--epochs", 2), ("--serve", "onnx"), ("--encoder", "x")):
        told = sentinel(
            *("fit", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
            *("--out", tmp_path / "monitor", *option),
        )
        assert told.code == 2
        assert "the head linear has no setting" in told.err
        assert told.err.count("\n") == 1
