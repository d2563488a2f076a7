"""Recorded runs through a monitor, one run after another or on several cores, in order.

A worker process drives the very session that the guard drives live, so the numbers don't depend
on how many there are. Few runs are under way at once: memory stays level however long the store.
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
"""Runs that are assessed before worker processes are started: fewer aren't worth their start."""

CHUNK = 32
"""Runs that a worker is given at once."""

SEVERAL_CORES = frozenset({"linear", "ngrams"})
"""Kinds of head that keep to one core; the others spread over all by themselves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AssessedRun:
    """The monitor's numbers on one run; NaN where a prefix has none.

    Attributes:
        prefixes: shape (T + 1, 3): p_answerable, p_correct and raw_correct of t = 0 … T.
        last: shape (3,): delivery_score, delivery and p_unanswerable of the terminal prefix.
        committed: what the terminal prefix commits to.
    """

    prefixes: Floats
    last: Floats
    committed: Commitment | None


def assess_runs(
    estimators: Estimators, trajectories: Iterable[Trajectory], *, workers: int = 1
) -> Iterator[tuple[Trajectory, AssessedRun]]:
    """Yield every run with the monitor's numbers on it, in order.

    Args:
        estimators: of a monitor.
        trajectories: read as they are needed.
        workers: processes; with more than one, a script of one's own must be importable
            (`if __name__ == "__main__"`), as the standard library's processes ask for.
    """
    runs = iter(trajectories)
    if workers < 2 or estimators.head.name not in SEVERAL_CORES:
        yield from ((run, _assessed(estimators, run)) for run in runs)
        return
    yield from ((run, _assessed(estimators, run)) for run in islice(runs, ALONE))
    following = list(islice(runs, CHUNK))
    if following:
        yield from _spread(estimators, chain(following, runs), workers)


def _spread(
    estimators: Estimators, runs: Iterator[Trajectory], workers: int
) -> Iterator[tuple[Trajectory, AssessedRun]]:
    waiting: deque[tuple[list[Trajectory], Future[list[AssessedRun]]]] = deque()
    # A fresh process: a copy of this one would copy the locks of its threads, too.
    with ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(estimators,),
    ) as pool:
        while chunk := list(islice(runs, CHUNK)):
            waiting.append((chunk, pool.submit(_assess_chunk, chunk)))
            if len(waiting) > 2 * workers:
                given, done = waiting.popleft()
                yield from zip(given, done.result(), strict=True)
        for given, done in waiting:
            yield from zip(given, done.result(), strict=True)


_estimators: list[Estimators] = []
"""A worker process's own; one."""


def _start(estimators: Estimators) -> None:
    _estimators[:] = [estimators]


def _assess_chunk(runs: Sequence[Trajectory]) -> list[AssessedRun]:
    return [_assessed(_estimators[0], run) for run in runs]


def _assessed(estimators: Estimators, run: Trajectory) -> AssessedRun:
    told = list(estimators.replay(run))
    last = told[-1]
    return AssessedRun(
        prefixes=np.array([(each.p_answerable, each.p_correct, each.raw_correct) for each in told]),
        # None becomes NaN.
        last=np.array([last.delivery_score, last.delivery, last.p_unanswerable], np.float64),
        committed=last.committed,
    )
