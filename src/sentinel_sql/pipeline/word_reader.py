"""A plain reader of words, cross-fitted by template: TF-IDF and logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class WordReader:
    """The words of many texts, counted once a fold; only labels change from fit to fit.

    Attributes:
        runs: how many texts there are.
        parts: for each fold the indices that are fitted on and scored, and their word counts.
        seed: of the regression.
    """

    runs: int
    parts: Sequence[tuple[Ints, Ints, Any, Any]]
    seed: int

    @classmethod
    def over(cls, texts: Sequence[str], where: Bools, folds: Ints, seed: int) -> WordReader | None:
        """Count the words; None where the texts of a fold hold no word."""
        parts = []
        for fold in np.unique(folds[where]):
            fitted, held = np.flatnonzero(where & (folds != fold)), where & (folds == fold)
            scored = np.flatnonzero(held)
            if len(fitted) == 0:
                continue
            words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
            try:
                learned = words.fit_transform([texts[i] for i in fitted.tolist()])
            except ValueError:
                return None
            asked = words.transform([texts[i] for i in scored.tolist()])
            parts.append((fitted, scored, learned, asked))
        return cls(runs=len(texts), parts=parts, seed=seed)

    def scores(self, target: Bools) -> Floats:
        """Return out-of-fold scores, shape (N,); NaN outside the task."""
        scores = np.full(self.runs, np.nan)
        for fitted, scored, learned, asked in self.parts:
            if target[fitted].all() or not target[fitted].any():
                scores[scored] = float(target[fitted][0])
                continue
            # More words than runs: the dual problem is the small one.
            model = LogisticRegression(
                class_weight="balanced",
                solver="liblinear",
                dual=True,
                max_iter=5000,
                random_state=self.seed,
            )
            model.fit(learned, target[fitted])
            scores[scored] = model.predict_proba(asked)[:, 1]
        return scores
