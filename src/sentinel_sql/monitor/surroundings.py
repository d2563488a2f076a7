"""What a head may know of a run's database: its schema, clock and dialect, never a row."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sentinel_sql.monitor.features.keys import Keys
from sentinel_sql.trajectory.record import AskedQuestion


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """Plain data about the database of one run; it is the same for all prefixes.

    Attributes:
        keys: the schema with its keys, or None if the schema is unknown.
        clock: the database's own current time during the run, or None.
        dialect: the SQL of the run's queries, by sqlglot's name, or None for SQLite's.
    """

    keys: Keys | None = None
    clock: str | None = None
    dialect: str | None = None

    def of(self, question: AskedQuestion) -> Surroundings:
        """Return the surroundings of one run; what its question says of them comes first."""
        return replace(
            self, clock=question.clock or self.clock, dialect=question.dialect or self.dialect
        )


NOWHERE = Surroundings()
"""Nothing is known: features that need a schema or a clock stay neutral."""
