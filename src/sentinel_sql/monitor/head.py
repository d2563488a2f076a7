"""The protocols of a head, which turns the prefix of a run into a raw score.

Every kind of head has three parts. A `Head` is a kind with its settings; it is not fitted. Its
`Reading` takes one step of a run at a time and returns a snapshot of the prefix read so far,
which both fitted heads of a monitor share. `Head.fit` returns a `FittedHead`, which scores
snapshots: one at a time when live, many at once in a replay.
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
    """One run as a head reads it. A new step costs time for that step only."""

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Read one more step; `committed` says whether it commits to an answer or abstains."""
        ...

    def snapshot(self, limit: int) -> Read_co:
        """Return the input for the prefix read so far, cut to its newest `limit` tokens."""
        ...


class FittedHead(Protocol[Scored_contra]):
    """A fitted head. It never changes."""

    def score(self, inputs: Sequence[Scored_contra]) -> Floats:
        """Return the raw score in [0, 1] of each input, shape (len(inputs),).

        A score depends on its own input alone, not on the other inputs or their order.
        """
        ...

    def arrays(self) -> Arrays:
        """Return all fitted values as plain arrays; `Head.restore` reads them back exactly."""
        ...

    def files(self) -> Mapping[str, Path]:
        """Return the files that a saved head needs beside its arrays, by name."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """Return what fitting chose by itself, JSON-ready; empty for a restored head."""
        ...


class Head(Protocol[Input]):
    """A kind of head with its settings, not fitted."""

    @property
    def name(self) -> str:
        """The name that `fit` and a bundle's manifest use for it."""
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
            targets: shape (n,), with both classes.
            groups: shape (n,), the template of each snapshot as a number. Where fitting chooses
                a setting by itself (regularisation, when to stop), it splits by template.
            seed: equal inputs and seeds give equal heads.
        """
        ...

    def restore(self, arrays: Arrays, files: Mapping[str, Path]) -> FittedHead[Input]:
        """Make a fitted head from the results of `FittedHead.arrays` and `FittedHead.files`."""
        ...


@runtime_checkable
class JointHead(Head[Input], Protocol[Input]):
    """A kind that fits all heads of a monitor together, because they may share parts."""

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
            targets: k arrays of shape (n,).
            trained_on: k masks of shape (n,): the snapshots that a task may be fitted on, with
                both classes of its target.
            groups: as in `Head.fit`.
            seed: as in `Head.fit`.
        """
        ...
