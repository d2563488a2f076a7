"""The thresholds frozen on the calibration pool: gate, early stops, and the stakes served.

`decision` chooses them, and a monitor stores them. They are checked when a monitor is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, ValidationError

from sentinel_sql.errors import BundleError
from sentinel_sql.plain_record import Record

GateRule = Literal["bounded", "paper", "none"]
"""How θ is chosen: by an exact bound over templates, by the paper's rule, or not at all."""

Count = Annotated[int, Field(ge=0, strict=True)]
Share = Annotated[float, Field(ge=0, le=1)]
Stakes = Annotated[float, Field(ge=0)]


class _Frozen(Record):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


class Gate(_Frozen):
    """The exit gate: a run stops as soon as p_answerable(t) < `theta`.

    Attributes:
        theta: in [0, 1]; None means no gate.
        rule: how θ was chosen.
        answerable: the number of answerable calibration questions.
        allowed: how many of them it may stop by the paper's rule; 0 under the other rules.
        stopped: how many of them it stops.
        templates: the number of answerable calibration templates.
        templates_stopped: templates with at least one question that it stops.
        tolerance: the largest share of answerable templates that a bounded gate may stop.
        bound: the exact 90 % upper bound on that share, for `templates_stopped`.
        templates_needed: the least number of templates for a gate, if it stops none of them.
    """

    theta: Share | None
    rule: GateRule = "paper"
    answerable: Count
    allowed: Count = 0
    stopped: Count
    templates: Count = 0
    templates_stopped: Count = 0
    tolerance: Share = 0.0
    bound: Share = 1.0
    templates_needed: Count = 0

    @property
    def why(self) -> str:
        """One sentence on the guarantee of the gate, or on why there is none."""
        if self.rule == "none":
            return "no gate: it was switched off"
        if self.answerable == 0:
            return "no gate: the calibration pool has no answerable question to set it by"
        if self.rule == "paper":
            return (
                f"the paper's rule: stops {self.stopped} of {self.answerable} answerable "
                f"calibration questions, where {self.allowed} may be"
            )
        if self.theta is None:
            return (
                f"no gate: {self.templates} answerable calibration templates can't show that it "
                f"would stop at most {self.tolerance:.3g} of them; {self.templates_needed} without "
                "a loss would"
            )
        return (
            f"stops questions of {self.templates_stopped} of {self.templates} answerable "
            f"calibration templates: at most {self.bound:.1%} of all such templates, at 90 % "
            "confidence"
        )


class EarlyStop(_Frozen):
    """The early stop at stakes λ: a run stops mid-run as soon as p_correct(t) < `threshold`.

    Attributes:
        stakes: λ.
        exact_bar: the delivery bar is the exact one instead of Chow's.
        threshold: s_λ; None means never, because no threshold keeps RS(λ) and saves a step.
        rs: RS(λ) of gate, early stop and delivery bar on the calibration pool.
        rs_without: RS(λ) of gate and delivery bar there; never above `rs`.
        steps_saved: steps of the calibration pool that gate and early stop save.
    """

    stakes: Stakes
    exact_bar: bool
    threshold: Annotated[float, Field(ge=0, lt=1.0001)] | None
    rs: float
    rs_without: float
    steps_saved: Count


class ServedStakes(_Frozen):
    """The highest stakes at which the calibration counts justify a delivery.

    The highest block of an isotonic fit has the calibration answers of the highest scores. A
    template counts as right if all of its answers in this block are right. So the share of right
    templates is never above the probability that an answer of a new template is right.

    Attributes:
        templates: the number of templates with an answer in the highest block.
        right: how many of them have only right answers there.
        bound: the exact 90 % lower bound on the share of right templates.
        limit: the largest λ with λ/(1+λ) ≤ `bound`.
    """

    templates: Count
    right: Count
    bound: Annotated[float, Field(ge=0, lt=1)]
    limit: Stakes

    @property
    def why(self) -> str:
        """One sentence on the reason for the limit."""
        return (
            f"in {self.right} of {self.templates} templates every answer of the highest confidence "
            f"is right, so at least {self.bound:.3g} of such templates are, at 90 % confidence"
        )


class Certification(_Frozen):
    """What a certified bar claims.

    Attributes:
        chance: the largest chance that its claim is false.
        risk: the largest share of delivering templates with a wrong answer; None for that at which
            deliveries earn what silence earns.
    """

    chance: Annotated[float, Field(gt=0, lt=1)] = 0.1
    risk: Annotated[float, Field(gt=0, lt=1)] | None = None


class Thresholds(_Frozen):
    """All thresholds frozen on the calibration pool.

    Attributes:
        gate: the exit gate.
        early_stops: one for each requested λ and delivery bar.
        served: the stakes that the calibration counts justify; None in evaluations of earlier
            versions, where no stakes are refused.
        calibrated: False in a monitor that knows no run of the agent it judges.
        certification: what its certified bars claim.
    """

    gate: Gate
    early_stops: tuple[EarlyStop, ...]
    served: ServedStakes | None = None
    calibrated: bool = True
    certification: Certification = Certification()

    def early_stop(self, stakes: float, *, exact_bar: bool = False) -> EarlyStop | None:
        """Return the early stop for these stakes and this bar, or None if none was frozen."""
        for stop in self.early_stops:
            if stop.stakes == stakes and stop.exact_bar == exact_bar:
                return stop
        return None

    def serves(self, stakes: float) -> bool:
        """Return whether the calibration counts justify a delivery at these stakes."""
        return self.served is None or stakes <= self.served.limit

    def without_gate(self) -> Self:
        """Return the thresholds without gate and early stops, which depend on the gate."""
        off = Gate(theta=None, rule="none", answerable=self.gate.answerable, stopped=0)
        return self.model_copy(update={"gate": off, "early_stops": ()})

    def to_json(self) -> dict[str, Any]:
        """Return JSON-ready data; `from_json` reads it back unchanged."""
        return self.model_dump(mode="json")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the result of `to_json`, of this or an earlier version.

        Raises:
            BundleError: the data don't describe thresholds.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            place = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
            raise BundleError(
                f"the thresholds can't be read ({place or 'no record'}): fit the monitor again "
                "with `sentinel fit`"
            ) from error
