"""Groups the wordings of unanswerable questions: masked, then joined where nearly equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import CountVectorizer

NEARLY_EQUAL = 0.5
"""Jaccard similarity of character 4-grams from which two masked wordings share a template.

Ours: on EHRSQL it joins paraphrases that differ in a word or two, and chains no unlike ones."""

_BLOCK = 1_000
_PAIRS_AT_ONCE = 200_000

_QUOTED = re.compile(r"""(?<!\w)(?:'[^']*'|"[^"]*"|“[^”]*”|‘[^’]*’)(?!\w)""")
_NUMBER = re.compile(r"\d[\d.,:/-]*(?:st|nd|rd|th)?\b|\d")
_REST = re.compile(r"[^\w#]+")


def mask_wording(text: str) -> str:
    """Return the wording in one spelling, with numbers, ids, dates and quoted text as `#`."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    masked = _NUMBER.sub("#", _QUOTED.sub("#", plain))
    masked = re.sub(r"(?:#\W*)+", "# ", re.sub(r"\w*#\w*", "#", masked))
    return _REST.sub(" ", masked).strip() or "#"


def cluster_wordings(wordings: Collection[str]) -> dict[str, str]:
    """Map each masked wording to the name of its cluster, the first of it in the alphabet.

    Clusters are the connected components under `NEARLY_EQUAL`, so the result depends on the
    set of wordings only. Pairs are found by prefix filtering (two sets of Jaccard ≥ t share one
    of their |s| − ⌈t|s|⌉ + 1 rarest grams), block by block: memory stays linear.
    """
    names = sorted(wordings)
    if len(names) < 2:
        return {name: name for name in names}
    padded = [f"^^{name}$$" for name in names]
    counter = CountVectorizer(analyzer="char", ngram_range=(4, 4), binary=True, lowercase=False)
    grams = counter.fit_transform(padded).tocsr().astype(np.int32)
    pairs = [found for found in _similar_pairs(grams) if len(found)]
    edges = np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)
    graph = sp.coo_matrix(
        (np.ones(len(edges), dtype=np.int8), (edges[:, 0], edges[:, 1])),
        shape=(len(names), len(names)),
    )
    _, component = connected_components(graph, directed=False)
    first: dict[int, str] = {}
    for name, number in zip(names, component.tolist(), strict=True):
        first.setdefault(number, name)
    return {name: first[number] for name, number in zip(names, component.tolist(), strict=True)}


def _similar_pairs(grams: sp.csr_matrix) -> list[np.ndarray]:
    # Columns are reordered so that a row's sorted indices are its grams from rare to frequent.
    frequency = np.bincount(grams.indices, minlength=grams.shape[1])
    rank = np.empty_like(frequency)
    rank[np.argsort(frequency, kind="stable")] = np.arange(len(frequency))
    ranked = sp.csr_matrix((grams.data, rank[grams.indices], grams.indptr), shape=grams.shape)
    ranked.sort_indices()
    sizes = np.diff(ranked.indptr)
    keep = sizes - np.ceil(NEARLY_EQUAL * sizes - 1e-9).astype(np.int64) + 1
    place = np.arange(ranked.nnz) - np.repeat(ranked.indptr[:-1], sizes)
    kept = place < np.repeat(keep, sizes)
    starts = np.concatenate([[0], np.cumsum(keep)])
    prefix = sp.csr_matrix((ranked.data[kept], ranked.indices[kept], starts), shape=grams.shape)
    turned = prefix.T.tocsr()
    found = []
    for begin in range(0, grams.shape[0], _BLOCK):
        candidates = (prefix[begin : begin + _BLOCK] @ turned).tocoo()
        left, right = candidates.row.astype(np.int64) + begin, candidates.col.astype(np.int64)
        small, large = np.minimum(sizes[left], sizes[right]), np.maximum(sizes[left], sizes[right])
        chosen = (left < right) & (small >= NEARLY_EQUAL * large - 1e-9)
        left, right = left[chosen], right[chosen]
        for at in range(0, len(left), _PAIRS_AT_ONCE):
            a, b = left[at : at + _PAIRS_AT_ONCE], right[at : at + _PAIRS_AT_ONCE]
            shared = np.asarray(ranked[a].multiply(ranked[b]).sum(axis=1)).ravel()
            near = shared >= NEARLY_EQUAL * (sizes[a] + sizes[b] - shared) - 1e-9
            found.append(np.column_stack([a[near], b[near]]))
    return found
