"""What tells a guard, before a run, what the database holds of its question."""

from __future__ import annotations

from typing import Protocol

from sentinel_sql.coverage import Coverage


class Grounder(Protocol):
    """Makes coverage records, such as what `sentinel_sql.open_grounder` returns."""

    def ground(self, question: str) -> Coverage:
        """Return what the database holds of a question."""
        ...
