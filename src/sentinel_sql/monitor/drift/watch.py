"""Several streams watched together: an alarm names the stream that moved.

With k streams and a stated chance α, a stream alarms when its capital reaches k/α. Each stream
does so with chance at most α/k if nothing changed, and the sum bounds the chance of any alarm at
any time, whatever the dependence between the streams. The mean of the capitals isn't used: each is
a martingale in its own history only, and the mean of such may exceed the bound in the joint one
(Choe and Ramdas, *Combining Evidence Across Filtrations*, 2024).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.drift.stream import Direction, Stream, coarse

Reference = Mapping[str, Mapping[float, int]]
"""For each stream by name, how often each coarse number was seen; it holds no row of data."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftAlarm:
    """The first stream that moved.

    Attributes:
        stream: its name.
        direction: where it moved.
        runs: how many live runs were observed until the alarm.
        capital: the evidence, at least the bar.
    """

    stream: str
    direction: Direction
    runs: int
    capital: float


def count_reference(rows: Iterable[Mapping[str, float]]) -> Reference:
    """Count the coarse numbers of each stream over the reference runs; unknown ones are left out.

    Args:
        rows: for each run its numbers by stream; one that isn't finite is unknown.
    """
    counts: dict[str, Counter[float]] = {}
    for row in rows:
        for name, value in row.items():
            known = counts.setdefault(name, Counter())
            if isfinite(value):
                known[coarse(value)] += 1
    return counts


class DriftWatch:
    """A test that may be read after every run, for as long as the agent serves.

    The claim: if reference and live runs are exchangeable, the chance of an alarm at any time is
    at most `chance`. Runs that a guard stopped early differ from whole runs, so that their numbers
    at the end must be left out of both.
    """

    def __init__(self, reference: Reference, *, chance: float = 0.05, seed: int = 42) -> None:
        """Start the watch.

        Args:
            reference: made by `count_reference`.
            chance: the largest chance of a false alarm over all streams and all time, in (0, 1).
            seed: of the ranks among equal numbers.

        Raises:
            InputError: there is no stream, or the chance lies outside (0, 1).
        """
        if not 0.0 < chance < 1.0:
            raise InputError(f"chance lies between 0 and 1, not {chance:g}")
        if not reference:
            raise InputError("a watch needs a reference with at least one stream")
        seeds = np.random.SeedSequence(seed).spawn(len(reference))
        self._streams = {
            name: Stream(counts, np.random.default_rng(its))
            for (name, counts), its in zip(reference.items(), seeds, strict=True)
        }
        self._bar = len(reference) / chance
        self._runs = 0
        self._alarm: DriftAlarm | None = None

    @property
    def alarm(self) -> DriftAlarm | None:
        """The first alarm, or None; once raised it stays."""
        return self._alarm

    def observe(self, row: Mapping[str, float]) -> DriftAlarm | None:
        """Read the numbers of one live run, and return the alarm if there is one.

        Args:
            row: numbers by stream; a stream that is absent or not finite doesn't bet on this run.
        """
        self._runs += 1
        for name, stream in self._streams.items():
            if isfinite(value := row.get(name, float("nan"))):
                stream.observe(value)
        name, strongest = max(self._streams.items(), key=lambda item: item[1].capital)
        if self._alarm is None and strongest.capital >= self._bar:
            self._alarm = DriftAlarm(
                stream=name,
                direction=strongest.direction,
                runs=self._runs,
                capital=strongest.capital,
            )
        return self._alarm
