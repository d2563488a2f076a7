"""Results of executions that failed: refused, wrong, too long, or out of memory."""

from __future__ import annotations

import time
from dataclasses import replace

from sentinel_sql.database.executor import ExecutionResult, Limits, ResultKind

LONGEST_ERROR = 300
"""Longest error in characters; SQLite quotes an unclosed string to its end."""


def failed(kind: ResultKind, reason: str, started: float) -> ExecutionResult:
    """Return the result of a failed execution, with the reason in one short line."""
    line = " ".join(reason.split())
    return ExecutionResult(
        kind=kind,
        error=line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 1]}…",
        seconds=time.perf_counter() - started,
    )


def too_long(limits: Limits, started: float) -> ExecutionResult:
    """Return the result of an execution that its deadline ended."""
    return replace(
        failed("error", f"interrupted: the query ran longer than {limits.seconds:g} s", started),
        timed_out=True,
    )


def out_of_memory(reason: str, started: float) -> ExecutionResult:
    """Return the result of an execution that ended for want of memory, or with its process."""
    return replace(failed("error", reason, started), out_of_memory=True)
