"""What a head may know of the database that a run is over: its schema and its clock, no rows."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_sql.monitor.features.references import Keys


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """Plain data about the database of one run, the same at every prefix of it.

    Attributes:
        keys: the schema with its keys, or None where no schema is known.
        clock: the database's own current time that holds for the run, or None.
    """

    keys: Keys | None = None
    clock: str | None = None


NOWHERE = Surroundings()
"""Nothing is known: whatever needs a schema or a clock stays neutral."""
