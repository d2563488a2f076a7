"""The `embedding` head: a logistic regression on the vectors of a frozen encoder.

It reads three vectors: of the newest step, of the question and of the whole transcript. Each is
the mean of the token vectors. The encoder isn't trained, so a fit needs only one pass over the
texts, for any number of folds and heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.array_checks import number, numbers
from sentinel_sql.monitor.encoders.drift import drift
from sentinel_sql.monitor.encoders.frozen import frozen_encoder
from sentinel_sql.monitor.encoders.run import (
    RUNTIMES,
    Encoder,
    OnProgress,
    Runtime,
    open_encoder,
    silent,
)
from sentinel_sql.monitor.encoders.text import Text, TextReading
from sentinel_sql.monitor.head import Arrays, Bools, Floats, Ints
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion
from sentinel_sql.trajectory.render import SCORING_TOKENS

_TINY = float(np.finfo(np.float64).smallest_subnormal)
PARTS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedEmbeddingHead:
    """A frozen encoder and the weights on its vectors.

    Attributes:
        encoder: gives the vectors.
        center, scale: shape (3 d,): a column x is read as (x − center) / scale.
        weights: shape (3 d,).
        intercept: the log-odds of an average text.
        fit_facts: what `facts` returns.
        on_progress: called with the progress of scoring.
    """

    encoder: Encoder
    center: Floats
    scale: Floats
    weights: Floats
    intercept: float
    fit_facts: Mapping[str, Any]
    on_progress: OnProgress = silent

    def score(self, inputs: Sequence[Text]) -> Floats:
        """Return the raw score in [0, 1] of each input."""
        if not inputs:
            return np.empty(0)
        columns = _columns(self.encoder, inputs, self.on_progress)
        # A plain sum for each row instead of BLAS: equal inputs give equal bits.
        margins = np.sum((columns - self.center) / self.scale * self.weights, axis=1)
        return np.asarray(1.0 / (1.0 + np.exp(-(margins + self.intercept))))

    def arrays(self) -> Arrays:
        """Return the weights and the scaling of the columns."""
        return {
            "center": self.center,
            "scale": self.scale,
            "weights": self.weights,
            "intercept": np.array([self.intercept]),
        }

    def files(self) -> Mapping[str, Path]:
        """Return the encoder's files, which both heads of a monitor share."""
        return self.encoder.files

    def facts(self) -> Mapping[str, Any]:
        """Return the encoder's hash, and how far the scores of a graph differ from torch's."""
        return self.fit_facts


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingHead:
    """Settings of the embedding head.

    Attributes:
        encoder: a local folder, or a name on the model hub.
        serve: the runtime of the encoder in fitting and in scoring: `torch`, `onnx` or
            `onnx-int8`.
        scoring_tokens: newest tokens to read; fewer if the encoder's limit is lower.
        on_progress: called with the progress.
    """

    encoder: str = "sentence-transformers/all-MiniLM-L6-v2"
    serve: Runtime = "torch"
    scoring_tokens: int = SCORING_TOKENS
    on_progress: OnProgress = field(default=silent, compare=False, metadata={"saved": False})
    name: str = "embedding"

    def read(self, question: AskedQuestion, surroundings: Surroundings) -> TextReading:  # noqa: ARG002
        """Start reading a run; this head doesn't use the database."""
        return TextReading(question)

    def fit(
        self,
        inputs: Sequence[Text],
        targets: Bools,
        *,
        groups: Ints,  # noqa: ARG002
        seed: int,
    ) -> FittedEmbeddingHead:
        """Fit on snapshots. Both classes have the same total weight.

        Raises:
            InputError: the encoder can't be found or loaded.
            MissingExtraError: the extra `encoders` isn't installed.
        """
        from sklearn.linear_model import LogisticRegression  # a guard starts without it

        if self.serve not in RUNTIMES:
            raise InputError(f"a head can't be served by {self.serve!r}: {', '.join(RUNTIMES)}")
        encoder, sha256 = frozen_encoder(self.encoder, serve=self.serve, limit=self.scoring_tokens)
        columns = _columns(encoder, inputs, self.on_progress)
        center, spread = columns.mean(axis=0), columns.std(axis=0)
        # Ours: each of the three vectors gets a length of about one, which suits the library's
        # default regularisation. No pool tunes it.
        scale = np.where(spread > 0, spread, 1.0) * np.sqrt(columns.shape[1] / PARTS)
        model = LogisticRegression(class_weight="balanced", max_iter=2000, random_state=seed)
        model.fit((columns - center) / scale, targets)
        fit_facts: dict[str, Any] = {"encoder_sha256": sha256}
        fitted = FittedEmbeddingHead(
            encoder=encoder,
            center=center,
            scale=scale,
            weights=model.coef_[0].copy(),
            intercept=float(model.intercept_[0]),
            fit_facts=fit_facts,
            on_progress=self.on_progress,
        )
        if self.serve != "torch":
            plain, _ = frozen_encoder(self.encoder, serve="torch", limit=self.scoring_tokens)
            fit_facts["drift"] = drift([replace(fitted, encoder=plain)], [fitted], inputs)
        return fitted

    def restore(self, arrays: Arrays, files: Mapping[str, Path]) -> FittedEmbeddingHead:
        """Make a fitted head of what `arrays` and `files` of a fitted one gave.

        Raises:
            KeyError, ValueError: the arrays aren't of such a head over this encoder.
            InputError: the encoder's files can't be read.
            MissingExtraError: the runtime isn't installed.
        """
        encoder = open_encoder(files)
        width = PARTS * encoder.width
        return FittedEmbeddingHead(
            encoder=encoder,
            center=numbers(arrays, "center", length=width),
            scale=numbers(arrays, "scale", length=width, low=_TINY),
            weights=numbers(arrays, "weights", length=width),
            intercept=number(arrays, "intercept"),
            fit_facts={},
        )


def _columns(encoder: Encoder, inputs: Sequence[Text], on_progress: OnProgress) -> Floats:
    """Return the vectors of newest step, question and transcript in one row, (n, 3 d)."""
    steps = [Text(question="", steps=text.steps[-1:]) if text.steps else None for text in inputs]
    parts = (
        [step for step in steps if step is not None],
        [Text(question=text.question) for text in inputs],
        list(inputs),
    )
    vectors = encoder.vectors([text for part in parts for text in part], on_progress)
    count, width = len(inputs), vectors.shape[1]
    columns = np.zeros((count, PARTS * width))
    had = np.array([step is not None for step in steps])
    columns[had, :width] = vectors[: len(parts[0])]
    columns[:, width : 2 * width] = vectors[len(parts[0]) : len(parts[0]) + count]
    columns[:, 2 * width :] = vectors[len(parts[0]) + count :]
    return columns
