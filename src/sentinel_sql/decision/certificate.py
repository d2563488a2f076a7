"""The certified delivery bar: where the calibration pool proves that answering beats silence.

A delivery of a template counts as wrong if any of its delivered answers is. If at most 1/(1+λ) of
the delivering templates are wrong, the mean payoff of a template is at least 0, that of silence.
The bars are tried from the highest on, each by an exact binomial test. The first failure ends the
search, so that the whole search keeps the chance of one test (fixed-sequence testing). The order of
the answers comes from the raw score of the delivery estimator, never from the labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sentinel_sql.decision.payoff import chow_bar
from sentinel_sql.decision.ragged_columns import gate_times
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.thresholds import Certification, Thresholds


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificate:
    """What the calibration pool proves about deliveries at stakes λ.

    Attributes:
        stakes: λ.
        chance: the largest chance that the claim is false.
        risk: the largest share of wrong templates that the claim allows, 1/(1+λ) by default.
        bar: deliver at this raw delivery score or above; None if nothing can be certified.
        templates: the calibration templates that deliver at the bar, or at the bar that failed.
        wrong: how many of them deliver a wrong answer.
        could: the calibration templates that could deliver anything.
        needed: templates without a wrong answer that would do.
    """

    stakes: float
    chance: float
    risk: float
    bar: float | None
    templates: int
    wrong: int
    could: int
    needed: int

    @property
    def why(self) -> str:
        """One sentence on the claim, or on why there is none."""
        sure = f"at {100 * (1.0 - self.chance):.3g} % confidence"
        if self.bar is None and self.could < self.needed:
            return (
                f"not with these {self.could} templates: at least {self.needed} that deliver "
                f"no wrong answer would do, {sure}"
            )
        if self.bar is None:
            return (
                f"not with these {self.could} templates: of the {self.templates} with the highest "
                f"scores {self.wrong} deliver a wrong answer, and {self.needed} without one would "
                f"do, {sure}"
            )
        return (
            f"{self.templates - self.wrong} of {self.templates} templates deliver no wrong answer, "
            f"so at most {100 * self.risk:.3g} % of such templates deliver one, {sure}"
        )


def certify(
    scores: PrefixScores,
    *,
    stakes: float,
    theta: float | None = None,
    chance: float = Certification().chance,
    risk: float | None = None,
) -> Certificate:
    """Return the lowest certified bar at stakes λ.

    Args:
        scores: the calibration pool's columns.
        stakes: λ ≥ 0.
        theta: the gate before the bar, or None.
        chance: the largest chance that the certificate is false, in (0, 1).
        risk: the largest share of delivering templates with a wrong answer, in (0, 1); by default
            that at which deliveries earn what silence earns.

    Raises:
        InputError: the stakes, the chance or the risk make no sense.
    """
    chow_bar(stakes)
    for name, value in (("chance", chance), ("risk", risk)):
        if value is not None and not 0.0 < value < 1.0:
            raise InputError(f"{name}={value:g} must lie between 0 and 1")
    allowed = 1.0 / (1.0 + stakes) if risk is None else risk
    needed = 1 if allowed == 1.0 else math.ceil(math.log(chance) / math.log1p(-allowed) - 1e-9)
    could = scores.answered & (gate_times(scores, theta) > scores.steps)
    runs = np.flatnonzero(could)
    runs = runs[np.argsort(-scores.delivery_score[runs], kind="stable")]
    ranked = scores.delivery_score[runs].tolist()
    could_deliver = {scores.templates[run] for run in runs.tolist()}
    delivering: set[str] = set()
    wrong: set[str] = set()
    bar, found = None, (0, 0)
    for at, run in enumerate(runs.tolist()):
        delivering.add(scores.templates[run])
        if not scores.correct[run]:
            wrong.add(scores.templates[run])
        tied = at + 1 < len(ranked) and ranked[at + 1] == ranked[at]
        if tied or len(delivering) < needed:
            continue
        if _tail(len(wrong), len(delivering), allowed) > chance:
            break
        bar, found = ranked[at], (len(delivering), len(wrong))
    if bar is None:
        found = len(delivering), len(wrong)
    return Certificate(
        stakes=stakes,
        chance=chance,
        risk=allowed,
        bar=bar,
        templates=found[0],
        wrong=found[1],
        could=len(could_deliver),
        needed=needed,
    )


def certify_frozen(scores: PrefixScores, thresholds: Thresholds, *, stakes: float) -> Certificate:
    """Return the certificate at stakes λ for a monitor's gate, and the claim it was fitted for.

    Args:
        scores: the calibration pool's columns.
        thresholds: of the monitor.
        stakes: λ ≥ 0.

    Raises:
        InputError: the stakes make no sense.
    """
    claim = thresholds.certification
    return certify(
        scores,
        stakes=stakes,
        theta=thresholds.gate.theta,
        chance=claim.chance,
        risk=claim.risk,
    )


def _tail(wrong: int, templates: int, share: float) -> float:
    """Return the chance of so few wrong templates, or fewer, if this share of all is wrong."""
    if share >= 1.0:
        return 0.0
    from scipy.special import bdtr  # imported here, so that a guard starts without scipy

    return float(bdtr(wrong, templates, share))
