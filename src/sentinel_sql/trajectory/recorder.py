"""Writes the finished runs of a live agent to a store."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import Future
from os import PathLike
from pathlib import Path
from typing import Self
from uuid import uuid4

from sentinel_sql.errors import SentinelError, UncheckedWarning
from sentinel_sql.storage.paths import path_of
from sentinel_sql.trajectory.manifest import StoreManifest
from sentinel_sql.trajectory.record import AgentInfo, AskedQuestion, Step, Trajectory, outcome_of
from sentinel_sql.trajectory.store import TrajectoryStore


class Recorder:
    """Adds runs to a store, for an adapter of a framework. Threads may share it.

    A run is written beside the agent, and a store that can't be written warns and never raises,
    so that recording can't break the user's loop. `close` waits until all runs are on the disk.
    """

    def __init__(
        self, store: str | PathLike[str], *, model: str = "unknown", database: str | None = None
    ) -> None:
        """Name the store; it is made at the first run.

        Args:
            store: the store's folder.
            model: the agent's model, as the store's manifest states it.
            database: the name of the database, or None.
        """
        self.folder: Path = path_of(store)
        self.failed = 0
        self._model = model
        self._database = database
        self._lock = threading.Lock()
        self._store: TrajectoryStore | None = None

    def record(
        self, *, form: str, question: str, history: tuple[str, ...], steps: tuple[Step, ...]
    ) -> None:
        """Add one finished run under an id of its own.

        Args:
            form: name of the messages' form, as in an imported log; it names the agent.
            question: its text.
            history: earlier questions of the same chat, oldest first.
            steps: all steps, the last one final.
        """
        agent = AgentInfo(name=form, model=self._model)
        run = Trajectory(
            question=AskedQuestion(
                id=uuid4().hex, text=question, history=history, database=self._database
            ),
            agent=agent,
            steps=steps,
            outcome=outcome_of(steps, commit_on_error=agent.commit_on_error),
        )
        try:
            with self._lock:
                if self._store is None:
                    manifest = StoreManifest(agent=agent, database=self._database)
                    self._store = TrajectoryStore.open(self.folder, manifest=manifest)
                written = self._store.submit(run)
        except (SentinelError, OSError) as error:
            self._warn(error)
            return
        written.add_done_callback(self._notice)

    def close(self) -> None:
        """Wait until all runs are on the disk, and close the store; a later run opens it again."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _notice(self, written: Future[None]) -> None:
        error = written.exception()
        if error is not None:
            self._warn(error)

    def _warn(self, error: BaseException) -> None:
        self.failed += 1
        try:
            warnings.warn(f"a run was not recorded: {error}", UncheckedWarning, stacklevel=3)
        except UncheckedWarning:  # warnings may be errors, and the user's loop must go on
            return
