"""One stream of numbers, tested at every time for a change against a reference.

The reference and the live numbers are taken as one sequence, the reference first. If that sequence
is exchangeable, the smoothed ranks of the live numbers among all numbers so far are independent and
uniform on [0, 1] (Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World*, 2005,
chapter 8). The reference may therefore be small: live numbers join it as they come.

A `Stream` bets against uniform ranks by the Simple Jumper (Vovk et al., *Retrain or Not Retrain*,
2021). Each account multiplies its capital by 1 + ε (p − 1/2), a factor that is never negative and
has mean 1 for a uniform p; before each bet a share of all capital is spread evenly over the
accounts. The capital is thus a martingale that starts at 1, and by Ville's inequality the chance
that it ever reaches 1/α is at most α.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from sentinel_sql.monitor.head import Floats

BETS = np.array([-1.9, -1.0, 0.0, 1.0, 1.9])
"""ε of each account. Below −2 or above 2 a factor could be negative."""

JUMP = 0.01
"""Share of the capital that is spread evenly before each bet (Vovk et al. 2021)."""

Direction = Literal["higher", "lower"]


def coarse(value: float) -> float:
    """Round a number to a grid that doesn't depend on data: about 32 steps for each unit.

    Beyond 1 the grid is logarithmic. A grid made from the reference, such as its quantiles, would
    treat reference and live numbers differently, and the ranks wouldn't be uniform.
    """
    return float(np.sign(value) * np.round(np.log1p(abs(value)) * 32) / 32)


class Stream:
    """The test of one stream. Its capital so far is the evidence against "nothing changed"."""

    def __init__(self, reference: Mapping[float, int], rng: np.random.Generator) -> None:
        """Start at capital 1.

        Args:
            reference: how often each coarse number was seen.
            rng: draws the ranks among equal numbers; it must not depend on the numbers.
        """
        self._counts = dict(reference)
        self._rng = rng
        self._accounts: Floats = np.full(len(BETS), 1 / len(BETS))

    @property
    def capital(self) -> float:
        """The capital now; its expectation is 1 as long as nothing changed."""
        return float(self._accounts.sum())

    @property
    def direction(self) -> Direction:
        """Where the numbers moved, by the bets that earned most."""
        return (
            "higher" if self._accounts[BETS < 0].sum() > self._accounts[BETS > 0].sum() else "lower"
        )

    def observe(self, value: float) -> float:
        """Bet on the rank of one more number, and return the capital after it."""
        value = coarse(value)
        self._counts[value] = self._counts.get(value, 0) + 1
        above = sum(count for it, count in self._counts.items() if it > value)
        rank = (above + self._rng.random() * self._counts[value]) / sum(self._counts.values())
        mixed = (1 - JUMP) * self._accounts + JUMP * self._accounts.mean()
        self._accounts = mixed * (1 + BETS * (rank - 0.5))
        return self.capital
