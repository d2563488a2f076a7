"""A bundle whose encoder and weights don't fit each other is refused when it is loaded."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from run_cases import HEADER, planted_store
from sentinel_sql.errors import BundleError, InputError
from sentinel_sql.monitor import bundle
from sentinel_sql.monitor.encoders.frozen import frozen_encoder
from sentinel_sql.monitor.encoders.run import Runtime
from sentinel_sql.monitor.encoders.torch_run import load_classifier
from sentinel_sql.monitor.heads.embedding import EmbeddingHead
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.storage.saved_parts import packed, unpacked
from tiny_encoder import make_encoder


@pytest.fixture(scope="module")
def original(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, pools, labels = planted_store(180, seed=31)
    monitor = fit(made, pools, labels, HEADER, head=EmbeddingHead(encoder=str(tiny_encoder)))
    folder = tmp_path_factory.mktemp("embedding") / "monitor"
    bundle.save(monitor, folder)
    return folder


@pytest.fixture
def saved(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "monitor"))


def seal(folder: Path) -> None:
    """Make every hash of the manifest fit what the folder holds."""
    path = folder / bundle.MANIFEST
    manifest = json.loads(path.read_text())
    for name in manifest["files"]:
        manifest["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(bundle._with_hash(manifest)))


def test_the_untouched_bundle_loads(saved: Path) -> None:
    seal(saved)
    assert bundle.load(saved).estimators.head.name == "embedding"


@pytest.mark.parametrize("name", ["center", "scale", "weights"])
@pytest.mark.parametrize(
    "change",
    [
        lambda column: column[:-3],
        lambda column: np.concatenate([column, column]),
        lambda column: np.where(np.arange(len(column)) == 5, np.nan, column),
        lambda column: column.reshape(3, -1),
    ],
)
def test_weights_that_do_not_fit_the_encoder_are_refused_by_name(
    saved: Path, name: str, change: Callable[[Any], Any]
) -> None:
    arrays = unpacked((saved / "monitor.npz").read_bytes())
    key = f"correctness/{name}"
    (saved / "monitor.npz").write_bytes(packed(arrays | {key: change(arrays[key])}))
    seal(saved)
    with pytest.raises(BundleError, match=rf"correctness: {name}"):
        bundle.load(saved)


def test_weights_of_another_encoder_are_refused(
    saved: Path, planted_texts: list[str], tmp_path: Path
) -> None:
    other = make_encoder(tmp_path / "other", planted_texts, layers=3, width=16, longest=512)
    shutil.copyfile(other / "model.safetensors", saved / "answerability" / "model.safetensors")
    seal(saved)
    with pytest.raises(BundleError, match="damaged") as told:
        bundle.load(saved)
    assert "\n" not in str(told.value)


def test_an_encoder_of_another_width_is_refused(
    saved: Path, planted_texts: list[str], tmp_path: Path
) -> None:
    other = make_encoder(tmp_path / "other", planted_texts, layers=3, width=16, longest=512)
    for name in ("model.safetensors", "config.json"):
        shutil.copyfile(other / name, saved / "answerability" / name)
    seal(saved)
    with pytest.raises(BundleError, match="damaged"):
        bundle.load(saved)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0),
        ("limit", -1),
        ("limit", "512"),
        ("limit", None),
        ("runtime", "jax"),
        ("output", "max"),
    ],
)
def test_an_encoder_that_is_described_wrongly_is_refused(
    saved: Path, name: str, value: object
) -> None:
    path = saved / "answerability" / "encoder.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    seal(saved)
    with pytest.raises(BundleError, match="damaged"):
        bundle.load(saved)


Weights = dict[str, Any]


def _with_nan(weights: Weights) -> Weights:
    name = next(key for key in sorted(weights) if "tok_embeddings" in key)
    weights[name][-1] = np.nan  # of one token that few texts hold
    return weights


WRONG_WEIGHTS: dict[str, tuple[Callable[[Weights], Weights], str]] = {
    "lacking": (lambda its: {key: its[key] for key in sorted(its)[:-3]}, "lacks weights"),
    "of other names": (lambda its: {f"x.{key}": it for key, it in its.items()}, "lacks weights"),
    "no numbers": (_with_nan, "no finite number"),
    "all alike": (lambda its: {key: it * 0 for key, it in its.items()}, "every text the same"),
}


def _with_weights(folder: Path, change: Callable[[Weights], Weights]) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    path = folder / "model.safetensors"
    weights = change({key: it.copy() for key, it in numpy_files.load_file(path).items()})
    numpy_files.save_file(weights, path, metadata={"format": "pt"})


@pytest.mark.parametrize("wrong", WRONG_WEIGHTS)
def test_wrong_weights_of_a_sealed_bundle_are_refused(saved: Path, wrong: str) -> None:
    change, said = WRONG_WEIGHTS[wrong]
    _with_weights(saved / "answerability", change)
    seal(saved)
    with pytest.raises(BundleError, match=said):
        bundle.load(saved)


@pytest.mark.parametrize("wrong", WRONG_WEIGHTS)
def test_an_encoder_with_all_its_files_and_wrong_weights_is_refused_before_a_fit(
    tiny_encoder: Path, tmp_path: Path, wrong: str
) -> None:
    change, said = WRONG_WEIGHTS[wrong]
    folder = Path(shutil.copytree(tiny_encoder, tmp_path / "encoder"))
    _with_weights(folder, change)
    with pytest.raises(InputError, match=said) as caught:
        frozen_encoder(str(folder), serve="torch", limit=512)
    assert str(folder) in str(caught.value)


def test_a_trained_encoder_needs_all_weights_but_those_of_its_last_layer(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    assert load_classifier(tiny_encoder, tasks=2) is not None
    folder = Path(shutil.copytree(tiny_encoder, tmp_path / "encoder"))
    _with_weights(folder, WRONG_WEIGHTS["lacking"][0])
    with pytest.raises(InputError, match="lacks weights"):
        load_classifier(folder, tasks=2)


@pytest.mark.parametrize("served", ["torch", "onnx"])
def test_tokens_that_the_encoder_does_not_know_are_refused(
    tiny_encoder: Path, tmp_path: Path, served: Runtime
) -> None:
    folder = Path(shutil.copytree(tiny_encoder, tmp_path / "encoder"))
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {word: at + 10_000 for word, at in vocabulary.items()}
    path.write_text(json.dumps(tokenizer))
    with pytest.raises(InputError, match="its tokenizer is another's"):
        frozen_encoder(str(folder), serve=served, limit=512)


@pytest.mark.parametrize("wrong", ["nan", "absent"])
def test_encoder_weights_that_are_no_numbers_or_lacking_are_refused(
    saved: Path, wrong: str
) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    path = saved / "answerability" / "model.safetensors"
    weights = numpy_files.load_file(path)
    name = next(key for key in sorted(weights) if "layer" in key and key.endswith("weight"))
    if wrong == "nan":
        weights[name] = np.full_like(weights[name], np.nan)
    else:
        del weights[name]
    numpy_files.save_file(weights, path, metadata={"format": "pt"})
    seal(saved)
    with pytest.raises(BundleError, match="damaged"):
        bundle.load(saved)
