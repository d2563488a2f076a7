"""What it means to run SQL here: the `Database` protocol and the result of one execution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from sentinel_sql.errors import InputError
from sentinel_sql.result_line import error_line, result_line
from sentinel_sql.schema import Schema

Cell: TypeAlias = str | int | float | bytes | None
ResultKind = Literal["rows", "empty", "error", "refused"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Bounds of one execution, each above 0. All are ours: no query can hurt its host.

    Raises:
        InputError: one isn't above 0.
    """

    seconds: float = 30.0
    """Wall time. Half as much again is the most that any query takes."""
    rows: int = 10_000
    cell: int = 100_000
    """Characters or bytes of one cell that are kept."""
    total: int = 64_000_000
    """Bytes of memory that one result may take, over all cells."""
    memory: int = 1_000_000_000
    """Bytes that the process which runs the SQL may take, sorting and temporary tables included;
    about what SQLite can fill in 30 seconds."""

    def __post_init__(self) -> None:
        for name in ("seconds", "rows", "cell", "total", "memory"):
            if not getattr(self, name) > 0:
                raise InputError(f"the limit {name!r} must be above 0: give a larger one")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutionResult:
    """What one statement gave back.

    `rows` holds at most `Limits.rows` rows; `truncated` says that more was there or that a cell
    was cut, `cells_cut` that a cell was. `error` is the database's own words in one line, or
    why the statement was refused. `timed_out` says that the error is the deadline's,
    `out_of_memory` that it is that of the memory, or that the query's process was ended.
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


class Database(Protocol):
    """A read-only database. Implementations are safe to use from several threads at once."""

    @property
    def name(self) -> str:
        """Name by which questions and trajectories refer to it."""
        ...

    @property
    def clock(self) -> str:
        """The database's own current time, `YYYY-MM-DD HH:MM:SS`."""
        ...

    @property
    def schema(self) -> Schema:
        """Tables, columns and foreign keys."""
        ...

    def execute(self, sql: str) -> ExecutionResult:
        """Run one read-only statement; never raises for what the SQL does wrong."""
        ...

    def close(self) -> None:
        """Give back what the database holds."""
        ...


def summarize(result: ExecutionResult) -> str:
    """Say in one line what a result holds, as agent and monitor are shown it alike."""
    if result.kind in ("error", "refused"):
        return error_line(str(result.error))
    return result_line(result.rows, columns=len(result.columns), truncated=result.truncated)
