"""A graph's own attention is the library's, to the last digits, however long the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.monitor.encoders.attention import attend
from sentinel_sql.monitor.encoders.extras import transformers
from sentinel_sql.monitor.encoders.onnx_export import export
from sentinel_sql.monitor.encoders.onnx_run import OnnxNetwork
from sentinel_sql.monitor.encoders.torch_run import TorchNetwork

torch, onnx, _, _ = (
    pytest.importorskip(name, reason="needs the extra `encoders`")
    for name in ("torch", "onnx", "onnxruntime", "transformers")
)

EDGES = (1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 159, 160, 161, 191, 192, 193)
"""Around the blocks (32) and the windows (64 and 160) of ModernBERT's local layers."""

WORDS = 300
SHAPE = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2, "vocab_size": WORDS}
FAMILIES: dict[str, dict[str, Any]] = {
    "modernbert": {"intermediate_size": 48, "max_position_embeddings": 1100, "pad_token_id": 0},
    "bert": {"intermediate_size": 48},
    "distilbert": {"hidden_dim": 48},
    "roberta": {"intermediate_size": 48, "max_position_embeddings": 514},
    "electra": {"intermediate_size": 48, "embedding_size": 32},
    "bert, causal": {"intermediate_size": 48, "is_decoder": True},
}
FUSED = {"modernbert": 2, "bert": 4, "distilbert": 4, "roberta": 4}
"""How many layers of four attend to the whole text, where our attention is used."""


@given(
    tokens=st.one_of(st.sampled_from((*EDGES, 1000)), st.integers(1, 400)),
    reach=st.one_of(st.just(64), st.integers(0, 90)),
    strength=st.sampled_from((1.0, 40.0)),
    seed=st.integers(0, 999),
)
@settings(max_examples=80, deadline=None)
def test_windowed_attention_equals_masked_full_attention(
    tokens: int, reach: int, strength: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    query, key, value = rng.normal(size=(3, 1, 2, tokens, 8))
    query *= strength  # strong: what is out of reach often scores far above all that is in reach
    scores = np.einsum("bhid,bhjd->bhij", query, key) * 0.3
    places = np.arange(tokens)
    scores[..., np.abs(places[:, None] - places) > reach] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = np.einsum("bhij,bhjd->bihd", weights / weights.sum(-1, keepdims=True), value)
    found, _ = attend(
        None,
        *(torch.from_numpy(its) for its in (query, key, value)),
        None,
        scaling=0.3,
        sliding_window=reach + 1,
    )
    assert found.shape == expected.shape
    assert np.abs(found.numpy() - expected).max() <= 1e-9


def test_graph_equals_torch_at_every_length(family: str, exported: Path) -> None:
    longest = 1000 if family == "modernbert" else 500
    rng = np.random.default_rng(0)
    rows = [rng.integers(5, WORDS, tokens).astype(np.int32) for tokens in (*EDGES, longest)]
    found = OnnxNetwork(exported / "graph" / "model.onnx").vectors(rows)
    reference = TorchNetwork(exported / "source", output="logits")
    expected = np.concatenate([reference.vectors([row]) for row in rows])
    assert np.abs(found - expected).max() <= 2e-5
    assert np.ptp(expected, axis=0).max() > 1e-2


def test_no_layer_of_a_known_family_computes_the_scores_of_all_pairs(
    family: str, exported: Path
) -> None:
    nodes = onnx.load(exported / "graph" / "model.onnx").graph.node
    kinds = [node.op_type for node in nodes]
    whole = FUSED.get(family, 0)
    assert kinds.count("MultiHeadAttention") == whole
    assert kinds.count("Softmax") == 4 - whole
    for node in nodes:  # with a mask the kernel would write them out after all
        assert node.op_type != "MultiHeadAttention" or len(node.input) == 3


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def exported(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small untrained encoder of a family, beside the graph that it was exported to."""
    folder = tmp_path_factory.mktemp("exported")
    library = transformers()
    config = library.AutoConfig.for_model(family.split(",")[0], **SHAPE, **FAMILIES[family])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = library.AutoModelForSequenceClassification.from_config(config)
        for weight in model.parameters():
            if weight.dim() == 2:  # as they come, they are so small that all scores are alike
                torch.nn.init.normal_(weight, std=0.2)
    model.save_pretrained(str(folder / "source"))
    (folder / "source" / "tokenizer.json").write_text("{}")
    export(folder / "source", folder / "graph", runtime="onnx", output="logits", limit=1000)
    return folder
