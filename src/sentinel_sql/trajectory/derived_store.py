"""Writes the runs of a store, changed one by one, into a new store; can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sentinel_sql.errors import StoreError
from sentinel_sql.trajectory.manifest import StoreManifest
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import TrajectoryStore, read_trajectories


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived:
    """How many runs were added, were there before, and were erased from the new store."""

    added: int
    already_there: int
    forgotten: int


def runs_to_change(source: str | Path, store: str | Path) -> list[Trajectory]:
    """Return the runs of the source, which stays unchanged.

    Raises:
        StoreError: there is no run, or both stores are the same.
    """
    if Path(source).resolve() == Path(store).resolve():
        raise StoreError(f"{store} is the store to read: give a new store with --store")
    runs = list(read_trajectories(source))
    if not runs:
        raise StoreError(f"{source} holds no run: collect or import some first")
    return runs


def derive_store(
    runs: Sequence[Trajectory],
    store: str | Path,
    *,
    manifest: StoreManifest,
    change: Callable[[Trajectory], Trajectory],
    on_progress: Callable[[int, int], None],
) -> Derived:
    """Add each run that the new store doesn't hold, changed; what was erased there stays erased.

    Args:
        runs: of the source.
        store: the new store's folder; made if absent.
        manifest: of the new store.
        change: makes the run to add.
        on_progress: called with (runs done, all runs).

    Raises:
        StoreError: the new store can't be written, or is of other runs.
    """
    added = forgotten = 0
    with TrajectoryStore.open(store, manifest=manifest) as opened:
        held = opened.ids
        for done, run in enumerate(runs, 1):
            if opened.is_forgotten(run.question.id):
                forgotten += 1
            elif run.question.id not in held:
                opened.append(change(run))
                added += 1
            on_progress(done, len(runs))
    return Derived(added=added, already_there=len(runs) - added - forgotten, forgotten=forgotten)
