"""The feature screen: the AUROC that a feature or a family adds to the transcript's n-grams.

It gives incremental AUROCs of correctness with template-cluster intervals, the survivors among
the paper's ten features, and the loss of the `linear` head without each family (paper appendix
J). All scores are out of fold on the train pool, so that no other pool is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from sentinel_sql.evaluation.bootstrap import Interval, Resampling
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.monitor.prefix_scores import Bools, Floats

LEAD = "[−1, 1]"

Group = Literal["paper feature", "family", "all families", "rival"]


@dataclass(frozen=True, kw_only=True)
class ScreenScores:
    """Out-of-fold scores of N answers to answerable questions, each of shape (N,).

    Attributes:
        templates: N names.
        correct: whether the answer is correct.
        clean: whether the answer executed and isn't empty.
        ngrams: scores of the n-grams alone.
        features: by name, scores of the n-grams with one of the paper's features; None if no run
            records it.
        families: by name, scores of the n-grams with one family of the `linear` head.
        without: by family, scores of the `linear` head without it.
        whole: scores of the `linear` head.
    """

    templates: tuple[str, ...]
    correct: Bools
    clean: Bools
    ngrams: Floats
    features: Mapping[str, Floats | None]
    families: Mapping[str, Floats]
    without: Mapping[str, Floats]
    whole: Floats


@dataclass(frozen=True, kw_only=True)
class ScreenRow:
    """What one feature or family adds to the n-grams."""

    name: Annotated[str, Column("name of the feature or family")]
    group: Annotated[Group, Column("what kind of row it is")]
    n: Annotated[int, Column("answers to answerable questions")]
    auroc: Annotated[
        Interval | None, Column("AUROC of correctness of the n-grams with it", within=SHARE)
    ]
    gain: Annotated[
        Interval | None, Column("auroc minus the AUROC of the n-grams alone", within=LEAD)
    ]
    quiet: Annotated[Interval | None, Column("AUROC among clean answers", within=SHARE)]
    quiet_gain: Annotated[
        Interval | None,
        Column("quiet minus the AUROC of the n-grams among clean answers", within=LEAD),
    ]


@dataclass(frozen=True, kw_only=True)
class SurvivorRow:
    """Whether one of the paper's features survives with one agent."""

    agent: Annotated[str, Column("fingerprint of the agent")]
    feature: Annotated[str, Column("name of the feature")]
    survives: Annotated[
        bool | None, Column("the interval of its gain lies above 0; empty without an interval")
    ]


@dataclass(frozen=True, kw_only=True)
class KnockoutRow:
    """What the `linear` head loses without one family."""

    family: Annotated[str, Column("the family left out")]
    auroc: Annotated[Interval | None, Column("AUROC of correctness without it", within=SHARE)]
    loss: Annotated[Interval | None, Column("AUROC of the whole head minus auroc", within=LEAD)]
    quiet_loss: Annotated[Interval | None, Column("loss among clean answers", within=LEAD)]


def feature_screen(scores: ScreenScores, *, seed: int) -> Exhibit[ScreenRow]:
    """Return what every feature and family adds; the n-grams and the plain rule come first."""
    resampling = Resampling.over(scores.templates, seed=seed)

    def row_of(name: str, group: Group, score: Floats | None) -> ScreenRow:
        target, clean = scores.correct, scores.clean
        if score is None:
            return ScreenRow(
                name=name,
                group=group,
                n=len(target),
                auroc=None,
                gain=None,
                quiet=None,
                quiet_gain=None,
            )
        return ScreenRow(
            name=name,
            group=group,
            n=len(target),
            auroc=resampling.auroc(target, score),
            gain=resampling.auroc_lead(target, score, scores.ngrams),
            quiet=resampling.auroc(target, score, clean),
            quiet_gain=resampling.auroc_lead(target, score, scores.ngrams, clean),
        )

    return Exhibit(
        row=ScreenRow,
        title="Feature screen",
        note=(
            "Out of fold on the train pool: AUROC of correctness with 95 % template-cluster "
            "intervals, and what each feature adds to the n-grams of the transcript."
        ),
        rows=(
            row_of("n-grams alone", "rival", scores.ngrams),
            row_of("executed and not empty", "rival", scores.clean.astype(float)),
            *(row_of(name, "paper feature", each) for name, each in scores.features.items()),
            *(row_of(name, "family", each) for name, each in scores.families.items()),
            row_of("linear", "all families", scores.whole),
        ),
    )


def survivor_matrix(agent: str, screen: Exhibit[ScreenRow]) -> Exhibit[SurvivorRow]:
    """Return which of the paper's ten features survive for one agent, a row for each feature."""
    return Exhibit(
        row=SurvivorRow,
        title="Survivors of the screen",
        note=(
            "A feature survives if the 95 % interval of what it adds to the n-grams lies above 0 "
            "(the paper's criterion is that it excludes 0)."
        ),
        rows=tuple(
            SurvivorRow(
                agent=agent,
                feature=row.name,
                survives=None if row.gain is None else row.gain.low > 0,
            )
            for row in screen.rows
            if row.group == "paper feature"
        ),
    )


def family_knockouts(scores: ScreenScores, *, seed: int) -> Exhibit[KnockoutRow]:
    """Return what the `linear` head loses without each family."""
    resampling = Resampling.over(scores.templates, seed=seed)
    target, clean = scores.correct, scores.clean
    return Exhibit(
        row=KnockoutRow,
        title="Family knock-outs",
        note=(
            "The linear head, fitted again without one family. A loss below 0 means that the "
            "family makes the head worse on these runs."
        ),
        rows=tuple(
            KnockoutRow(
                family=name,
                auroc=resampling.auroc(target, score),
                loss=resampling.auroc_lead(target, scores.whole, score),
                quiet_loss=resampling.auroc_lead(target, scores.whole, score, clean),
            )
            for name, score in scores.without.items()
        ),
    )
