"""What a head may know of a run's database: its schema and its clock, never a row."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_sql.monitor.features.references import Keys


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """Plain data about the database of one run; it is the same for all prefixes.

    Attributes:
        keys: the schema with its keys, or None if the schema is unknown.
        clock: the database's own current time during the run, or None.
    """

    keys: Keys | None = None
    clock: str | None = None


NOWHERE = Surroundings()
"""Nothing is known: features that need a schema or a clock stay neutral."""
