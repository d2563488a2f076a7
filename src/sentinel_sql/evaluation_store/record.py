"""What a monitor is worth on one pool: the record that `evaluate` returns and the store saves."""

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
    """What a monitor is worth on one pool.

    Attributes:
        pool: which one; only `heldout` is spent by this.
        evidence: the pool's columns and every system's replay, of which the exhibits are made.
        early_stops: the policy of the system `early-stop` at every λ.
        exhibits: by name, in the order of `EXHIBITS`.
        gaps: why some questions of the pool aren't in it, with their ids.
        monitor: agent, kind of head, delivery estimator and facts of the fit, JSON-ready.
        hashes: `pools`, `runs`, and `monitor` where it was read from a bundle.
        seed: of the bootstrap.
        notes: what a reader has to know of the labels; see `labels_notes`.
        spent: in how many different ways (monitor, runs, labels, settings) this held-out pool was
            evaluated with monitors of this place, this one included; None where nothing records it.
        views: a telling sample of single runs, where it was asked for; they hold what runs said.
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
        """The pool's columns, as the options have them."""
        return self.evidence.scores

    @property
    def thresholds(self) -> Thresholds:
        """What was frozen on the calibration pool, as the options have it."""
        return self.evidence.thresholds

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a folder that appears whole or not at all, and replaces an older evaluation.

        `write_report` makes a report of it, and so does `sentinel report`.

        Raises:
            InputError: the folder holds anything else than an evaluation, or can't be written.
        """
        save(self, folder)

    def to_json(self) -> dict[str, Any]:
        """Return everything but the columns as JSON-ready data."""
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
    """Return how many runs of each kind the columns hold."""
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
