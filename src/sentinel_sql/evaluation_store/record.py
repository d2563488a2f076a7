"""The evaluation of a monitor on one pool, as `evaluate` returns it and the store saves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from sentinel_sql.decision.policy import Policy
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation_store.document import FORMAT
from sentinel_sql.evaluation_store.folder import save
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.thresholds import Thresholds
from sentinel_sql.questions.pools import PoolName


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The evaluation of a monitor on one pool.

    Attributes:
        pool: name of the pool; only `heldout` is spent by an evaluation.
        evidence: the pool's columns and every system's replay, from which exhibits are computed.
        early_stops: the policy of the system `early-stop` at every λ.
        exhibits: exhibits by name, in the order of `EXHIBITS`.
        gaps: reason → ids of the pool's questions or runs that are missing.
        monitor: agent, kind of head, delivery estimator and facts of the fit, JSON-ready.
        hashes: `pools`, `runs`, and `monitor` if it was read from a bundle.
        seed: seed of the bootstrap.
        notes: notes on the labels; see `labels_notes`.
        spent: number of different evaluations (monitor, runs, labels, settings) of this held-out
            pool with the bundle of this path, including this one; None if it isn't recorded.
        views: a sample of single runs, if requested; they hold text of the runs.
    """

    pool: PoolName
    evidence: Evidence
    early_stops: tuple[Policy, ...]
    exhibits: Mapping[str, Exhibit[Any]]
    gaps: Mapping[str, tuple[str, ...]]
    monitor: Mapping[str, Any]
    hashes: Mapping[str, str]
    seed: int
    spent: int | None
    notes: tuple[str, ...] = ()
    views: tuple[Mapping[str, Any], ...] = ()

    @property
    def scores(self) -> PrefixScores:
        """The pool's columns, after the options."""
        return self.evidence.scores

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds frozen on the calibration pool, after the options."""
        return self.evidence.thresholds

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the evaluation to a folder; an older evaluation there is replaced.

        `write_report` and `sentinel report` make a report of it.

        Raises:
            InputError: the folder holds something other than an evaluation, or can't be written.
        """
        save(self, folder)

    def to_json(self) -> dict[str, Any]:
        """Return everything except the columns, JSON-ready."""
        return {
            "format": FORMAT,
            "pool": self.pool,
            "counts": counts(self.scores),
            "notes": list(self.notes),
            "gaps": {why: list(ids) for why, ids in self.gaps.items()},
            "stakes": list(self.evidence.stakes),
            "options": self.evidence.options.to_json(),
            "thresholds": self.thresholds.to_json(),
            "early_stops": [
                {"stakes": policy.stakes, "threshold": policy.early} for policy in self.early_stops
            ],
            "monitor": dict(self.monitor),
            "hashes": dict(self.hashes),
            "bootstrap": {
                "seed": self.seed,
                "resamples": len(self.evidence.resampling.counts),
                "clusters": "templates",
            },
            "spent": self.spent,
            "exhibits": {name: exhibit.to_json() for name, exhibit in self.exhibits.items()},
        }


def counts(scores: PrefixScores) -> dict[str, int]:
    """Return the number of runs of each kind."""
    return {
        "runs": len(scores),
        "templates": len(set(scores.templates)),
        "answerable": int(scores.answerable.sum()),
        "unanswerable": int((~scores.answerable).sum()),
        "answered": int(scores.answered.sum()),
        "correct": int(scores.correct.sum()),
        "abstained": int(scores.abstained.sum()),
        "cap": int((~(scores.answered | scores.abstained)).sum()),
        "steps": int(np.sum(scores.steps)),
    }
