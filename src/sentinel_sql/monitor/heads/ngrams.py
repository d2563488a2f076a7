"""Hashed n-grams of a text: words, word pairs, and 3- to 5-letter pieces of words.

The vocabulary is a fixed number of buckets, so there is no vocabulary to learn or store, and no
unknown word. The counts of a text are the sum of the counts of its segments, so a new step costs
time for its own text only. Pieces stay within a word and pairs within a segment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.trajectory.render import TOKEN

BUCKETS = 1 << 18
PIECES = (3, 4, 5)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """How often each bucket occurs: `buckets` ascending int32, `counts` int32 of the same shape."""

    buckets: NDArray[np.int32]
    counts: NDArray[np.int32]


def count_ngrams(text: str) -> Counts:
    """Count the hashed n-grams of one segment of text, in lower case."""
    words = [match.group() for match in TOKEN.finditer(text.lower())]
    if not words:
        return _tally([])
    return _tally([*(_hash_word(word)[1] for word in words), _hash_pairs(words)])


@lru_cache(maxsize=4_096)  # each prefix of a run repeats the segments of the one before
def name_ngrams(text: str) -> Mapping[int, tuple[str, ...]]:
    """Return the n-grams of one segment by bucket: words, `a b` pairs, and pieces as `…ece…`."""
    words = [match.group() for match in TOKEN.finditer(text.lower())]
    named: dict[int, dict[str, None]] = {}
    for word in dict.fromkeys(words):
        for bucket, shown in _name_word(word):
            named.setdefault(bucket, {})[shown] = None
    for left, right, bucket in zip(words, words[1:], _hash_pairs(words).tolist(), strict=False):
        named.setdefault(bucket, {})[f"{left} {right}"] = None
    return {bucket: tuple(names) for bucket, names in named.items()}


def add_counts(parts: list[Counts]) -> Counts:
    """Sum the counts of several segments."""
    if len(parts) == 1:
        return parts[0]
    buckets, where = np.unique(
        np.concatenate([part.buckets for part in parts]), return_inverse=True
    )
    counts = np.bincount(where, np.concatenate([part.counts for part in parts]), len(buckets))
    return Counts(buckets=buckets, counts=counts.astype(np.int32))


def word_ngrams(word: str) -> dict[str, int]:
    """Return the n-grams of one word with their buckets: the word itself and its pieces."""
    padded = f" {word} "
    grams = [f"={word}"]
    grams += [
        padded[at : at + size] for size in PIECES for at in range(max(0, len(padded) - size + 1))
    ]
    return {gram: crc32(gram.encode()) % BUCKETS for gram in grams}


@lru_cache(maxsize=50_000)
def _hash_word(word: str) -> tuple[int, NDArray[np.int32]]:
    # Transcripts share most of their words, so nearly every look-up is a hit.
    return crc32(word.encode()), np.fromiter(word_ngrams(word).values(), dtype=np.int32)


@lru_cache(maxsize=50_000)
def _name_word(word: str) -> tuple[tuple[int, str], ...]:
    """Return (bucket, display text) of each n-gram of one word."""
    return tuple(
        (bucket, gram[1:] if gram.startswith("=") and gram[1:] == word else _show_piece(gram))
        for gram, bucket in word_ngrams(word).items()
    )


def _hash_pairs(words: list[str]) -> NDArray[np.int32]:
    hashes = np.array([_hash_word(word)[0] for word in words], dtype=np.uint64)
    mixed = (hashes[:-1] * np.uint64(0x9E3779B1) + hashes[1:]) * np.uint64(0x85EBCA6B)
    return ((mixed >> np.uint64(16)) % np.uint64(BUCKETS)).astype(np.int32)


def _show_piece(gram: str) -> str:
    return f"{'' if gram[0] == ' ' else '…'}{gram.strip()}{'' if gram[-1] == ' ' else '…'}"


def _tally(parts: list[NDArray[np.int32]]) -> Counts:
    if not parts:
        return Counts(buckets=np.empty(0, np.int32), counts=np.empty(0, np.int32))
    buckets, counts = np.unique(np.concatenate(parts), return_counts=True)
    return Counts(buckets=buckets, counts=counts.astype(np.int32))
