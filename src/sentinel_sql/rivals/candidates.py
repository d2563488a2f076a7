"""Which kind of head the default should be: candidates under the same folds (spec, section 5).

Scores are out of fold and of several seeds. A more costly head replaces a simpler one only if the
AUROC of correctness grows by at least 0.02 (the paper's rule for encoders, section 3.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from sklearn.metrics import roc_auc_score

from sentinel_sql.evaluation.bootstrap import Interval, Resampling
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.monitor.prefix_scores import Bools, Floats

ADOPT_FROM = 0.02
"""AUROC of correctness by which a head must beat a simpler one to replace it."""


@dataclass(frozen=True, kw_only=True)
class ComparedRuns:
    """N runs that are compared on, their labels in columns of shape (N,)."""

    templates: tuple[str, ...]
    answered: Bools
    answerable: Bools
    correct: Bools
    clean: Bools


@dataclass(frozen=True, kw_only=True)
class CandidateScores:
    """What one candidate says of N runs, out of fold.

    Attributes:
        name: of the candidate.
        kind: a head, or a rival that stands beside it and is never adopted.
        correct: a column a seed, each of shape (N,): at the end of the run; NaN where it says
            nothing. Empty if it couldn't be tried.
        answerable: the same, that the question is answerable; empty for a rival.
        answerable_at_start: the same at t = 0, of the question alone.
        seconds: for one step: reading it and scoring both heads; None if unknown.
        why_not: why it wasn't tried.
    """

    name: str
    kind: Literal["head", "rival"]
    correct: tuple[Floats, ...] = ()
    answerable: tuple[Floats, ...] = ()
    answerable_at_start: tuple[Floats, ...] = ()
    seconds: float | None = None
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class CandidateRow:
    """One candidate. AUROCs are means over the seeds, None for one class only."""

    candidate: Annotated[str, Column("kind of head, or name of a rival")]
    kind: Annotated[str, Column("what it is", within="head or rival")]
    auroc: Annotated[
        Interval | None,
        Column("AUROC of correctness over answers to answerable questions", within=SHARE),
    ]
    lowest: Annotated[float | None, Column("the lowest of its seeds", within=SHARE)]
    highest: Annotated[float | None, Column("the highest of its seeds", within=SHARE)]
    lead: Annotated[
        Interval | None,
        Column("its AUROC minus the default head's, same runs and seeds", within="[−1, 1]"),
    ]
    quiet: Annotated[
        Interval | None,
        Column("AUROC among the clean ones: executed and not empty", within=SHARE),
    ]
    quiet_lead: Annotated[
        Interval | None, Column("its lead over the default head among them", within="[−1, 1]")
    ]
    answerable: Annotated[
        Interval | None, Column("AUROC of answerability over all runs at t = T", within=SHARE)
    ]
    answerable_at_start: Annotated[
        Interval | None, Column("AUROC of answerability at t = 0", within=SHARE)
    ]
    seconds_a_step: Annotated[
        float | None, Column("reading a step and scoring both heads", unit="seconds")
    ]
    verdict: Annotated[str, Column("what the rule of 0.02 says of it")]


def candidates(
    runs: ComparedRuns, scored: Sequence[CandidateScores], *, default: str, seed: int
) -> Exhibit[CandidateRow]:
    """Compare candidates on the same runs.

    Args:
        runs: what they were scored on.
        scored: the heads, simplest first, and the rivals.
        default: the head that is the default now; leads are over it.
        seed: of the bootstrap.
    """
    resampling = Resampling.over(runs.templates, seed=seed)
    verdicts, adopted = _verdicts(runs, scored, resampling)
    held = next((it for it in scored if it.name == default and it.correct), None)
    return Exhibit(
        title="Candidates for the head",
        note=(
            f"Out of fold over {len(runs.templates)} runs, {len(set(runs.templates))} templates, "
            f"means over seeds; leads are over {default}, the default. By the rule of "
            f"{ADOPT_FROM:g} AUROC the default should be {adopted or 'none of these'}."
        ),
        row=CandidateRow,
        rows=tuple(_row(runs, it, held, verdicts, resampling) for it in scored),
    )


def _verdicts(
    runs: ComparedRuns, scored: Sequence[CandidateScores], resampling: Resampling
) -> tuple[Mapping[str, str], str | None]:
    """Go from the simplest head to the most costly; each must beat the one adopted so far.

    Returns:
        What the rule says of each candidate, and the head that it ends with.
    """
    where = runs.answered & runs.answerable
    holder: CandidateScores | None = None
    said: dict[str, str] = {}
    for it in scored:
        if it.kind == "rival":
            said[it.name] = "a rival"
        elif not it.correct:
            said[it.name] = f"not tried: {it.why_not}"
        elif holder is None:
            holder = it
            said[it.name] = "simplest"
        else:
            gain = resampling.mean_auroc(runs.correct, it.correct, where, rivals=holder.correct)
            if gain is None:
                said[it.name] = "can't be said: one class only"
                continue
            told = f"{gain.estimate:+.3f} over {holder.name}"
            if gain.estimate >= ADOPT_FROM:
                said[it.name] = f"adopted: {told}" + (
                    "" if gain.excludes_zero else ", but its interval holds 0"
                )
                holder = it
            else:
                said[it.name] = f"no: {told}, {ADOPT_FROM:+g} needed"
    return said, None if holder is None else holder.name


def _row(
    runs: ComparedRuns,
    it: CandidateScores,
    default: CandidateScores | None,
    verdicts: Mapping[str, str],
    resampling: Resampling,
) -> CandidateRow:
    everyone = np.ones(len(runs.templates), np.bool_)

    def auroc(
        target: Bools,
        columns: tuple[Floats, ...],
        where: Bools,
        rivals: tuple[Floats, ...] = (),
    ) -> Interval | None:
        if not columns or any(np.isnan(column[where]).any() for column in columns):
            return None
        return resampling.mean_auroc(target, columns, where, rivals=rivals)

    answers = runs.answered & runs.answerable
    clean = answers & runs.clean
    over = () if default is None or it is default else default.correct
    seeds = (
        [float(roc_auc_score(runs.correct[answers], column[answers])) for column in it.correct]
        if auroc(runs.correct, it.correct, answers) is not None
        else []
    )
    return CandidateRow(
        candidate=it.name,
        kind=it.kind,
        auroc=auroc(runs.correct, it.correct, answers),
        lowest=min(seeds, default=None),
        highest=max(seeds, default=None),
        lead=auroc(runs.correct, it.correct, answers, over) if over else None,
        quiet=auroc(runs.correct, it.correct, clean),
        quiet_lead=auroc(runs.correct, it.correct, clean, over) if over else None,
        answerable=auroc(runs.answerable, it.answerable, everyone),
        answerable_at_start=auroc(runs.answerable, it.answerable_at_start, everyone),
        seconds_a_step=it.seconds,
        verdict=verdicts[it.name],
    )
