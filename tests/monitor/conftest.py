"""The small encoder that several modules of this room's tests start from, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from made_once import made_once
from run_cases import planted_store
from tiny_encoder import make_encoder


@pytest.fixture(scope="session")
def planted_texts() -> list[str]:
    from sentinel_sql.trajectory.render import render

    made, _, _ = planted_store(180, seed=5)
    return [render(run.prefix(len(run.steps))) for run in made]


@pytest.fixture(scope="session")
def tiny_encoder(planted_texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three layers, 512 tokens, untrained; tests that need it skip where the extra is missing."""
    for name in ("torch", "transformers", "accelerate", "onnx", "onnxruntime"):
        pytest.importorskip(name, reason="needs the extra `encoders`")

    def make(folder: Path) -> None:
        folder.mkdir()
        make_encoder(folder, planted_texts, layers=3, width=32, longest=512)

    return made_once(tmp_path_factory, "tiny_encoder", make)
