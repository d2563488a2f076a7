"""What an exhibit is made of, and what it is: `Evidence` in, `Exhibit` out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, Self, TypeVar

from sentinel_sql.decision.payoff import STAKES_OF_RECORD
from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.decision.prefix_scores import PrefixScores
from sentinel_sql.decision.thresholds import Thresholds
from sentinel_sql.evaluation.bootstrap import SEED, Resampling
from sentinel_sql.evaluation.replay import Replay, replay

Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One pool of recorded runs, scored, and every system replayed over it.

    Attributes:
        scores: the pool's columns, N runs.
        thresholds: frozen on the calibration pool.
        stakes: the λ that are shown, in order.
        replays: by system and λ.
        resampling: the bootstrap's draws, shared by all intervals.
    """

    scores: PrefixScores
    thresholds: Thresholds
    stakes: tuple[float, ...]
    replays: Mapping[tuple[str, float], Replay]
    resampling: Resampling

    @classmethod
    def gather(
        cls,
        scores: PrefixScores,
        thresholds: Thresholds,
        *,
        stakes: Sequence[float] = STAKES_OF_RECORD,
        exact: bool = False,
        calibration: PrefixScores | None = None,
        seed: int = SEED,
    ) -> Self:
        """Replay every system at every λ.

        Args:
            scores: the pool's columns, at least one run.
            thresholds: frozen on the calibration pool.
            stakes: the λ to show.
            exact: deliver at the exact bar instead of Chow's.
            calibration: the calibration pool's columns, for stakes without a frozen s_λ.
            seed: of the bootstrap.
        """
        return cls(
            scores=scores,
            thresholds=thresholds,
            stakes=tuple(stakes),
            replays={
                (system, level): replay(
                    scores,
                    system,
                    thresholds=thresholds,
                    stakes=level,
                    exact=exact,
                    calibration=calibration,
                )
                for level in stakes
                for system in SYSTEMS
            },
            resampling=Resampling.over(scores.templates, seed=seed),
        )


@dataclass(frozen=True, kw_only=True)
class Exhibit(Generic[Row]):
    """A table with a title, one sentence on how to read it, and typed rows (dataclasses)."""

    title: str
    note: str
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """Return JSON-ready data: rows as objects, None where something can't be said."""
        rows: tuple[Any, ...] = self.rows
        return {"title": self.title, "note": self.note, "rows": [asdict(row) for row in rows]}
