"""What other commands added to an evaluation's folder, carried into the evaluation after it."""

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
    """Copy the tables that other commands made of the very same files into the newer evaluation.

    Args:
        older: the folder that is about to be replaced; it may be absent or damaged.
        newer: what takes its place, with its own tables written.
        source: what the newer one was made of, None where nobody knows.

    Returns:
        The tables that stay behind, each with the command that had made it, or an empty text
        where nobody knows. The older evaluation's own aren't among them.

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
        kept, explained = read_index(older) if same else ([], [])
    except InputError:
        kept, explained = [], []
    same &= {entry.table for entry in kept}
    if same:
        for name in same:
            for ending in ENDINGS:
                if (before / f"{name}{ending}").exists():
                    shutil.copy2(before / f"{name}{ending}", place / f"{name}{ending}")
        write_sources(place, read_sources(place) | {name: sources[name] for name in same})
        write_index(
            place,
            [*contents, *(entry for entry in kept if entry.table in same)],
            [*dictionary, *(column for column in explained if column.table in same)],
        )
    return {name: sources[name].command if name in sources else "" for name in sorted(left - same)}
