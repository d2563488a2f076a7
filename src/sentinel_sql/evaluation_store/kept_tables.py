"""Copies tables that other commands added to an evaluation into the next evaluation."""

from __future__ import annotations

import shutil
from pathlib import Path

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation_store.sources import EVALUATE, Source, read_sources, write_sources
from sentinel_sql.evaluation_store.tables import (
    CONTENTS,
    DICTIONARY,
    ENDINGS,
    FOLDER,
    read_index,
    write_index,
)


def carry_over(older: Path, newer: Path, *, source: Source | None) -> dict[str, str]:
    """Copy tables that other commands made from the same files into the newer evaluation.

    Args:
        older: the folder that will be replaced; it may be missing or damaged.
        newer: the folder that replaces it, with its own tables.
        source: the files of the newer evaluation, or None if unknown.

    Returns:
        Table that isn't copied → the command that made it, or an empty text if unknown. The older
        evaluation's own tables aren't listed.

    Raises:
        OSError: the newer folder can't be written.
    """
    before, place = older / FOLDER, newer / FOLDER
    contents, dictionary = read_index(newer)
    sources = read_sources(before)
    left = {path.stem for path in before.glob("*.csv")} - {CONTENTS, DICTIONARY}
    left -= {entry.table for entry in contents}
    left -= {name for name, made in sources.items() if made.command == EVALUATE}
    same = {name for name in left if source and name in sources and sources[name].fits(source)}
    try:
        older_contents, older_columns = read_index(older) if same else ([], [])
    except InputError:
        older_contents, older_columns = [], []
    same &= {entry.table for entry in older_contents}
    if same:
        for name in same:
            for ending in ENDINGS:
                if (before / f"{name}{ending}").exists():
                    shutil.copy2(before / f"{name}{ending}", place / f"{name}{ending}")
        write_sources(place, read_sources(place) | {name: sources[name] for name in same})
        write_index(
            place,
            [*contents, *(entry for entry in older_contents if entry.table in same)],
            [*dictionary, *(column for column in older_columns if column.table in same)],
        )
    return {name: sources[name].command if name in sources else "" for name in sorted(left - same)}
