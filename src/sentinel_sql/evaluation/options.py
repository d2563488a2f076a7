"""Options of one evaluation: how the same recorded runs are scored and decided otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sentinel_sql.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Options:
    """What an evaluation does otherwise; by default nothing.

    Attributes:
        exact_bar: deliver at (λ+ε)/(1+λ) instead of Chow's λ/(1+λ).
        strict: the same decisions, scored by the strict labels (paper appendix F).
        question_only: a monitor that reads the question and never the run: every confidence is
            that of t = 0, calibrated and thresholded on the calibration pool (paper appendix F).
        reweight: share of unanswerable questions that every figure is for, in (0, 1), instead of
            the pool's own (paper appendix F).
    """

    exact_bar: bool = False
    strict: bool = False
    question_only: bool = False
    reweight: float | None = None

    def __post_init__(self) -> None:
        if self.reweight is not None and not 0 < self.reweight < 1:
            raise InputError(
                f"a share of {self.reweight:g} unanswerable questions makes no sense: give one "
                "between 0 and 1, such as 0.2"
            )

    def to_json(self) -> dict[str, Any]:
        """Return JSON-ready data; `Options(**data)` reads it back."""
        return vars(self).copy()
