"""What a head is: it reads a run step by step, is fitted on snapshots, and gives a raw score.

Three parts, so that every kind of head fits the same frame. A `Head` is a kind with its settings
and nothing learned. Its `Reading` of a run takes one step at a time and gives, for the prefix
read so far, an input that both fitted heads of a monitor share. `Head.fit` returns a
`FittedHead`, another type, that scores inputs one at a time when live and many at once in a
replay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Arrays = Mapping[str, NDArray[Any]]

Input = TypeVar("Input")
Read_co = TypeVar("Read_co", covariant=True)
Scored_contra = TypeVar("Scored_contra", contravariant=True)


class Reading(Protocol[Read_co]):
    """One run as a head reads it. A new step costs the reading of that step only."""

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Read one more step; `committed` is what it commits to, if anything."""
        ...

    def snapshot(self, limit: int) -> Read_co:
        """Return the input for the prefix read so far, its newest `limit` tokens."""
        ...


class FittedHead(Protocol[Scored_contra]):
    """A fitted head: never changes, never refitted."""

    def score(self, inputs: Sequence[Scored_contra]) -> Floats:
        """Return the raw score in [0, 1] of each input, shape (len(inputs),).

        A score depends on its own input alone, not on its neighbours or their order.
        """
        ...

    def arrays(self) -> Arrays:
        """Return what was learned as plain arrays; `Head.restore` reads them back exactly."""
        ...

    def files(self) -> Mapping[str, Path]:
        """Return the files that a saved head needs beside its arrays, by the name they keep."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """Return what fitting chose by itself, JSON-ready; empty if nothing, or once restored."""
        ...


class Head(Protocol[Input]):
    """A kind of head, with its settings and nothing learned."""

    @property
    def name(self) -> str:
        """Name by which `fit` and a bundle's manifest refer to it."""
        ...

    def read(self, question: AskedQuestion, surroundings: Surroundings) -> Reading[Input]:
        """Start reading a run over this database, at t = 0."""
        ...

    def fit(
        self, inputs: Sequence[Input], targets: Bools, *, groups: Ints, seed: int
    ) -> FittedHead[Input]:
        """Fit on snapshots.

        Args:
            inputs: n snapshots, those of one run next to each other.
            targets: shape (n,), both classes among them.
            groups: shape (n,), the template of each snapshot as a number. What fitting chooses
                by itself (a regularisation, when to stop) it chooses with no template on both
                sides.
            seed: equal inputs and seeds give equal heads.
        """
        ...

    def restore(self, arrays: Arrays, files: Mapping[str, Path]) -> FittedHead[Input]:
        """Make a fitted head of what `FittedHead.arrays` and `FittedHead.files` gave."""
        ...


@runtime_checkable
class JointHead(Head[Input], Protocol[Input]):
    """A kind that fits the heads of a monitor in one go, because they may share parts."""

    def fit_jointly(
        self,
        inputs: Sequence[Input],
        targets: Sequence[Bools],
        trained_on: Sequence[Bools],
        *,
        groups: Ints,
        seed: int,
    ) -> Sequence[FittedHead[Input]]:
        """Fit one head for each of k tasks.

        Args:
            inputs: n snapshots, those of one run next to each other.
            targets: k of shape (n,).
            trained_on: k of shape (n,): the snapshots that a task may be fitted on, both classes
                of its target among them.
            groups: as in `Head.fit`.
            seed: as in `Head.fit`.
        """
        ...
