"""The input and output of every exhibit: it reads `Evidence` and returns an `Exhibit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from sentinel_sql.decision.payoff import STAKES_OF_RECORD
from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.bootstrap import RESAMPLES, SEED, Resampling, Reweighting
from sentinel_sql.evaluation.options import Options
from sentinel_sql.evaluation.question_only_monitor import question_alone
from sentinel_sql.evaluation.replay import Replay, replay
from sentinel_sql.evaluation.run_facts import RunFacts
from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints, PrefixScores
from sentinel_sql.monitor.thresholds import Thresholds

Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The scores of one pool of recorded runs, and the replay of every system over it.

    Attributes:
        scores: the pool's columns, N runs, changed by the options.
        recorded: the same columns without the changes of the options.
        thresholds: frozen on the calibration pool.
        stakes: the λ to show, in order.
        options: the options of the evaluation.
        replays: by system and λ.
        resampling: the bootstrap's draws, shared by all intervals.
        weights: the weight of each run, shape (N,), 1 on average.
        facts: columns that only exhibits need.
        calibration: the calibration pool's columns as stored in the monitor, or None.
        frozen_on: the calibration pool's columns, changed by the options, to freeze thresholds on.
    """

    scores: PrefixScores
    recorded: PrefixScores
    thresholds: Thresholds
    stakes: tuple[float, ...]
    options: Options
    replays: Mapping[tuple[str, float], Replay]
    resampling: Resampling
    weights: Floats
    facts: RunFacts
    calibration: PrefixScores | None
    frozen_on: PrefixScores | None

    @staticmethod
    def check_options(scores: PrefixScores, facts: RunFacts, options: Options) -> None:
        """Check the options before the replays, which take time.

        Raises:
            InputError: an option isn't possible with these runs.
        """
        if options.strict:
            scores = with_strict_labels(scores, facts)
        _reweighting(scores, options.reweight)

    @classmethod
    def gather(
        cls,
        scores: PrefixScores,
        thresholds: Thresholds,
        *,
        stakes: Sequence[float] = STAKES_OF_RECORD,
        options: Options | None = None,
        facts: RunFacts | None = None,
        calibration: PrefixScores | None = None,
        seed: int = SEED,
        resamples: int = RESAMPLES,
    ) -> Self:
        """Replay every system at every λ.

        Args:
            scores: the pool's columns, at least one run.
            thresholds: frozen on the calibration pool.
            stakes: the λ to show.
            options: the options of the evaluation.
            facts: columns that only exhibits need; without them some cells are empty.
            calibration: the calibration pool's columns, needed for stakes without a frozen s_λ
                and for the option `question_only`.
            seed: of the bootstrap.
            resamples: of the bootstrap, at least one.

        Raises:
            InputError: an option isn't possible with these runs.
        """
        options = options or Options()
        facts = facts or RunFacts.unknown(scores)
        recorded, frozen_on = scores, calibration
        if options.question_only:
            if calibration is None:
                raise InputError(
                    "reading the question alone needs the calibration pool's columns: name the "
                    "monitor that they are in"
                )
            scores, frozen_on, thresholds = question_alone(
                scores, calibration, stakes=stakes, gate=thresholds.gate
            )
        if options.strict:
            scores = with_strict_labels(scores, facts)
        resampling = Resampling.over(
            scores.templates,
            seed=seed,
            resamples=resamples,
            reweighting=_reweighting(scores, options.reweight),
        )
        return cls(
            scores=scores,
            recorded=recorded,
            thresholds=thresholds,
            stakes=tuple(stakes),
            options=options,
            replays={
                (system, level): replay(
                    scores,
                    system,
                    thresholds=thresholds,
                    stakes=level,
                    exact=options.exact_bar,
                    calibration=frozen_on,
                )
                for level in stakes
                for system in SYSTEMS
            },
            resampling=resampling,
            weights=resampling.weights,
            facts=facts,
            calibration=calibration,
            frozen_on=frozen_on,
        )

    def replay_at(self, system: str, stakes: float) -> Replay:
        """Return a system's replay at any λ. Replays at further λ are made now."""
        known = self.replays.get((system, stakes))
        return known or replay(
            self.scores,
            system,
            thresholds=self.thresholds,
            stakes=stakes,
            exact=self.options.exact_bar,
            calibration=self.frozen_on,
        )

    def mean(self, values: Floats | Ints | Bools, where: Bools | None = None) -> float | None:
        """Return the weighted mean of a column over the runs in `where`; None if there are none.

        Args:
            values: shape (N,); NaN only outside `where`.
            where: shape (N,); every run if None.
        """
        inside = np.ones(len(self.weights), dtype=bool) if where is None else where
        weights = self.weights[inside]
        if len(weights) == 0:
            return None
        chosen = np.asarray(values[inside], np.float64)
        return float(np.sum(weights * chosen) / weights.sum())

    def saved_share(self, spent: Floats | Ints, full: Floats | Ints) -> float | None:
        """Return the share of a cost that is saved, over runs whose full cost is known.

        Args:
            spent: shape (N,), what the system spends; NaN where unknown.
            full: shape (N,), what the vanilla agent spends; NaN where unknown.
        """
        known = ~np.isnan(full)
        weights = self.weights[known]
        total = float(np.sum(weights * np.asarray(full, np.float64)[known]))
        return float(np.sum(weights * (full - spent)[known])) / total if total > 0 else None


@dataclass(frozen=True, kw_only=True)
class Exhibit(Generic[Row]):
    """A table with a title, one sentence on how to read it, and typed rows.

    `row` is the type of the rows, a frozen dataclass whose fields are annotated with a `Column`.
    So an exhibit without rows still has columns.
    """

    title: str
    note: str
    row: type[Row]
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """Return JSON-ready data: rows as objects, with None for unknown values."""
        rows: tuple[Any, ...] = self.rows
        return {"title": self.title, "note": self.note, "rows": [asdict(row) for row in rows]}


def with_strict_labels(scores: PrefixScores, facts: RunFacts) -> PrefixScores:
    """Return the columns with the strict labels instead of the judge's.

    Raises:
        InputError: an answer to an answerable question has no strict label.
    """
    if facts.strict is None:
        raise InputError(
            "some labels hold no strict verdicts, as people's ratings don't: leave the strict "
            "labels out, or label the store again with `sentinel label --judge strict`"
        )
    return replace(scores, correct=facts.strict)


def _reweighting(scores: PrefixScores, share: float | None) -> Reweighting | None:
    if share is None:
        return None
    unanswerable = ~scores.answerable
    if unanswerable.all() or not unanswerable.any():
        kind = "answerable" if unanswerable.any() else "unanswerable"
        raise InputError(
            f"the pool has no {kind} question, so it can't be re-weighted to a share of "
            f"{share:g} unanswerable ones: leave the option out"
        )
    return Reweighting(members=unanswerable, share=share)
