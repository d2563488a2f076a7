"""The data of many recorded runs for a replay, in columns: confidences, costs and labels.

Every system of every exhibit is a replay over these columns, without a call to a model. The
rows of run i are `offsets[i] : offsets[i + 1]`: its prefixes t = 0 … T_i in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.errors import BundleError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class PrefixScores:
    """Columns over P prefixes and N runs.

    Attributes:
        question_ids: N ids in order.
        templates: N template names, the clusters of the bootstrap.
        offsets: shape (N + 1,), `offsets[0] == 0`, `offsets[-1] == P`.
        p_answerable: shape (P,), in [0, 1]: 1 − score of the answerability head.
        p_correct: shape (P,), in [0, 1]: calibrated probability that the run ends in a delivered
            correct answer.
        raw_correct: shape (P,), in [0, 1]: raw score of the correctness head.
        delivery_score: shape (N,): raw score of the delivery estimator; NaN unless answered.
        delivery: shape (N,), in [0, 1]: calibrated p = P(a = 1, y = 1); NaN unless answered.
        p_unanswerable: shape (N,), in [0, 1]: calibrated ε of the exact bar; NaN unless answered.
        answered: shape (N,): the agent itself committed an answer.
        abstained: shape (N,): the agent itself abstained. If neither, the run hit the step cap.
        answerable: shape (N,).
        correct: shape (N,): the answer is correct; False without an answer.
        clean: shape (N,): the committed answer executed and isn't empty.
        tokens: shape (P,), completion tokens of the last step of each prefix; 0 at t = 0, NaN if
            the endpoint reported none.
        seconds: shape (P,), model time of that step; 0 at t = 0, NaN where unknown.
    """

    question_ids: tuple[str, ...]
    templates: tuple[str, ...]
    offsets: Ints
    p_answerable: Floats
    p_correct: Floats
    raw_correct: Floats
    delivery_score: Floats
    delivery: Floats
    p_unanswerable: Floats
    answered: Bools
    abstained: Bools
    answerable: Bools
    correct: Bools
    clean: Bools
    tokens: Floats
    seconds: Floats

    def __len__(self) -> int:
        return len(self.question_ids)

    @property
    def steps(self) -> Ints:
        """Steps T_i of every run, shape (N,)."""
        return np.diff(self.offsets) - 1

    def with_hashed_templates(self) -> Self:
        """Return the columns with a hash of each template instead of its text.

        A template may be a query, and a bundle must not hold the content of runs.
        """
        hashed = [sha256(name.encode()).hexdigest()[:16] for name in self.templates]
        return replace(self, templates=tuple(hashed))

    @classmethod
    def empty(cls) -> Self:
        """Return the columns of no run."""
        columns: dict[str, Any] = {
            field.name: np.zeros(0, np.bool_ if field.name in _FLAGS else np.float64)
            for field in fields(cls)
        }
        names: dict[str, Any] = dict.fromkeys(_TEXTS, ())
        return cls(**columns | names | {"offsets": np.zeros(1, np.int64)})

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return every column by name as a plain array, the form in a bundle."""
        columns = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        return columns | {name: columns[name].astype(np.str_) for name in _TEXTS}

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> Self:
        """Make the record from the result of `to_columns`.

        Raises:
            BundleError: a column is missing or invalid, or the columns don't fit together.
        """
        try:
            own: dict[str, Any] = {field.name: columns[field.name] for field in fields(cls)}
        except KeyError as error:
            raise BundleError(
                f"the calibration columns lack {error}: fit the monitor again with `sentinel fit`"
            ) from error
        if (wrong := _find_invalid(own)) is not None:
            raise BundleError(
                f"the columns don't fit together ({wrong}): fit the monitor again with "
                "`sentinel fit`"
            )
        return cls(**own | {name: tuple(own[name].tolist()) for name in _TEXTS})


def _find_invalid(columns: Mapping[str, NDArray[Any]]) -> str | None:
    """Return the name of an invalid column, or None."""
    if any(column.ndim != 1 for column in columns.values()):
        return "shape"
    runs, prefixes = len(columns["question_ids"]), len(columns["p_answerable"])
    lengths = {name: prefixes if name in _PER_PREFIX else runs for name in columns}
    lengths["offsets"] = runs + 1
    for name, column in columns.items():
        kind = "U" if name in _TEXTS else "i" if name == "offsets" else "fb"[name in _FLAGS]
        if len(column) != lengths[name] or column.dtype.kind != kind:
            return name
    offsets = columns["offsets"]
    if offsets[0] != 0 or offsets[-1] != prefixes or (np.diff(offsets) < 1).any():
        return "offsets"
    answered = columns["answered"]
    if (answered & columns["abstained"]).any() or (columns["correct"] & ~answered).any():
        return "answered"
    known = {name: columns[name] for name in ("p_answerable", "p_correct", "raw_correct")}
    for name in ("delivery_score", "delivery", "p_unanswerable"):
        if not np.array_equal(np.isnan(columns[name]), ~answered):
            return name
        known[name] = columns[name][answered]
    for name, column in known.items():
        if not ((column >= 0) & (column <= 1)).all():
            return name
    for name in ("tokens", "seconds"):
        if (columns[name] < 0).any() or np.isinf(columns[name]).any():
            return name
    return None


_TEXTS = ("question_ids", "templates")
_FLAGS = frozenset({"answered", "abstained", "answerable", "correct", "clean"})
_PER_PREFIX = frozenset({"p_answerable", "p_correct", "raw_correct", "tokens", "seconds"})
