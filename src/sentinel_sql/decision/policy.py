"""Applies the rules in order (gate, early stop, delivery bar) to one state or to many runs.

`Policy.decide` judges the newest state of one live run. `Policy.replay` judges recorded runs in
columns. A test checks that both agree on every run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.decision.certificate import certify_frozen
from sentinel_sql.decision.payoff import chow_bar, exact_bar
from sentinel_sql.decision.ragged_columns import clears_bar, early_times, gate_times
from sentinel_sql.decision.thresholds import early_stop
from sentinel_sql.monitor.prefix_scores import Bools, Ints, PrefixScores
from sentinel_sql.monitor.thresholds import Thresholds

Kind = Literal["continue", "refuse", "exit", "withhold", "deliver"]
"""`refuse` at t = 0, `exit` mid-run, `withhold` at the end; all three give ⊥."""

Reason = Literal[
    "undecided",
    "unanswerable",
    "unlikely-correct",
    "above-bar",
    "below-bar",
    "no-bar",
    "agent-abstained",
    "step-cap",
    "stakes-too-high",
    "uncalibrated",
]
"""Why. `no-bar`: the system has no delivery bar. `undecided`: the run goes on. `stakes-too-high`:
the monitor has too few right calibration answers to deliver at these stakes. `uncalibrated`: it
has none of this agent at all."""

Ending = Literal["answer", "abstention", "cap"]
"""How a run ends on its own; None means that the run is still going."""

KINDS: tuple[Kind, ...] = get_args(Kind)
REASONS: tuple[Reason, ...] = get_args(Reason)

Codes = NDArray[np.int8]


class Assessed(Protocol):
    """A monitor's confidences for one prefix, each in [0, 1]; higher is better."""

    @property
    def t(self) -> int:
        """Steps taken."""
        ...

    @property
    def p_answerable(self) -> float:
        """Chance that the question is answerable."""
        ...

    @property
    def p_correct(self) -> float:
        """Chance that the run ends in a delivered correct answer."""
        ...

    @property
    def delivery(self) -> float | None:
        """Calibrated chance that the committed answer earns +1; None where none is committed."""
        ...

    @property
    def delivery_score(self) -> float | None:
        """Raw score of the delivery estimator; None where no answer is committed."""
        ...

    @property
    def p_unanswerable(self) -> float | None:
        """Calibrated ε of the exact bar; None where no answer is committed."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What to do now, and why."""

    kind: Kind
    reason: Reason

    @property
    def stops(self) -> bool:
        """True if the run is over."""
        return self.kind != "continue"


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """The decisions of a policy on N recorded runs.

    Attributes:
        kinds: shape (N,), indices into `KINDS`.
        reasons: shape (N,), indices into `REASONS`.
        t: shape (N,): number of steps run; T − t steps are saved.
        delivered: shape (N,).
    """

    kinds: Codes
    reasons: Codes
    t: Ints
    delivered: Bools


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """One system at one level of stakes. A rule that is None is switched off.

    Attributes:
        stakes: λ ≥ 0.
        theta: gate: stop as soon as p_answerable(t) < θ, at every t = 0 … T.
        early: early stop: stop as soon as p_correct(t) < s_λ, mid-run only, 1 ≤ t < T.
        bar: deliver iff confidence ≥ λ/(1+λ) (`chow`) or ≥ (λ+ε)/(1+λ) (`exact`), or iff the raw
            delivery score reaches `certified_at` (`certified`).
        certified_at: the certified bar; None delivers nothing.
        served: False if the monitor can't serve these stakes; every run then stops at once.
        calibrated: False if the monitor knows no run of the agent; nothing is then delivered where
            a wrong answer costs anything.
    """

    stakes: float
    theta: float | None = None
    early: float | None = None
    bar: Literal["chow", "exact", "certified"] | None = "chow"
    certified_at: float | None = None
    served: bool = True
    calibrated: bool = True

    def decide(self, assessed: Assessed, ending: Ending | None) -> Decision:
        """Judge the current state of a run.

        Args:
            assessed: the monitor's confidences for the prefix.
            ending: how the newest step ends the run, or None while it is open.

        Raises:
            ValueError: an answer without a delivery confidence.
        """
        if not self.served:
            stop: Kind = "refuse" if assessed.t == 0 else "withhold" if ending else "exit"
            return Decision(kind=stop, reason="stakes-too-high")
        if self.theta is not None and assessed.p_answerable < self.theta:
            kind: Kind = "refuse" if assessed.t == 0 else "withhold" if ending else "exit"
            return Decision(kind=kind, reason="unanswerable")
        if ending == "abstention":
            return Decision(kind="withhold", reason="agent-abstained")
        if ending == "cap":
            return Decision(kind="withhold", reason="step-cap")
        if ending == "answer":
            return self._at_delivery(assessed)
        if self.early is not None and assessed.t >= 1 and assessed.p_correct < self.early:
            return Decision(kind="exit", reason="unlikely-correct")
        return Decision(kind="continue", reason="undecided")

    def delivery_bar(self, p_unanswerable: float | None) -> float | None:
        """Return the confidence that an answer must reach, or None if there is no such bar."""
        if self.bar is None or self.bar == "certified":
            return None
        if self.bar == "chow":
            return chow_bar(self.stakes)
        if p_unanswerable is None:
            raise ValueError("the exact bar needs the estimate that the question is unanswerable")
        return float(exact_bar(self.stakes, p_unanswerable))

    def _at_delivery(self, assessed: Assessed) -> Decision:
        if self._blind:
            return Decision(kind="withhold", reason="uncalibrated")
        if self.bar == "certified":
            raw = assessed.delivery_score
            certified = raw is not None and self.certified_at is not None
            if certified and raw >= self.certified_at:  # type: ignore[operator]
                return Decision(kind="deliver", reason="above-bar")
            return Decision(kind="withhold", reason="below-bar")
        bar = self.delivery_bar(assessed.p_unanswerable)
        if bar is None:
            return Decision(kind="deliver", reason="no-bar")
        if assessed.delivery is None or math.isnan(assessed.delivery):
            raise ValueError("an answer needs a delivery confidence")
        if assessed.delivery >= bar:
            return Decision(kind="deliver", reason="above-bar")
        return Decision(kind="withhold", reason="below-bar")

    @property
    def _blind(self) -> bool:
        return not self.calibrated and self.bar is not None and self.stakes > 0

    def _clears(self, scores: PrefixScores) -> Bools:
        """Return which answers the delivery bar lets pass, shape (N,)."""
        if self.bar is None:
            return scores.answered
        if self._blind:
            return np.zeros(len(scores), np.bool_)
        if self.bar == "certified":
            if self.certified_at is None:
                return np.zeros(len(scores), np.bool_)
            return scores.answered & (scores.delivery_score >= self.certified_at)
        return clears_bar(scores, stakes=self.stakes, exact=self.bar == "exact")

    def replay(self, scores: PrefixScores) -> Verdicts:
        """Judge recorded runs in columns; the result is that of calling `decide` step by step."""
        if not self.served:
            return _all_refused(len(scores))
        steps = scores.steps
        gated = gate_times(scores, self.theta)
        early = early_times(scores, self.early)
        by_gate = (gated <= steps) & (gated <= early)
        by_early = (early <= steps) & ~by_gate
        t = np.minimum(np.minimum(gated, early), steps)
        clears = self._clears(scores)
        delivered = clears & ~by_gate & ~by_early
        kinds = np.select(
            [by_gate & (t == 0), (by_gate & (t < steps)) | by_early, delivered],
            [KINDS.index("refuse"), KINDS.index("exit"), KINDS.index("deliver")],
            KINDS.index("withhold"),
        )
        reasons = np.select(
            [by_gate, by_early, scores.abstained, ~scores.answered, delivered],
            [
                REASONS.index("unanswerable"),
                REASONS.index("unlikely-correct"),
                REASONS.index("agent-abstained"),
                REASONS.index("step-cap"),
                REASONS.index("no-bar" if self.bar is None else "above-bar"),
            ],
            REASONS.index("uncalibrated" if self._blind else "below-bar"),
        )
        return Verdicts(
            kinds=kinds.astype(np.int8),
            reasons=reasons.astype(np.int8),
            t=t,
            delivered=delivered,
        )


def _all_refused(runs: int) -> Verdicts:
    return Verdicts(
        kinds=np.full(runs, KINDS.index("refuse"), np.int8),
        reasons=np.full(runs, REASONS.index("stakes-too-high"), np.int8),
        t=np.zeros(runs, np.int64),
        delivered=np.zeros(runs, np.bool_),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class System:
    """A named combination of checks, without thresholds."""

    gate: bool = False
    early: bool = False
    bar: bool = False
    certified: bool = False
    nothing: bool = False


SYSTEMS: Mapping[str, System] = {
    "vanilla": System(),
    "gate": System(gate=True),
    "chow": System(bar=True),
    "full": System(gate=True, bar=True),
    "early-stop": System(gate=True, bar=True, early=True),
    "certified": System(gate=True, certified=True),
    "always-abstain": System(nothing=True),
}
"""The systems of the ladder, in its order (paper section 4.1 and table 7)."""


def policy(
    system: str,
    *,
    thresholds: Thresholds,
    stakes: float,
    exact: bool = False,
    calibration: PrefixScores | None = None,
) -> Policy:
    """Make a policy from a system's checks and the frozen thresholds.

    Args:
        system: a name in `SYSTEMS`.
        thresholds: frozen on the calibration pool.
        stakes: λ ≥ 0. Above the stakes that the monitor serves, a system with a delivery bar
            refuses everything.
        exact: deliver at the exact bar instead of Chow's.
        calibration: the calibration pool's columns. If the system stops early and no s_λ was
            frozen for these stakes, s_λ is computed from them. A certified bar is always computed
            from them; without them nothing is certified.

    Raises:
        InputError: the stakes make no sense.
        ValueError: s_λ was not frozen, and there are no columns to compute it from.
    """
    parts = SYSTEMS[system]
    chow_bar(stakes)
    if parts.bar and not thresholds.serves(stakes):
        return Policy(stakes=stakes, served=False)
    if parts.nothing:
        # Every p_answerable is below infinity, so no run passes this gate.
        return Policy(stakes=stakes, theta=math.inf)
    if parts.certified:
        proved = None
        if calibration is not None:
            proved = certify_frozen(calibration, thresholds, stakes=stakes).bar
        return Policy(
            stakes=stakes,
            theta=thresholds.gate.theta,
            bar="certified",
            certified_at=proved,
            calibrated=thresholds.calibrated,
        )
    early = None
    if parts.early:
        frozen = thresholds.early_stop(stakes, exact_bar=exact)
        if frozen is None and calibration is not None:
            frozen = early_stop(
                calibration, theta=thresholds.gate.theta, stakes=stakes, exact_bar=exact
            )
        if frozen is None:
            raise ValueError(f"no early stop was frozen for stakes {stakes:g}")
        early = frozen.threshold
    return Policy(
        stakes=stakes,
        theta=thresholds.gate.theta if parts.gate else None,
        early=early,
        bar=None if not parts.bar else "exact" if exact else "chow",
        calibrated=thresholds.calibrated,
    )
