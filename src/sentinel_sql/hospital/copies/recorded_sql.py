"""Recorded runs with their SQL in another dialect."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_sql.errors import InputError
from sentinel_sql.hospital.copies.gold_sql import in_dialect
from sentinel_sql.trajectory.record import Trajectory


def in_other_sql(runs: Iterable[Trajectory], dialect: str) -> tuple[list[Trajectory], int]:
    """Return runs over SQLite with their queries in another dialect.

    What the agent saw stays as it was recorded. A query that can't be translated stays as it is.

    Args:
        runs: recorded over SQLite.
        dialect: `postgres` or `duckdb`.

    Returns:
        The runs, and the number of different queries that can't be translated.
    """
    known: dict[str, str | None] = {}

    def translated(sql: str | None) -> str | None:
        if sql is None:
            return None
        if sql not in known:
            try:
                known[sql] = in_dialect(sql, dialect)
            except InputError:
                known[sql] = None
        return known[sql] or sql

    made = [
        run.model_copy(
            update={
                "question": run.question.model_copy(update={"dialect": dialect}),
                "steps": tuple(
                    step.model_copy(
                        update={
                            "sql": translated(step.sql),
                            "best_so_far": translated(step.best_so_far),
                        }
                    )
                    for step in run.steps
                ),
                "outcome": run.outcome.model_copy(
                    update={"final_sql": translated(run.outcome.final_sql)}
                ),
            }
        )
        for run in runs
    ]
    return made, sum(sql is None for sql in known.values())
