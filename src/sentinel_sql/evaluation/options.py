"""Options of an evaluation, which change how the same runs are scored and decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.prefix_scores import Floats

HIGHEST_PRICE = 1e12
"""Highest price of a million tokens in any currency; ours: no sum of such prices overflows."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices of a million tokens of a model, in any currency."""

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        for price in (self.prompt, self.completion):
            if not 0 <= price <= HIGHEST_PRICE:
                raise InputError(
                    f"a price of {price:g} for a million tokens makes no sense: give a number from "
                    f"0 to {HIGHEST_PRICE:,.0f}"
                )

    def of(self, prompt_tokens: Floats, completion_tokens: Floats) -> Floats:
        """Return the price of runs, in the shape of their tokens; NaN stays NaN."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of an evaluation, all off by default.

    Attributes:
        exact_bar: deliver at (λ+ε)/(1+λ) instead of Chow's λ/(1+λ).
        strict: score the same decisions by the strict labels (paper appendix F).
        question_only: evaluate a monitor that reads the question only. Every confidence is that
            of t = 0, and is calibrated and thresholded on the calibration pool (paper appendix F).
        reweight: re-weight all figures to this share of unanswerable questions, in (0, 1) (paper
            appendix F).
        prices: of the agent's tokens, or None.
    """

    exact_bar: bool = False
    strict: bool = False
    question_only: bool = False
    reweight: float | None = None
    prices: Prices | None = None

    def __post_init__(self) -> None:
        if self.reweight is not None and not 0 < self.reweight < 1:
            raise InputError(
                f"a share of {self.reweight:g} unanswerable questions makes no sense: give one "
                "between 0 and 1, such as 0.2"
            )

    def to_json(self) -> dict[str, Any]:
        """Return JSON-ready data; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        Raises:
            TypeError, ValueError: the data don't describe options.
        """
        prices = data["prices"]
        return cls(**{**data, "prices": None if prices is None else Prices(**prices)})
