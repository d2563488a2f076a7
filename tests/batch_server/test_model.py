"""The batch server's model: shared prefixes, pieces and batches change nothing but the speed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.batch_server.tiny_model import SIZES, plain_logits, tiny_model, tiny_weights
from tools.batch_server.attention import attend, causal_mask, join
from tools.batch_server.chat_cache import ChatCache
from tools.batch_server.linear_layers import LINEARS
from tools.batch_server.model import Piece

CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}


@given(seed=st.integers(0, 2**20), first=st.integers(1, 70), second=st.integers(1, 70))
@settings(max_examples=30, deadline=None)
def test_two_parts_joined_are_plain_attention_over_both(seed: int, first: int, second: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    queries = torch.randn(2, 5, 16, generator=generator) * 3
    keys, values = torch.randn(2, 2, first + second, 16, generator=generator).unbind(0)
    parts = [
        attend(queries, keys[:, part], values[:, part])
        for part in (slice(first), slice(first, None))
    ]
    plain = torch.softmax(queries @ keys.transpose(1, 2) / 4, -1) @ values
    torch.testing.assert_close(join(*parts[0], *parts[1]), plain, **CLOSE)


def test_new_tokens_see_the_past_and_not_the_future() -> None:
    mask = causal_mask(read=2, new=3, group=2)
    assert (mask == 0).sum(1).tolist() == [3, 3, 4, 4, 5, 5]
    assert set(mask.unique().tolist()) == {0.0, float("-inf")}


@given(seed=st.integers(0, 2**20), data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_chat_read_in_pieces_over_a_prefix_is_the_chat_read_at_once(
    seed: int, data: st.DataObject
) -> None:
    tokens = np.random.default_rng(seed).integers(0, 256, 60).astype(np.int32)
    model, weights = tiny_model(), tiny_weights()
    shared = data.draw(st.integers(0, 40))
    cuts = sorted({shared, *data.draw(st.lists(st.integers(shared, 60))), 60})
    start = ChatCache(SIZES)
    if shared:
        model.read([Piece(cache=start, tokens=tokens[:shared])])
    cache = ChatCache(SIZES, start.as_prefix(shared)) if shared else start
    for begin, end in itertools.pairwise(cuts):
        states = model.read([Piece(cache=cache, tokens=tokens[begin:end])])
    plain = plain_logits(tokens.tolist(), weights)
    torch.testing.assert_close(model.logits(states)[0], plain[-1], **CLOSE)
    assert cache.tokens.tolist() == tokens.tolist()


def test_chats_of_several_prefixes_in_one_step_are_the_chats_alone() -> None:
    model, weights = tiny_model(), tiny_weights()
    draw = np.random.default_rng(1)
    starts = [draw.integers(0, 256, length).astype(np.int32) for length in (0, 20, 33)]
    pieces, wholes = [], []
    for number in range(7):
        start = starts[number % 3]
        prefix = None
        if len(start):
            reader = ChatCache(SIZES)
            model.read([Piece(cache=reader, tokens=start)])
            prefix = reader.as_prefix(len(start))
        tokens = draw.integers(0, 256, 1 + number).astype(np.int32)
        pieces.append(Piece(cache=ChatCache(SIZES, prefix), tokens=tokens))
        wholes.append([*start.tolist(), *tokens.tolist()])
    logits = model.logits(model.read(pieces))
    for row, whole in zip(logits, wholes, strict=True):
        torch.testing.assert_close(row, plain_logits(whole, weights)[-1], **CLOSE)


def test_a_chat_that_was_cut_or_copied_goes_on_as_if_it_had_never_read_more() -> None:
    model, weights = tiny_model(), tiny_weights()
    tokens = np.arange(50, dtype=np.int32)
    other = np.arange(90, 100, dtype=np.int32)
    cache = ChatCache(SIZES)
    model.read([Piece(cache=cache, tokens=tokens)])
    twin = cache.copied(30)
    cache.cut(20)
    logits = model.logits(
        model.read([Piece(cache=twin, tokens=other), Piece(cache=cache, tokens=other)])
    )
    for row, kept in zip(logits, (30, 20), strict=True):
        plain = plain_logits([*tokens[:kept].tolist(), *other.tolist()], weights)
        torch.testing.assert_close(row, plain[-1], **CLOSE)


@pytest.mark.parametrize(("name", "error"), [("fp32", 1e-5), ("bf16", 0.01), ("int8", 0.02)])
def test_each_precision_errs_by_no_more_than_its_digits_allow(name: str, error: float) -> None:
    if name == "bf16" and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("this processor has no bfloat16 products in oneDNN")
    draw = torch.Generator().manual_seed(0)
    weight, inputs = torch.randn(48, 64, generator=draw), torch.randn(9, 64, generator=draw)
    exact = inputs.double() @ weight.double().T
    off = (LINEARS[name](weight)(inputs) - exact).pow(2).mean().sqrt()
    assert off / exact.pow(2).mean().sqrt() < error
