"""The same decisions, scored by the judge's labels and by the strict ones (paper appendix F)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentinel_sql.decision.payoff import payoffs
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import RS_RANGE, RS_UNIT, SHARE, STAKES, SYSTEM, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit

SYSTEMS = ("vanilla", "full", "early-stop")


@dataclass(frozen=True, kw_only=True)
class StrictRow:
    """One system at one λ under one kind of label."""

    labels: Annotated[
        str, Column("whose labels", within="judge (those of the evaluation) or strict")
    ]
    system: Annotated[str, SYSTEM]
    stakes: Annotated[float, STAKES]
    rs: Annotated[Interval | None, Column("reliability score RS(λ)", unit=RS_UNIT, within=RS_RANGE)]
    gain: Annotated[
        Interval | None, Column("RS(λ) minus that of refusing everything", unit=RS_UNIT)
    ]
    accuracy: Annotated[
        Interval | None,
        Column("share of the delivered answers that is correct", unit="share", within=SHARE),
    ]


def strict_scoring(evidence: Evidence) -> Exhibit[StrictRow]:
    """Return a row for each kind of labels that the runs have."""
    resampling = evidence.resampling
    readings = {"judge": evidence.recorded.correct, "strict": evidence.facts.strict}
    rows = []
    for labels, correct in readings.items():
        if correct is None:
            continue
        for level in evidence.stakes:
            nothing = evidence.replays["always-abstain", level].payoff
            for system in SYSTEMS:
                delivered = evidence.replays[system, level].delivered
                payoff = payoffs(
                    delivered=delivered,
                    correct=correct,
                    answerable=evidence.scores.answerable,
                    stakes=level,
                )
                rows.append(
                    StrictRow(
                        labels=labels,
                        system=system,
                        stakes=level,
                        rs=resampling.mean(payoff),
                        gain=resampling.mean(payoff - nothing),
                        accuracy=resampling.mean(correct, delivered),
                    )
                )
    return Exhibit(
        title="Strict scoring",
        note=(
            "The same decisions, scored by the judge and by the official execution match. "
            "Calibration and thresholds were made for the judge's labels."
        ),
        row=StrictRow,
        rows=tuple(rows),
    )
