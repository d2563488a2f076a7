"""What tells a guard, before a run, what the database holds of its question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sentinel_sql.coverage import Coverage


class Grounder(Protocol):
    """Makes coverage records, such as what `sentinel_sql.open_grounder` returns."""

    def ground(self, question: str, history: Sequence[str] = ()) -> Coverage:
        """Return what the database holds of a question, and of the earlier turns of its chat."""
        ...
