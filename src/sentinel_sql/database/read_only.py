"""What the three kinds of read-only database have in common."""

from __future__ import annotations

import os
import time
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

from sentinel_sql.address import without_secrets
from sentinel_sql.database.executor import ExecutionResult, Limits
from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.schema import Schema


class ReadOnlyDatabase(ABC):
    """An open database: its facts, and what a statement must be.

    After a fork, parent and child each use what `_reset_after_fork` gives them.
    """

    def __init__(self, *, name: str, clock: str, schema: Schema, limits: Limits) -> None:
        self._name = name
        self._clock = clock
        self._schema = schema
        self._limits = limits
        _opened.add(self)

    @property
    def name(self) -> str:
        """Name by which questions and trajectories refer to it."""
        return self._name

    @property
    def clock(self) -> str:
        """The database's own current time, `YYYY-MM-DD HH:MM:SS`."""
        return self._clock

    @property
    def schema(self) -> Schema:
        """Tables, views, columns and keys that could be read at the time of opening."""
        return self._schema

    @property
    def limits(self) -> Limits:
        """Bounds of each execution."""
        return self._limits

    def execute(self, sql: str) -> ExecutionResult:
        """Run one read-only statement; errors of the SQL are results, not exceptions.

        Raises:
            InputError: `sql` is no text.
            DatabaseError: the database or the way to it fails, or this object is closed.
        """
        if not isinstance(sql, str):
            raise InputError(
                f"SQL is a text, and this is {type(sql).__name__}: give one statement as a str"
            )
        return self._execute(sql, time.perf_counter())

    @abstractmethod
    def close(self) -> None:
        """Free all resources of the database."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _execute(self, sql: str, started: float) -> ExecutionResult:
        """Run one statement whose time began at `started`, by `time.perf_counter`."""

    @abstractmethod
    def _reset_after_fork(self) -> None:
        """Use nothing in a forked process that the parent uses."""


def check_database_file(path: Path, *, kind: str) -> None:
    """Check that a database's file is there.

    Args:
        path: the file.
        kind: the kind of database, for the message.

    Raises:
        DatabaseError: it is missing, or a folder.
    """
    if not os.path.isfile(path):
        what = "is a folder" if os.path.isdir(path) else "isn't there"
        raise DatabaseError(
            f"database {without_secrets(str(path))} {what}; give the path of a {kind} file"
        )


_opened: weakref.WeakSet[ReadOnlyDatabase] = weakref.WeakSet()


def _after_fork() -> None:
    for database in _opened:
        database._reset_after_fork()


os.register_at_fork(after_in_child=_after_fork)
