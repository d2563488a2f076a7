"""The delivery estimator: the correctness head alone, or a boosted hybrid with the features.

The hybrid is a sum of small trees over the out-of-fold correctness score and the ten features.
It is stored as plain arrays, so that loading one runs no foreign code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentinel_sql.monitor.array_checks import indices, number, numbers
from sentinel_sql.monitor.features.ten_features import FEATURES
from sentinel_sql.monitor.head import Arrays, Bools, Floats, Ints

SIMPLER_WITHIN = 0.005
"""AUROC by which the hybrid must beat the head alone (paper section 4.1)."""

INPUTS: Sequence[str] = ("correctness", *FEATURES)
"""The columns that the hybrid reads, in order."""

TREES, DEPTH, RATE, LEAF = 80, 2, 0.05, 0.02
"""Ours, for small pools: shallow trees, small steps, and a least share of runs in each leaf."""


@dataclass(frozen=True, kw_only=True)
class FittedHybrid:
    """A boosted sum of trees as arrays over all nodes of all trees.

    Attributes:
        base: the log-odds before any tree.
        roots: shape (trees,), index of each tree's root node.
        column: shape (nodes,), the input that a node splits on; -1 in a leaf.
        threshold: shape (nodes,); an input at or below it goes left.
        left, right: shape (nodes,), index of the next node.
        value: shape (nodes,), what a leaf adds to the log-odds.
    """

    base: float
    roots: Ints
    column: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats

    def score(self, inputs: Floats) -> Floats:
        """Return the raw score in [0, 1] of each row of `inputs`, shape (n, 11)."""
        # Splits were found among single-precision values.
        inputs = inputs.astype(np.float32)
        node = np.tile(self.roots, (len(inputs), 1))
        rows = np.arange(len(inputs))[:, None]
        for _ in range(DEPTH):
            column = self.column[node]
            goes_left = inputs[rows, column] <= self.threshold[node]
            following = np.where(goes_left, self.left[node], self.right[node])
            node = np.where(column >= 0, following, node)
        margins = self.base + np.cumsum(self.value[node], axis=1)[:, -1]
        return np.asarray(1.0 / (1.0 + np.exp(-margins)))

    def arrays(self) -> Arrays:
        """Return all fitted values as plain arrays."""
        return {
            "base": np.array([self.base]),
            "roots": self.roots,
            "column": self.column,
            "threshold": self.threshold,
            "left": self.left,
            "right": self.right,
            "value": self.value,
        }

    @classmethod
    def restore(cls, arrays: Arrays) -> FittedHybrid:
        """Make a hybrid of what `arrays` gave.

        Raises:
            KeyError, ValueError: the arrays aren't of such trees.
        """
        nodes = len(arrays["column"])
        return cls(
            base=number(arrays, "base"),
            roots=indices(arrays, "roots", below=nodes),
            column=indices(arrays, "column", low=-1, below=len(INPUTS)),
            threshold=numbers(arrays, "threshold", length=nodes),
            left=indices(arrays, "left", low=-1, below=nodes, length=nodes),
            right=indices(arrays, "right", low=-1, below=nodes, length=nodes),
            value=numbers(arrays, "value", length=nodes),
        )


def hybrid_inputs(correctness: Floats, features: Floats) -> Floats:
    """Join raw correctness scores, shape (n,), and features, shape (n, 10), to (n, 11)."""
    return np.column_stack([correctness, features])


def fit_hybrid(inputs: Floats, correct: Bools, *, seed: int) -> FittedHybrid:
    """Fit the hybrid on delivered answers.

    Args:
        inputs: shape (n, 11), with out-of-fold correctness scores.
        correct: shape (n,), with both classes. An answer to an unanswerable question counts as
            incorrect, because it must not be delivered either.
        seed: of the fit.
    """
    from sklearn.ensemble import GradientBoostingClassifier  # a guard starts without it

    model = GradientBoostingClassifier(
        n_estimators=TREES,
        max_depth=DEPTH,
        learning_rate=RATE,
        min_samples_leaf=max(1, round(LEAF * len(correct))),
        random_state=seed,
    )
    model.fit(inputs, correct)
    trees = [stage[0].tree_ for stage in model.estimators_]
    sizes = [tree.node_count for tree in trees]
    starts = np.cumsum([0, *sizes])[:-1]
    shift = np.repeat(starts, sizes)
    share = float(np.mean(correct))
    return FittedHybrid(
        base=float(np.log(share / (1.0 - share))),
        roots=starts.astype(np.int64),
        column=np.maximum(np.concatenate([tree.feature for tree in trees]), -1).astype(np.int64),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=(np.concatenate([tree.children_left for tree in trees]) + shift).astype(np.int64),
        right=(np.concatenate([tree.children_right for tree in trees]) + shift).astype(np.int64),
        value=RATE * np.concatenate([tree.value[:, 0, 0] for tree in trees]),
    )


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The chosen delivery estimator.

    Attributes:
        hybrid: the hybrid, or None: the correctness head alone.
        auroc_head: AUROC of the head alone on the calibration pool's delivered answers.
        auroc_hybrid: AUROC of the hybrid on the same answers; None if there was none to choose.
    """

    hybrid: FittedHybrid | None
    auroc_head: float
    auroc_hybrid: float | None

    @property
    def name(self) -> str:
        """`head` or `hybrid`."""
        return "head" if self.hybrid is None else "hybrid"

    @property
    def telemetry(self) -> frozenset[str]:
        """Names of the token-telemetry features that it reads; a live run must have them."""
        columns = () if self.hybrid is None else set(self.hybrid.column.tolist())
        read = {INPUTS[column] for column in columns if column >= 0}
        return frozenset(
            name for name in read & set(FEATURES) if FEATURES[name].family == "telemetry"
        )

    def score(self, correctness: Floats, features: Floats) -> Floats:
        """Return raw delivery scores, shape (n,), from scores (n,) and features (n, 10)."""
        if self.hybrid is None:
            return correctness
        return self.hybrid.score(hybrid_inputs(correctness, features))


def choose_delivery(
    hybrid: FittedHybrid, *, correctness: Floats, features: Floats, correct: Bools
) -> Delivery:
    """Choose the hybrid if it beats the head by more than 0.005 AUROC, else the head alone.

    The AUROCs are those of the calibration pool's delivered answers.

    Args:
        hybrid: fitted on the train pool.
        correctness: shape (n,), raw scores of the correctness head.
        features: shape (n, 10).
        correct: shape (n,), with both classes.
    """
    from sklearn.metrics import roc_auc_score

    alone = float(roc_auc_score(correct, correctness))
    both = float(roc_auc_score(correct, hybrid.score(hybrid_inputs(correctness, features))))
    chosen = hybrid if both > alone + SIMPLER_WITHIN else None
    return Delivery(hybrid=chosen, auroc_head=alone, auroc_hybrid=both)


def head_alone(*, correctness: Floats, correct: Bools) -> Delivery:
    """Return the head alone, where no hybrid was fitted; shapes as in `choose_delivery`."""
    from sklearn.metrics import roc_auc_score

    return Delivery(
        hybrid=None, auroc_head=float(roc_auc_score(correct, correctness)), auroc_hybrid=None
    )
