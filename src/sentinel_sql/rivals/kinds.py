"""The rivals that score a recorded run, by name.

They use none of the monitor's features or heads on purpose. Each reads the prefix that ends in the
answer. The sign of a score is fixed in advance: more steps, more entropy and lower
log-probabilities speak against an answer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.monitor.prefix_scores import Bools, Floats
from sentinel_sql.rivals.scores import RivalKind
from sentinel_sql.trajectory.record import Prefix
from sentinel_sql.trajectory.render import render

Scorer = Callable[[Sequence[Any]], Floats]
"""Takes what a rival read of n runs, and returns the scores of their answers, shape (n,)."""


class Fit(Protocol):
    """Fits a rival on answers of the train pool."""

    def __call__(self, inputs: Sequence[Any], correct: Bools, *, seed: int) -> Scorer:
        """Return the scorer; both classes are among `correct`, shape (n,)."""
        ...


@dataclass(frozen=True, kw_only=True)
class Rival:
    """One rival.

    Attributes:
        kind: what the rival reads.
        read: reads its input from the prefix that ends in the answer; None if it finds nothing.
        fit: fits it on the train pool; None for a rule, whose input is its score.
        missing: why `read` may find nothing.
    """

    kind: RivalKind
    read: Callable[[Prefix], Any]
    fit: Fit | None = None
    missing: str = ""


def _clean(prefix: Prefix) -> float:
    return float(prefix.steps[-1].observation.kind == "rows")


def _few_steps(prefix: Prefix) -> float:
    return -float(prefix.t)


def _least_entropy(prefix: Prefix) -> float | None:
    entropies = [x for step in prefix.steps if step.telemetry for x in step.telemetry.entropies]
    return -max(entropies) if entropies else None


def _mean_logprob(prefix: Prefix) -> float | None:
    logprobs = [x for step in prefix.steps if step.telemetry for x in step.telemetry.logprobs]
    return float(np.mean(np.maximum(logprobs, -100.0))) if logprobs else None


def _ending(prefix: Prefix) -> dict[str, str]:
    """Return the kind and the form of the last step's result."""
    shown = prefix.steps[-1].observation
    rows = "?" if shown.rows is None else str(min(shown.rows, 3))
    columns = "?" if shown.columns is None else str(min(shown.columns, 3))
    return {
        "kind": shown.kind,
        "rows": rows,
        "columns": columns,
        "cut": str(shown.truncated),
        "cell": _cell(shown.text or "") if rows == columns == "1" else "-",
    }


def _cell(text: str) -> str:
    """Return the type of the only cell of a result line."""
    try:
        value = ast.literal_eval(text.partition("sample ")[2])[0][0]
    except (ValueError, SyntaxError, IndexError, TypeError, MemoryError, RecursionError):
        return "?"
    if value is None or value in ("None", "NULL"):
        return "null"
    try:
        return "zero" if float(value) == 0 else "number"
    except (ValueError, TypeError):
        return "text"


def _dynamics(prefix: Prefix) -> Floats | None:
    """Return the shape of the token telemetry over the steps, NaN where a part is unknown.

    There are five series over the steps: mean and lowest log-probability, mean and highest
    entropy, and number of tokens. Of each it takes first, last, mean, extremes, spread, trend,
    change and largest change. It adds the place of the least likely step and the step count.
    """
    steps = [step.telemetry for step in prefix.steps if step.telemetry]
    if not any(step.logprobs or step.entropies for step in steps):
        return None
    nothing = np.full(1, np.nan)
    logprobs = [np.maximum(step.logprobs, -100.0) if step.logprobs else nothing for step in steps]
    entropies = [np.asarray(step.entropies) if step.entropies else nothing for step in steps]
    series = (
        [float(x.mean()) for x in logprobs],
        [float(x.min()) for x in logprobs],
        [float(x.mean()) for x in entropies],
        [float(x.max()) for x in entropies],
        [float(len(step.logprobs)) for step in steps],
    )
    shapes = [_shape(np.array(values)) for values in series]
    lowest = series[0]
    worst = 0.0 if np.isnan(lowest).all() else float(np.nanargmin(lowest)) / len(lowest)
    return np.concatenate([*shapes, [worst, float(len(prefix.steps))]])


def _shape(values: Floats) -> Floats:
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return np.full(9, np.nan)
    changes = np.diff(values)
    at = np.arange(len(values)) - (len(values) - 1) / 2
    trend = float(at @ values / (at @ at)) if len(values) > 1 else 0.0
    return np.array(
        [
            values[0],
            values[-1],
            values.mean(),
            values.min(),
            values.max(),
            values.std(),
            trend,
            values[-1] - values[0],
            np.abs(changes).max(initial=0.0),
        ]
    )


def _fit_text(inputs: Sequence[str], correct: Bools, *, seed: int) -> Scorer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return _fit_linear(
        (TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),), inputs, correct, seed=seed
    )


def _fit_ending(inputs: Sequence[Mapping[str, str]], correct: Bools, *, seed: int) -> Scorer:
    from sklearn.feature_extraction import DictVectorizer

    return _fit_linear((DictVectorizer(),), inputs, correct, seed=seed)


def _fit_dynamics(inputs: Sequence[Floats], correct: Bools, *, seed: int) -> Scorer:
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    parts = (SimpleImputer(keep_empty_features=True), StandardScaler())
    return _fit_linear(parts, np.array(inputs), correct, seed=seed)


def _fit_linear(
    parts: Sequence[Any], inputs: Sequence[Any] | NDArray[Any], correct: Bools, *, seed: int
) -> Scorer:
    """Fit a logistic regression with the library's default settings and balanced classes."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        *parts, LogisticRegression(class_weight="balanced", max_iter=2000, random_state=seed)
    )
    model.fit(inputs, correct)
    return lambda answers: np.asarray(model.decision_function(answers), np.float64)


_NO_TELEMETRY = "no token telemetry was recorded"

RIVALS: Mapping[str, Rival] = {
    "executed, not empty": Rival(kind="rule", read=_clean),
    "step count": Rival(kind="rule", read=_few_steps),
    "ending only": Rival(kind="rule", read=_ending, fit=_fit_ending),
    "max token entropy": Rival(kind="telemetry", read=_least_entropy, missing=_NO_TELEMETRY),
    "mean log-probability": Rival(kind="telemetry", read=_mean_logprob, missing=_NO_TELEMETRY),
    "token dynamics": Rival(
        kind="telemetry", read=_dynamics, fit=_fit_dynamics, missing=_NO_TELEMETRY
    ),
    "question TF-IDF": Rival(kind="text", read=lambda prefix: prefix.question.text, fit=_fit_text),
    "transcript TF-IDF": Rival(kind="text", read=render, fit=_fit_text),
}
"""In the order of the tables; `ending only` and the last three are fitted on the train pool."""
