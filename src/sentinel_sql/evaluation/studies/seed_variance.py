"""The seed variance: the main figures of monitors that differ only in their seed (appendix M)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.decision.ragged_columns import terminal
from sentinel_sql.evaluation.column_meaning import STAKES, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.exhibits.withholding import trust_scores
from sentinel_sql.evaluation.metrics import BINS, auroc, bin_of

Figure = tuple[str, float | None]
"""The name of a figure, and its λ or None."""

FIGURE = Column("what the number is")
AT = Column("stakes λ, where the figure has them", within=STAKES.within)


@dataclass(frozen=True, kw_only=True)
class SeedRow:
    """One figure over all seeds; numbers are None if the figure isn't defined for a seed."""

    figure: Annotated[str, FIGURE]
    stakes: Annotated[float | None, AT]
    seeds: Annotated[int, Column("monitors fitted, each with another seed")]
    of_record: Annotated[float | None, Column("the figure with the evaluated monitor's own seed")]
    mean: Annotated[float | None, Column("mean over the seeds")]
    sd: Annotated[float | None, Column("standard deviation over the seeds, with denominator n − 1")]
    lowest: Annotated[float | None, Column("lowest of the seeds")]
    highest: Annotated[float | None, Column("highest of the seeds")]


@dataclass(frozen=True, kw_only=True)
class SeedFigureRow:
    """One figure of one seed's monitor."""

    seed: Annotated[int, Column("seed of folds, heads and hybrid")]
    figure: Annotated[str, FIGURE]
    stakes: Annotated[float | None, AT]
    value: Annotated[float | None, Column("the figure on the evaluated pool")]


def seed_variance(by_seed: Mapping[int, Evidence]) -> Exhibit[SeedRow]:
    """Return mean, standard deviation and range of the main figures.

    Args:
        by_seed: the same runs, scored by monitors that differ in their seed; the first is the
            evaluated monitor.
    """
    figures = [dict(main_figures(evidence)) for evidence in by_seed.values()]
    rows = []
    for name, stakes in figures[0]:
        values = [each[name, stakes] for each in figures]
        known = [value for value in values if value is not None]
        whole = len(known) == len(values)
        rows.append(
            SeedRow(
                figure=name,
                stakes=stakes,
                seeds=len(values),
                of_record=values[0],
                mean=float(np.mean(known)) if whole else None,
                sd=float(np.std(known, ddof=1)) if whole and len(known) > 1 else None,
                lowest=min(known) if whole else None,
                highest=max(known) if whole else None,
            )
        )
    return Exhibit(
        title="Seed variance",
        note=(
            "Folds, heads and hybrid are fitted again with other seeds on the same runs; "
            "differences below this spread may be chance."
        ),
        row=SeedRow,
        rows=tuple(rows),
    )


def seed_figures(by_seed: Mapping[int, Evidence]) -> Exhibit[SeedFigureRow]:
    """Return the figures of every seed; the argument is that of `seed_variance`."""
    return Exhibit(
        title="Figures by seed",
        note="The figures behind the seed variance.",
        row=SeedFigureRow,
        rows=tuple(
            SeedFigureRow(seed=seed, figure=name, stakes=stakes, value=value)
            for seed, evidence in by_seed.items()
            for (name, stakes), value in main_figures(evidence)
        ),
    )


def main_figures(evidence: Evidence) -> Iterator[tuple[Figure, float | None]]:
    """Yield the main figures of one monitor; None if one isn't defined."""
    scores = evidence.scores
    answered, last = scores.answered, terminal(scores)
    answers = answered & scores.answerable
    raw = scores.raw_correct[last]
    for name, where in (
        ("AUROC correctness", answers),
        ("AUROC correctness, quiet failures", answers & scores.clean),
    ):
        yield (name, None), auroc(scores.correct[where], raw[where])
    yield (
        ("AUROC answerability", None),
        auroc(scores.answerable, scores.p_answerable[last]),
    )
    yield (
        ("withhold AUC", None),
        auroc(scores.correct[answered], trust_scores(evidence)[answered]),
    )
    ece = evidence.resampling.mean_gap(
        scores.delivery - scores.correct, bin_of(scores.delivery), answered, bins=BINS
    )
    yield ("ECE calibrated", None), None if ece is None else ece.estimate
    for level in evidence.stakes:
        for system in ("full", "early-stop"):
            run = evidence.replays[system, level]
            yield (f"RS {system}", level), evidence.mean(run.payoff)
        full, early = evidence.replays["full", level], evidence.replays["early-stop", level]
        yield ("coverage full", level), evidence.mean(full.delivered)
        yield ("accuracy full", level), evidence.mean(scores.correct, full.delivered)
        yield (
            ("steps saved early-stop", level),
            evidence.saved_share(early.steps, scores.steps),
        )
