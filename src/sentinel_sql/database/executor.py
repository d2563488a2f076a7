"""The `Database` protocol, the limits of an execution, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias

from sentinel_sql.arguments import checked_fields
from sentinel_sql.errors import InputError
from sentinel_sql.result_line import error_line, result_line
from sentinel_sql.schema import Schema

Cell: TypeAlias = str | int | float | bytes | None
ResultKind = Literal["rows", "empty", "error", "refused"]


@checked_fields
@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Bounds of one execution, each above 0 (our choices), so that no query can harm the machine.

    Raises:
        InputError: a bound isn't above 0.
    """

    seconds: float = 30.0
    """Wall time in seconds. No query takes more than 1.5 times this."""
    rows: int = 10_000
    cell: int = 100_000
    """Most characters or bytes of one cell."""
    total: int = 64_000_000
    """Most bytes of memory for all cells of a result."""
    memory: int = 1_000_000_000
    """Most bytes of memory for the process that runs the SQL, including sorting and temporary
    tables; SQLite can fill about this much in 30 seconds."""

    def __post_init__(self) -> None:
        for name in ("seconds", "rows", "cell", "total", "memory"):
            if not getattr(self, name) > 0:
                raise InputError(f"the limit {name!r} must be above 0: give a larger one")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutionResult:
    """The result of one statement.

    `rows` holds at most `Limits.rows` rows. `truncated` is True if there were more rows or a cell
    was cut, and `cells_cut` only if a cell was. `error` is the database's error in one line, or
    why the statement was refused. `timed_out` is True if the deadline ended the statement,
    `out_of_memory` if its memory did, or if the query's process was ended.
    """

    kind: ResultKind
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    truncated: bool = False
    cells_cut: bool = False
    error: str | None = None
    seconds: float = 0.0
    timed_out: bool = False
    out_of_memory: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseHealth:
    """How an open database is bounded, and what its owner should change; one line each."""

    detail: str
    warnings: tuple[str, ...] = ()


class Database(Protocol):
    """A read-only database. Implementations are safe to use from several threads at once."""

    @property
    def name(self) -> str:
        """The name of the database in questions and trajectories."""
        ...

    @property
    def clock(self) -> str:
        """The database's own current time, `YYYY-MM-DD HH:MM:SS`."""
        ...

    @property
    def dialect(self) -> str:
        """The SQL that it reads, by sqlglot's name, such as `sqlite`."""
        ...

    @property
    def schema(self) -> Schema:
        """Tables, columns and foreign keys."""
        ...

    def execute(self, sql: str) -> ExecutionResult:
        """Run one read-only statement; errors of the SQL are results, not exceptions."""
        ...

    def health(self) -> DatabaseHealth:
        """Return what bounds a query here, and which rights or bounds its owner should change."""
        ...

    def close(self) -> None:
        """Free all resources of the database."""
        ...

    def __enter__(self) -> Self:
        """Return the database itself."""
        ...

    def __exit__(self, *_: object) -> None:
        """Close the database."""
        ...


def summarize(result: ExecutionResult) -> str:
    """Return a result as one line, which both agent and monitor see."""
    if result.kind in ("error", "refused"):
        return error_line(str(result.error))
    return result_line(result.rows, columns=len(result.columns), truncated=result.truncated)
