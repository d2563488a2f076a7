"""An encoder run by torch, on a GPU if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sentinel_sql.errors import InputError, SentinelError
from sentinel_sql.monitor.encoders.extras import torch, transformers
from sentinel_sql.monitor.encoders.source import offline
from sentinel_sql.monitor.encoders.tokens import Ids, pad
from sentinel_sql.monitor.head import Floats


class TorchNetwork:
    """Weights in torch.

    On a CPU each text runs alone, without padding, so that a batch doesn't change its bits. On a
    GPU, texts of similar length run together.

    Args:
        folder: `config.json` and `model.safetensors`.
        output: `logits` of a sequence classifier, or the `mean` of the last token vectors.

    Raises:
        InputError: the folder can't be loaded.
        MissingExtraError: the extra `encoders` isn't installed.
    """

    def __init__(self, folder: Path, *, output: str) -> None:
        self._torch = torch()
        self._device = self._torch.device("cuda" if self._torch.cuda.is_available() else "cpu")
        self._mean = output == "mean"
        loaded = (
            load_classifier(folder, whole=True)
            if output == "logits"
            else load_frozen(folder, whole=True)
        )
        self.model = loaded.eval().to(self._device)
        self._padding = padding_token(self.model)

    @property
    def at_once(self) -> int:
        """The best batch size."""
        return 1 if self._device.type == "cpu" else 32

    def vectors(self, rows: Sequence[Ids]) -> Floats:
        """Return one vector for each row, shape (len(rows), width)."""
        if not rows:
            return np.empty((0, 0))
        ids, mask = (
            self._torch.from_numpy(array).to(self._device) for array in pad(rows, self._padding)
        )
        with self._torch.inference_mode():
            try:
                outputs = self.model(input_ids=ids, attention_mask=mask)
            except self._torch.OutOfMemoryError as error:
                raise SentinelError(
                    "the encoder ran out of memory while scoring: lower its scoring tokens"
                ) from error
            vectors = masked_mean(outputs.last_hidden_state, mask) if self._mean else outputs.logits
        return np.asarray(vectors.float().cpu().numpy(), np.float64)


def load_classifier(
    folder: Path, *, tasks: int | None = None, attention: str | None = None, whole: bool = False
) -> Any:
    """Load a sequence classifier in single precision; `tasks` sets the number of its logits.

    `attention` names one of the library's implementations; None chooses the fastest in torch. A
    missing weight is an error. Without `whole`, those of the last layer may be missing, and the
    library draws them at random.

    Raises:
        InputError: the folder can't be loaded, or lacks weights.
    """
    settings: dict[str, Any] = {"attn_implementation": attention}
    if tasks is not None:
        settings |= {
            "num_labels": tasks,
            "problem_type": "multi_label_classification",
            "ignore_mismatched_sizes": True,  # another classifier's last layer is left out
        }
    kind = transformers().AutoModelForSequenceClassification
    return _load(kind, folder, settings, whole=whole)


def load_frozen(folder: Path, *, attention: str | None = None, whole: bool = False) -> Any:
    """Load an encoder without a head, in single precision; options as in `load_classifier`.

    Raises:
        InputError: the folder can't be loaded, or lacks weights.
    """
    settings = {"attn_implementation": attention}
    return _load(transformers().AutoModel, folder, settings, whole=whole)


def padding_token(model: Any) -> int:
    """Return the id of a model's padding token; 0 if it has none. Padding is always masked."""
    token = model.config.pad_token_id
    return 0 if token is None else int(token)


def masked_mean(hidden: Any, mask: Any) -> Any:
    """Return the mean over all tokens but the padding, (rows, tokens, d) → (rows, d)."""
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1)


def _load(kind: Any, folder: Path, settings: dict[str, Any], *, whole: bool) -> Any:
    try:
        with offline():
            model, found = kind.from_pretrained(
                str(folder),
                local_files_only=True,
                use_safetensors=True,
                dtype=torch().float32,
                output_loading_info=True,
                **settings,
            )
    except SentinelError:
        raise
    except Exception as error:  # each library below has exception classes of its own
        raise InputError(
            f"the encoder in {folder} can't be loaded: {' '.join(str(error).split())[:200]}"
        ) from error
    if lacking := sorted(key for key in found["missing_keys"] if whole or _is_trunk(key, model)):
        raise InputError(f"the encoder in {folder} lacks weights: {lacking[0]}")
    for name, weights in model.named_parameters():
        if not bool(weights.isfinite().all()):
            raise InputError(f"the encoder in {folder} holds what is no finite number: {name}")
    return model


def _is_trunk(key: str, model: Any) -> bool:
    """Return whether a weight is the encoder's own: none of a new last layer, or of a pooler."""
    inside = model.base_model is model or key.startswith(f"{model.base_model_prefix}.")
    return inside and "pooler" not in key
