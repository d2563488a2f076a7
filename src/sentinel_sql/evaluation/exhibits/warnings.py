"""Stops before the answer, judged as warnings: how many are right, how many failures, how early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.decision.ragged_columns import early_times, gate_times
from sentinel_sql.evaluation.average_precision import average_precision
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, STAKES, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.monitor.prefix_scores import Bools


@dataclass(frozen=True, kw_only=True)
class WarningRow:
    """The first warnings of gate and early stop at one λ, while the runs were open."""

    stakes: Annotated[float, STAKES]
    runs: Annotated[int, Column("runs that could be warned: those with a step")]
    failing: Annotated[int, Column("of these, runs that fail: they don't earn +1")]
    warned: Annotated[int, Column("runs with a warning before their last step")]
    warned_failing: Annotated[int, Column("of the warned runs, those that fail")]
    precision: Annotated[
        Interval | None,
        Column("share of the warned runs that fail", unit="share", within=SHARE),
    ]
    recall: Annotated[
        Interval | None,
        Column("share of the failing runs that are warned", unit="share", within=SHARE),
    ]
    lead: Annotated[
        Interval | None,
        Column("mean steps from the first warning to the end of a failing run", unit="steps"),
    ]


@dataclass(frozen=True, kw_only=True)
class OpenPrefixRow:
    """The runs that are open after t steps, ranked by the chance to fail."""

    t: Annotated[int, Column("steps read; 0 is the question alone", unit="steps")]
    n: Annotated[int, Column("runs that are still open after t steps")]
    failing: Annotated[int, Column("of these, runs that fail: they don't earn +1")]
    baseline: Annotated[
        float,
        Column("average precision of chance: the share that fails", unit="share", within=SHARE),
    ]
    average_precision: Annotated[
        Interval | None,
        Column("area under precision and recall of 'this run fails'", within=SHARE),
    ]
    auroc: Annotated[Interval | None, Column("AUROC of 'this run fails'", within=SHARE)]


def warnings(evidence: Evidence) -> Exhibit[WarningRow]:
    """Return the first warnings at every λ: a stop by gate or early stop before the last step."""
    scores, resampling = evidence.scores, evidence.resampling
    fails, could = _fails(evidence), scores.steps >= 1
    rows = []
    for level in evidence.stakes:
        rules = evidence.replays["early-stop", level].policy
        first = np.minimum(gate_times(scores, rules.theta), early_times(scores, rules.early))
        warned = could & (first < scores.steps)
        both = warned & fails
        rows.append(
            WarningRow(
                stakes=level,
                runs=int(could.sum()),
                failing=int((could & fails).sum()),
                warned=int(warned.sum()),
                warned_failing=int(both.sum()),
                precision=resampling.mean(both, warned),
                recall=resampling.mean(both, could & fails),
                lead=resampling.mean((scores.steps - first).astype(np.float64), both),
            )
        )
    return Exhibit(
        title="First warnings before the answer",
        note=(
            "A warning is a stop by gate or early stop before the last step. A run fails if it "
            "doesn't earn +1: a wrong answer, a refusal of a question that has an answer, the "
            "step cap of such a question, or an answer to a question without one."
        ),
        row=WarningRow,
        rows=tuple(rows),
    )


def open_prefixes(evidence: Evidence) -> Exhibit[OpenPrefixRow]:
    """Return how well open runs are ranked by their chance to fail, at every t."""
    scores, resampling = evidence.scores, evidence.resampling
    fails = _fails(evidence)
    rows = []
    for t in range(int(scores.steps.max(initial=0))):
        still = scores.steps > t
        at = np.minimum(scores.offsets[:-1] + t, len(scores.p_correct) - 1)
        doubt = 1.0 - scores.p_correct[at]
        rows.append(
            OpenPrefixRow(
                t=t,
                n=int(still.sum()),
                failing=int((still & fails).sum()),
                baseline=float((evidence.weights * fails)[still].sum())
                / float(evidence.weights[still].sum()),
                average_precision=average_precision(resampling, fails, doubt, still),
                auroc=resampling.auroc(fails, doubt, still),
            )
        )
    return Exhibit(
        title="Open runs ranked by their chance to fail",
        note="By the correctness head alone. One class only: no figure.",
        row=OpenPrefixRow,
        rows=tuple(rows),
    )


def _fails(evidence: Evidence) -> Bools:
    """Return which runs of the agent alone don't earn +1, shape (N,)."""
    alone: Bools = evidence.replays["vanilla", evidence.stakes[0]].right == 0
    return alone
