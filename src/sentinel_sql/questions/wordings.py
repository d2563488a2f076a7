"""Groups the wordings of unanswerable questions: masks them, and joins nearly equal ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NEARLY_EQUAL = 0.5
"""Jaccard similarity of character 4-grams from which two masked wordings share a template.

Our choice: on EHRSQL it joins paraphrases that differ in a word or two, but no other wordings."""

_BLOCK = 500
_SHARED = 8
_PAIRS_AT_ONCE = 50_000

_QUOTED = re.compile(r"""(?<!\w)(?:'[^']*'|"[^"]*"|“[^”]*”|‘[^’]*’)(?!\w)""")
_NUMBER = re.compile(r"\d[\d.,:/-]*(?:st|nd|rd|th)?\b|\d")
_REST = re.compile(r"[^\w#]+")


def mask_wording(text: str) -> str:
    """Return the wording in a normal form, with numbers, ids, dates and quoted text as `#`."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    masked = _NUMBER.sub("#", _QUOTED.sub("#", plain))
    masked = re.sub(r"(?:#\W*)+", "# ", re.sub(r"\w*#\w*", "#", masked))
    return _REST.sub(" ", masked).strip() or "#"


def cluster_wordings(wordings: Collection[str]) -> dict[str, str]:
    """Map each masked wording to the name of its cluster, which is its first wording.

    Clusters are the connected components under `NEARLY_EQUAL`, so the result depends only on
    the set of wordings. Pairs are found by prefix filtering (two sets of Jaccard ≥ t share k of
    their |s| − ⌈t|s|⌉ + k rarest grams), block by block, so that memory stays linear.
    """
    names = sorted(wordings)
    if len(names) < 2:
        return {name: name for name in names}
    # imported here, because reading a manifest doesn't need it
    from sklearn.feature_extraction.text import CountVectorizer

    padded = [f"^^{name}$$" for name in names]
    counter = CountVectorizer(analyzer="char", ngram_range=(4, 4), binary=True, lowercase=False)
    grams = counter.fit_transform(padded).tocsr().astype(np.int32)
    component = _components(grams)
    first: dict[int, str] = {}
    for name, number in zip(names, component.tolist(), strict=True):
        first.setdefault(number, name)
    return {name: first[number] for name, number in zip(names, component.tolist(), strict=True)}


def _components(grams: csr_matrix) -> np.ndarray:
    """Return each row's component; rows are sets of grams, joined if nearly equal."""
    from scipy.sparse import csr_matrix

    # Columns are reordered so that a row's sorted indices are its grams from rare to frequent.
    frequency = np.bincount(grams.indices, minlength=grams.shape[1])
    rank = np.empty_like(frequency)
    rank[np.argsort(frequency, kind="stable")] = np.arange(len(frequency))
    ranked = csr_matrix((grams.data, rank[grams.indices], grams.indptr), shape=grams.shape)
    ranked.sort_indices()
    sizes = np.diff(ranked.indptr)
    least = np.ceil(NEARLY_EQUAL * sizes - 1e-9).astype(np.int64)
    keep = np.minimum(sizes, sizes - least + _SHARED)
    place = np.arange(ranked.nnz) - np.repeat(ranked.indptr[:-1], sizes)
    kept = place < np.repeat(keep, sizes)
    starts = np.concatenate([[0], np.cumsum(keep)])
    prefix = csr_matrix((ranked.data[kept], ranked.indices[kept], starts), shape=grams.shape)
    turned = prefix.T.tocsr()
    component = np.arange(grams.shape[0])
    for begin in range(0, grams.shape[0], _BLOCK):
        candidates = (prefix[begin : begin + _BLOCK] @ turned).tocoo()
        left, right = candidates.row.astype(np.int64) + begin, candidates.col.astype(np.int64)
        needed = np.maximum(least[left], least[right])  # number of grams that a similar pair shares
        chosen = (
            (left < right)
            & (np.minimum(sizes[left], sizes[right]) >= needed)
            & (candidates.data >= np.minimum(needed, _SHARED))
        )
        left, right = left[chosen], right[chosen]
        for at in range(0, len(left), _PAIRS_AT_ONCE):
            a, b = left[at : at + _PAIRS_AT_ONCE], right[at : at + _PAIRS_AT_ONCE]
            apart = component[a] != component[b]  # skip pairs that are joined already
            a, b = a[apart], b[apart]
            shared = np.asarray(ranked[a].multiply(ranked[b]).sum(axis=1)).ravel()
            near = shared >= NEARLY_EQUAL * (sizes[a] + sizes[b] - shared) - 1e-9
            if near.any():
                component = _join(component, a[near], b[near])
    return component


def _join(component: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = len(component)
    edges = (np.ones(len(a), dtype=np.int8), (component[a], component[b]))
    _, merged = connected_components(coo_matrix(edges, shape=(size, size)), directed=False)
    renumbered: np.ndarray = np.asarray(merged)[component]
    return renumbered
