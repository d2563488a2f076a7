"""The `encoder` head: a fine-tuned network that reads the rendered prefix (paper section 3.3).

On a CPU it can cost more time than the agent's step itself.
docs/explanation/encoders-on-a-cpu.md says when that is worth it.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.array_checks import indices
from sentinel_sql.monitor.encoders.drift import drift
from sentinel_sql.monitor.encoders.extras import FITTING, import_extra
from sentinel_sql.monitor.encoders.onnx_export import export
from sentinel_sql.monitor.encoders.run import (
    RUNTIMES,
    TOKENIZER,
    TORCH_FILES,
    Description,
    Encoder,
    OnProgress,
    Runtime,
    files_in,
    open_encoder,
    silent,
)
from sentinel_sql.monitor.encoders.source import content_hash, find_encoder, token_limit
from sentinel_sql.monitor.encoders.text import Text, TextReading
from sentinel_sql.monitor.encoders.tokens import Cutter
from sentinel_sql.monitor.encoders.training import Examples, Recipe, train
from sentinel_sql.monitor.head import Arrays, Bools, Floats, Ints
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion
from sentinel_sql.trajectory.render import SCORING_TOKENS, TRAINING_TOKENS


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedEncoderHead:
    """One logit of a trained encoder. The two heads of a shared trunk use one encoder.

    Attributes:
        encoder: gives the logits.
        column: the index of the logit.
        fit_facts: what `facts` returns.
        on_progress: called with the progress of scoring.
    """

    encoder: Encoder
    column: int
    fit_facts: Mapping[str, Any]
    on_progress: OnProgress = silent

    def score(self, inputs: Sequence[Text]) -> Floats:
        """Return the raw score in [0, 1] of each input."""
        if not inputs:
            return np.empty(0)
        logits = self.encoder.vectors(inputs, self.on_progress)[:, self.column]
        return np.asarray(1.0 / (1.0 + np.exp(-logits)))

    def arrays(self) -> Arrays:
        """Return the index of the logit."""
        return {"column": np.array([self.column])}

    def files(self) -> Mapping[str, Path]:
        """Return configuration, weights and tokenizer, or graph and tokenizer."""
        return self.encoder.files

    def facts(self) -> Mapping[str, Any]:
        """Return the facts of training, and how far the scores of a graph differ from torch's."""
        return self.fit_facts


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderHead:
    """Settings of the encoder head.

    Attributes:
        encoder: a local folder, or a name on the model hub; the paper uses ModernBERT-base.
        shared_trunk: both heads of a monitor are logits of one encoder, so that a step costs one
            pass instead of two (ours).
        serve: the runtime of a fitted head: `torch`, `onnx`, or `onnx-int8`, which rounds the
            weights to eight bits. Calibration and thresholds are found with the same runtime.
        training_tokens: newest tokens to read in training (paper: 2,048).
        scoring_tokens: newest tokens to read in scoring (paper: 4,096). Both are fewer if the
            encoder's limit is lower.
        epochs, batch, learning_rate: of training; ours, because the paper doesn't state them.
        patience: training stops after as many validations without a smaller loss; there are two
            validations in an epoch.
        work: a folder that keeps checkpoints, so that an interrupted fit can resume and a
            finished one isn't repeated; if None, every fit starts from the beginning.
        on_progress: called with the progress.
    """

    encoder: str = "answerdotai/ModernBERT-base"
    shared_trunk: bool = False
    serve: Runtime = "torch"
    training_tokens: int = TRAINING_TOKENS
    scoring_tokens: int = SCORING_TOKENS
    epochs: int = 3
    batch: int = 8
    learning_rate: float = 3e-5
    patience: int = 2
    work: Path | None = field(default=None, compare=False, metadata={"saved": False})
    on_progress: OnProgress = field(default=silent, compare=False, metadata={"saved": False})
    name: str = "encoder"

    def read(self, question: AskedQuestion, surroundings: Surroundings) -> TextReading:  # noqa: ARG002
        """Start reading a run; this head doesn't use the database."""
        return TextReading(question)

    def fit(
        self, inputs: Sequence[Text], targets: Bools, *, groups: Ints, seed: int
    ) -> FittedEncoderHead:
        """Fine-tune one encoder. Both classes have the same total weight.

        Raises:
            InputError: the encoder can't be found or loaded, or a setting is out of range.
            MissingExtraError: the extra `encoders` isn't installed.
            CannotFitError: training diverged.
        """
        return self._fit(inputs, targets.astype(np.float64)[:, np.newaxis], groups, seed)[0]

    def fit_jointly(
        self,
        inputs: Sequence[Text],
        targets: Sequence[Bools],
        trained_on: Sequence[Bools],
        *,
        groups: Ints,
        seed: int,
    ) -> Sequence[FittedEncoderHead]:
        """Fit one encoder for all tasks with `shared_trunk`, else one for each task.

        Raises:
            Error: as `fit`.
        """
        if self.shared_trunk:
            columns = [
                np.where(on, its, np.nan) for its, on in zip(targets, trained_on, strict=True)
            ]
            used = np.logical_or.reduce(trained_on)
            kept = [text for text, on in zip(inputs, used, strict=True) if on]
            return self._fit(kept, np.column_stack(columns)[used], groups[used], seed)
        return [
            self.fit(
                [text for text, kept in zip(inputs, on, strict=True) if kept],
                its[on],
                groups=groups[on],
                seed=seed,
            )
            for its, on in zip(targets, trained_on, strict=True)
        ]

    def restore(self, arrays: Arrays, files: Mapping[str, Path]) -> FittedEncoderHead:
        """Make a fitted head of what `arrays` and `files` of a fitted one gave.

        Raises:
            KeyError, ValueError: the column is none of this encoder's.
            InputError: the encoder's files can't be read.
            MissingExtraError: the runtime isn't installed.
        """
        encoder = open_encoder(files)
        column = indices(arrays, "column", below=encoder.width, length=1)
        return FittedEncoderHead(encoder=encoder, column=int(column[0]), fit_facts={})

    def _fit(
        self, texts: Sequence[Text], targets: Floats, groups: Ints, seed: int
    ) -> Sequence[FittedEncoderHead]:
        self._check()
        import_extra("transformers", FITTING)
        source = find_encoder(self.encoder)
        most = token_limit(source)
        recipe = Recipe(
            epochs=self.epochs,
            batch=self.batch,
            learning_rate=self.learning_rate,
            patience=self.patience,
            seed=seed,
        )
        key = self._key(source, texts, targets, groups, recipe)
        if self.work is None:
            folder = Path(tempfile.mkdtemp(prefix="sentinel-"))
        else:
            folder = self.work / key[:32]
            self.work.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        cutter = Cutter(source / TOKENIZER)
        limit = min(self.training_tokens, most)
        examples = Examples(
            rows=[cutter.ids(text, limit) for text in texts], targets=targets, groups=groups
        )
        fit_facts = dict(train(source, examples, recipe, folder, self.on_progress))
        fit_facts["encoder_sha256"] = content_hash(source)
        fit_facts["versions"] = {name: version(name) for name in ("torch", "transformers")}
        limit = min(self.scoring_tokens, most)
        Description(runtime="torch", output="logits", limit=limit).write(folder / "model")
        model = files_in(folder / "model")
        encoder = Encoder({name: model[name] for name in TORCH_FILES})

        def heads(encoder: Encoder) -> list[FittedEncoderHead]:
            return [
                FittedEncoderHead(
                    encoder=encoder,
                    column=column,
                    fit_facts=fit_facts,
                    on_progress=self.on_progress,
                )
                for column in range(targets.shape[1])
            ]

        if self.serve != "torch":
            graph = folder / self.serve
            export(folder / "model", graph, runtime=self.serve, output="logits", limit=limit)
            served = Encoder(files_in(graph))
            fit_facts["drift"] = drift(heads(encoder), heads(served), texts)
            encoder = served
        if self.work is None:
            encoder.remove_at_end(folder)
        return heads(encoder)

    def _check(self) -> None:
        if self.serve not in RUNTIMES:
            raise InputError(f"a head can't be served by {self.serve!r}: {', '.join(RUNTIMES)}")
        for name in ("training_tokens", "scoring_tokens"):
            if getattr(self, name) < 16:
                raise InputError(f"{name} is {getattr(self, name)}: 16 is the least")
        for name in ("epochs", "batch", "learning_rate", "patience"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} of an encoder must be above 0")

    def _key(
        self, source: Path, texts: Sequence[Text], targets: Floats, groups: Ints, recipe: Recipe
    ) -> str:
        """Return a hash of everything that a fit depends on, to recognise a finished fit."""
        inputs = {
            "encoder": content_hash(source),
            "tokens": self.training_tokens,
            "recipe": asdict(recipe),
            "versions": [version(name) for name in ("sentinel-sql", "torch", "transformers")],
        }
        digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode())
        for text in texts:
            digest.update(text.digest)
        digest.update(np.ascontiguousarray(targets).tobytes())
        digest.update(np.ascontiguousarray(groups).tobytes())
        return digest.hexdigest()
