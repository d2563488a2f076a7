"""Builders of random columns, for hypothesis and by seed, and the brute-force replay."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from sentinel_sql.monitor.prefix_scores import PrefixScores

GRID = (0.0, 0.1, 0.3, 0.5, 0.8, 0.9, 1.0)


def random_scores(
    seed: int, runs: int, *, grid: bool = True, longest: int = 6, templates: int = 5
) -> PrefixScores:
    """Make consistent random columns; with `grid` the values tie often and sit on the bars."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, longest + 1, runs)
    offsets = np.concatenate([[0], np.cumsum(steps + 1)]).astype(np.int64)
    total = int(offsets[-1])

    def values(size: int) -> np.ndarray:
        drawn = rng.choice(GRID, size) if grid else rng.random(size)
        return np.asarray(drawn, dtype=np.float64)

    ending = np.where(steps == 0, 2, rng.choice(3, runs, p=(0.7, 0.15, 0.15)))
    answered, abstained = ending == 0, ending == 1
    answerable = rng.random(runs) < 0.7
    first = np.zeros(total, dtype=bool)
    first[offsets[:-1]] = True
    return PrefixScores(
        question_ids=tuple(f"q{i}" for i in range(runs)),
        templates=tuple(f"t{i}" for i in rng.integers(0, templates, runs)),
        offsets=offsets,
        p_answerable=values(total),
        p_correct=values(total),
        raw_correct=values(total),
        delivery_score=np.where(answered, values(runs), np.nan),
        delivery=np.where(answered, values(runs), np.nan),
        p_unanswerable=np.where(answered, values(runs), np.nan),
        answered=answered,
        abstained=abstained,
        answerable=answerable,
        correct=answered & answerable & (rng.random(runs) < 0.6),
        clean=answered & (rng.random(runs) < 0.8),
        tokens=np.where(first, 0.0, rng.integers(1, 90, total)),
        seconds=np.where(first, 0.0, rng.random(total)),
    )


@st.composite
def prefix_scores(draw: st.DrawFn, min_runs: int = 1, max_runs: int = 40) -> PrefixScores:
    """Draw random columns."""
    return random_scores(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(min_runs, max_runs)),
        grid=draw(st.booleans()),
    )


stakes_levels = st.sampled_from((0.0, 0.1, 0.5, 1.0, 1.5, 4.0, 9.0))


def replay_one_by_one(
    scores: PrefixScores,
    *,
    theta: float | None,
    early: float | None,
    stakes: float,
    exact: bool = False,
    chow: bool = True,
    certified: bool = False,
    certified_at: float | None = None,
) -> list[tuple[str, str, int]]:
    """Step every run through the rules as they are written down: kind, reason, t of the end.

    Independent of the product: plain loops, no shared code.
    """
    verdicts = []
    for i in range(len(scores)):
        start, stop = int(scores.offsets[i]), int(scores.offsets[i + 1])
        last = stop - start - 1
        verdict = None
        for t in range(last + 1):
            if theta is not None and scores.p_answerable[start + t] < theta:
                kind = "refuse" if t == 0 else "withhold" if t == last else "exit"
                verdict = (kind, "unanswerable", t)
            elif early is not None and 1 <= t < last and scores.p_correct[start + t] < early:
                verdict = ("exit", "unlikely-correct", t)
            elif t == last:
                if scores.abstained[i]:
                    verdict = ("withhold", "agent-abstained", t)
                elif not scores.answered[i]:
                    verdict = ("withhold", "step-cap", t)
                elif certified:
                    above = certified_at is not None and scores.delivery_score[i] >= certified_at
                    verdict = ("deliver", "above-bar", t) if above else ("withhold", "below-bar", t)
                elif not chow:
                    verdict = ("deliver", "no-bar", t)
                else:
                    bar = stakes / (1 + stakes)
                    if exact:
                        bar = (stakes + scores.p_unanswerable[i]) / (1 + stakes)
                    above = scores.delivery[i] >= bar
                    verdict = ("deliver", "above-bar", t) if above else ("withhold", "below-bar", t)
            if verdict:
                break
        assert verdict is not None
        verdicts.append(verdict)
    return verdicts


def score_by_hand(
    scores: PrefixScores, verdicts: list[tuple[str, str, int]], stakes: float
) -> tuple[Fraction, int]:
    """Return the exact RS(λ) and the steps saved of a list of verdicts."""
    total, saved = Fraction(0), 0
    for i, (kind, _, t) in enumerate(verdicts):
        saved += int(scores.steps[i]) - t
        if kind != "deliver":
            total += 0 if scores.answerable[i] else 1
        elif scores.answerable[i] and scores.correct[i]:
            total += 1
        else:
            total -= Fraction(str(stakes))
    return total / len(scores), saved
