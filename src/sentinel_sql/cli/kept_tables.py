"""Writes a verb's tables to a folder, and reports tables that were removed from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentinel_sql.cli.output import say

if TYPE_CHECKING:
    from sentinel_sql.evaluation.exhibit_record import Exhibit
    from sentinel_sql.evaluation_store.sources import Source


def check_place(out: Path | None, source: Source) -> None:
    """Refuse a folder where tables can't be written, before the work starts."""
    from sentinel_sql.evaluation_store.tables import check_place

    if out is not None:
        check_place(out, source=source)


def keep(out: Path | None, exhibits: Mapping[str, Exhibit[Any]], source: Source) -> None:
    """Write the tables if `out` is given."""
    from sentinel_sql.evaluation_store.tables import write

    if out is not None:
        say_gone(out, write(out, exhibits, source=source))


def say_gone(out: Path, gone: Mapping[str, str]) -> None:
    """Report the tables that were removed from a folder, with the commands that made them."""
    if not gone:
        return
    commands = sorted({f"`{command} … --out {out}`" for command in gone.values() if command})
    again = f": make them again with {' and '.join(commands)}" if commands else ""
    say(
        f"sentinel: {out} no longer holds {', '.join(gone)}, because they may be of another store, "
        f"other pools or other labels{again}"
    )
