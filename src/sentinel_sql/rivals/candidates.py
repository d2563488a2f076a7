"""Chooses the default kind of head among candidates on the same folds (spec, section 5).

Scores are out of fold, for several seeds. A more costly head replaces a simpler one only if its
AUROC of correctness is higher by at least 0.02 (the paper's rule for encoders, section 3.3).
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
"""Lead in AUROC of correctness that a head needs to replace a simpler one."""


@dataclass(frozen=True, kw_only=True)
class ComparedRuns:
    """N runs for the comparison, with their labels in columns of shape (N,)."""

    templates: tuple[str, ...]
    answered: Bools
    answerable: Bools
    correct: Bools
    clean: Bools


@dataclass(frozen=True, kw_only=True)
class CandidateScores:
    """The out-of-fold scores of one candidate on N runs.

    Attributes:
        name: name of the candidate.
        kind: `head`, or `rival`, which is only compared and never adopted.
        correct: scores of correctness at the end of the run, one column of shape (N,) for each
            seed; NaN without a score. Empty if it couldn't be tried.
        answerable: the same for answerability; empty for a rival.
        answerable_at_start: the same at t = 0.
        seconds: time to read one step and score both heads; None if unknown.
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
    """One candidate. AUROCs are means over the seeds; None if there is only one class."""

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
        runs: the runs that they scored.
        scored: the heads, simplest first, and the rivals.
        default: the current default head; leads are over it.
        seed: seed of the bootstrap.
    """
    resampling = Resampling.over(runs.templates, seed=seed)
    verdicts, adopted = _verdicts(runs, scored, resampling)
    default_scores = next((it for it in scored if it.name == default and it.correct), None)
    return Exhibit(
        title="Candidates for the head",
        note=(
            f"Out of fold over {len(runs.templates)} runs, {len(set(runs.templates))} templates, "
            f"means over seeds; leads are over {default}, the default. By the rule of "
            f"{ADOPT_FROM:g} AUROC the default should be {adopted or 'none of these'}."
        ),
        row=CandidateRow,
        rows=tuple(_row(runs, it, default_scores, verdicts, resampling) for it in scored),
    )


def _verdicts(
    runs: ComparedRuns, scored: Sequence[CandidateScores], resampling: Resampling
) -> tuple[Mapping[str, str], str | None]:
    """Compare each head, from the simplest to the most costly, with the one adopted so far.

    Returns:
        The rule's verdict on each candidate, and the head adopted last.
    """
    where = runs.answered & runs.answerable
    holder: CandidateScores | None = None
    verdicts: dict[str, str] = {}
    for it in scored:
        if it.kind == "rival":
            verdicts[it.name] = "a rival"
        elif not it.correct:
            verdicts[it.name] = f"not tried: {it.why_not}"
        elif holder is None:
            holder = it
            verdicts[it.name] = "simplest"
        else:
            gain = resampling.mean_auroc(runs.correct, it.correct, where, rivals=holder.correct)
            if gain is None:
                verdicts[it.name] = "can't be said: one class only"
                continue
            lead = f"{gain.estimate:+.3f} over {holder.name}"
            if gain.estimate >= ADOPT_FROM:
                verdicts[it.name] = f"adopted: {lead}" + (
                    "" if gain.excludes_zero else ", but its interval holds 0"
                )
                holder = it
            else:
                verdicts[it.name] = f"no: {lead}, {ADOPT_FROM:+g} needed"
    return verdicts, None if holder is None else holder.name


def _row(
    runs: ComparedRuns,
    it: CandidateScores,
    default: CandidateScores | None,
    verdicts: Mapping[str, str],
    resampling: Resampling,
) -> CandidateRow:
    all_runs = np.ones(len(runs.templates), np.bool_)

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
        answerable=auroc(runs.answerable, it.answerable, all_runs),
        answerable_at_start=auroc(runs.answerable, it.answerable_at_start, all_runs),
        seconds_a_step=it.seconds,
        verdict=verdicts[it.name],
    )
