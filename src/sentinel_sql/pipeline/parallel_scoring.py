"""Scores recorded runs by a monitor, on one core or on several, and yields them in order.

Every worker process uses the same session object as the live guard, so the number of workers
doesn't change the scores. Only a few runs are in memory at once.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from sentinel_sql.monitor.head import Floats
from sentinel_sql.monitor.session import Estimators
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.render import Commitment

ALONE = 400
"""Runs that are scored before worker processes start; for fewer runs, a start doesn't pay."""

CHUNK = 32
"""Runs in one task of a worker."""

SEVERAL_CORES = frozenset({"linear", "ngrams"})
"""Kinds of head that use one core; the others use all cores themselves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AssessedRun:
    """The monitor's scores of one run; NaN where a prefix has none.

    Attributes:
        prefixes: shape (T + 1, 3): p_answerable, p_correct and raw_correct of t = 0 … T.
        last: shape (3,): delivery_score, delivery and p_unanswerable of the last prefix.
        committed: what the last prefix commits to.
    """

    prefixes: Floats
    last: Floats
    committed: Commitment | None


def assess_runs(
    estimators: Estimators, trajectories: Iterable[Trajectory], *, workers: int = 1
) -> Iterator[tuple[Trajectory, AssessedRun]]:
    """Yield every run with its scores, in order.

    Args:
        estimators: estimators of a monitor.
        trajectories: the runs, read lazily.
        workers: number of processes. With more than one, the calling script must be importable
            (`if __name__ == "__main__"`), as for `multiprocessing`.
    """
    runs = iter(trajectories)
    if workers < 2 or estimators.head.name not in SEVERAL_CORES:
        yield from ((run, _assess(estimators, run)) for run in runs)
        return
    yield from ((run, _assess(estimators, run)) for run in islice(runs, ALONE))
    following = list(islice(runs, CHUNK))
    if following:
        yield from _spread(estimators, chain(following, runs), workers)


def _spread(
    estimators: Estimators, runs: Iterator[Trajectory], workers: int
) -> Iterator[tuple[Trajectory, AssessedRun]]:
    waiting: deque[tuple[list[Trajectory], Future[list[AssessedRun]]]] = deque()
    # Processes are spawned: a fork would also copy locks that other threads hold.
    with ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(estimators,),
    ) as pool:
        while chunk := list(islice(runs, CHUNK)):
            waiting.append((chunk, pool.submit(_assess_chunk, chunk)))
            if len(waiting) > 2 * workers:
                chunk, future = waiting.popleft()
                yield from zip(chunk, future.result(), strict=True)
        for chunk, future in waiting:
            yield from zip(chunk, future.result(), strict=True)


_estimators: list[Estimators] = []
"""The estimators of this worker process; one element."""


def _start(estimators: Estimators) -> None:
    _estimators[:] = [estimators]


def _assess_chunk(runs: Sequence[Trajectory]) -> list[AssessedRun]:
    return [_assess(_estimators[0], run) for run in runs]


def _assess(estimators: Estimators, run: Trajectory) -> AssessedRun:
    assessments = list(estimators.replay(run))
    last = assessments[-1]
    return AssessedRun(
        prefixes=np.array(
            [(each.p_answerable, each.p_correct, each.raw_correct) for each in assessments]
        ),
        # None becomes NaN.
        last=np.array([last.delivery_score, last.delivery, last.p_unanswerable], np.float64),
        committed=last.committed,
    )
