"""Hashed n-grams: what they fold, what they keep apart, and that counts add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.monitor.heads.ngrams import add_counts, count_ngrams, word_ngrams


@given(st.text(alphabet="abcXYZ 'é1_", max_size=60))
def test_upper_and_lower_case_count_as_equal(text: str) -> None:
    upper, lower = count_ngrams(text.upper()), count_ngrams(text.upper().lower())
    assert np.array_equal(upper.buckets, lower.buckets)
    assert np.array_equal(upper.counts, lower.counts)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_counts_of_segments_add_up_in_any_order(segments: list[str]) -> None:
    parts = [count_ngrams(segment) for segment in segments]
    forwards, backwards = add_counts(parts), add_counts(parts[::-1])
    assert np.array_equal(forwards.buckets, backwards.buckets)
    assert np.array_equal(forwards.counts, backwards.counts)
    assert forwards.counts.sum() == sum(part.counts.sum() for part in parts)


@given(st.text(alphabet="abcdefg", min_size=1, max_size=12))
def test_all_pieces_of_a_word_are_counted(word: str) -> None:
    buckets = set(word_ngrams(word).values())
    assert buckets == set(count_ngrams(word).buckets.tolist())


def test_word_order_matters() -> None:
    one, other = count_ngrams("death before discharge"), count_ngrams("discharge before death")
    assert not np.array_equal(one.buckets, other.buckets)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_text_without_a_word_has_no_ngram(text: str) -> None:
    found = count_ngrams(text)
    assert (found.buckets.tolist(), found.counts.tolist()) == ([], [])
    assert (found.buckets.dtype, found.counts.dtype) == (np.int32, np.int32)
