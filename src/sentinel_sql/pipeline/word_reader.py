"""A plain reader of texts: TF-IDF and logistic regression, cross-fitted by template."""

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
    """The word counts of many texts, computed once for each fold; fits differ only in labels.

    Attributes:
        runs: number of texts.
        parts: for each fold, the indices to fit on and to score, and the word counts of both.
        seed: seed of the regression.
    """

    runs: int
    parts: Sequence[tuple[Ints, Ints, Any, Any]]
    seed: int

    @classmethod
    def over(cls, texts: Sequence[str], where: Bools, folds: Ints, seed: int) -> WordReader | None:
        """Count the words; None if the texts of a fold hold no word."""
        parts = []
        for fold in np.unique(folds[where]):
            fitted, held = np.flatnonzero(where & (folds != fold)), where & (folds == fold)
            scored = np.flatnonzero(held)
            if len(fitted) == 0:
                continue
            words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
            try:
                fitted_words = words.fit_transform([texts[i] for i in fitted.tolist()])
            except ValueError:
                return None
            scored_words = words.transform([texts[i] for i in scored.tolist()])
            parts.append((fitted, scored, fitted_words, scored_words))
        return cls(runs=len(texts), parts=parts, seed=seed)

    def scores(self, target: Bools) -> Floats:
        """Return out-of-fold scores, shape (N,); NaN outside the task."""
        scores = np.full(self.runs, np.nan)
        for fitted, scored, fitted_words, scored_words in self.parts:
            if target[fitted].all() or not target[fitted].any():
                scores[scored] = float(target[fitted][0])
                continue
            # There are more words than runs, so the dual problem is smaller.
            model = LogisticRegression(
                class_weight="balanced",
                solver="liblinear",
                dual=True,
                max_iter=5000,
                random_state=self.seed,
            )
            model.fit(fitted_words, target[fitted])
            scores[scored] = model.predict_proba(scored_words)[:, 1]
        return scores
