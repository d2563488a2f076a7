"""Of which files, and by which command, the tables of a folder were made: `tables/sources.json`.

One folder is about one store, one split into pools and one labels file (ours: tables that stand
beside one another are read together). So each table's source is kept, and whoever writes into a
folder can tell which of the tables there are of something else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sentinel_sql.errors import InputError
from sentinel_sql.storage.whole_file import write_whole
from sentinel_sql.trajectory.store import RECORDS

SOURCES: Final = "sources.json"
_NAMED: Final = {"store": "store", "pools": "pools file", "labels": "labels file"}
EVALUATE: Final = "sentinel evaluate"


@dataclass(frozen=True, kw_only=True)
class Source:
    """What one table was made of.

    Attributes:
        command: that made it, such as `sentinel heads screen`.
        inputs: kind of input (`store`, `pools`, `labels`) → hashes of the files of that kind;
            a kind is absent where it wasn't read or can't be told.
    """

    command: str
    inputs: Mapping[str, frozenset[str]]

    @classmethod
    def of(
        cls,
        command: str,
        *,
        store: Path | None = None,
        pools: Path | None = None,
        labels: Iterable[Path] = (),
    ) -> Source:
        """Hash the files that a command reads; pipes and what can't be read count as unknown."""
        files = {
            "store": () if store is None else (store / RECORDS if store.is_dir() else store,),
            "pools": () if pools is None else (pools,),
            "labels": tuple(labels),
        }
        hashes = {kind: frozenset(filter(None, map(_hash, paths))) for kind, paths in files.items()}
        return cls(command=command, inputs={kind: found for kind, found in hashes.items() if found})

    def contradicts(self, other: Source) -> str | None:
        """Return a kind of input of which the two read different files, or None."""
        shared = (kind for kind in self.inputs if kind in other.inputs)
        return next((k for k in shared if not self.inputs[k] & other.inputs[k]), None)

    def fits(self, other: Source) -> bool:
        """Whether all that this was made of is known, and the other was made of it, too."""
        return bool(self.inputs) and all(
            hashes & other.inputs.get(kind, frozenset()) for kind, hashes in self.inputs.items()
        )


def stale_in(
    folder: Path, sources: Mapping[str, Source], source: Source | None, *, but: Iterable[str]
) -> dict[str, str]:
    """Return which tables of a folder are of other files than `source`, by their commands.

    Args:
        folder: for the error.
        sources: of the tables in it.
        source: of what is to stand beside them; None calls none stale.
        but: tables that are about to be replaced.

    Raises:
        InputError: an evaluation's own tables are among them; these are nobody's to remove.
    """
    stale = {}
    for name, theirs in sources.items():
        kind = None if source is None or name in but else theirs.contradicts(source)
        if kind is None:
            continue
        if theirs.command == EVALUATE:
            raise InputError(
                f"{folder} holds an evaluation of another {_NAMED[kind]}: evaluate this one with "
                f"`sentinel evaluate … --out {folder}` first, or name another folder"
            )
        stale[name] = theirs.command
    return stale


def read_sources(tables: Path) -> dict[str, Source]:
    """Return what the tables of a folder were made of; those of whom nobody knows are absent."""
    try:
        kept = json.loads((tables / SOURCES).read_bytes())
        return {
            str(table): Source(
                command=str(source["command"]),
                inputs={str(k): frozenset(map(str, v)) for k, v in source["inputs"].items()},
            )
            for table, source in kept.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # as for a folder of an older version: nothing is known


def write_sources(tables: Path, sources: Mapping[str, Source]) -> None:
    """Write what the tables of a folder were made of.

    Raises:
        OSError: it can't be written.
    """
    document = {
        table: {
            "command": source.command,
            "inputs": {kind: sorted(hashes) for kind, hashes in source.inputs.items()},
        }
        for table, source in sources.items()
    }
    write_whole(tables / SOURCES, json.dumps(document, indent=1) + "\n")


def _hash(file: Path) -> str | None:
    if not file.is_file():
        return None
    try:
        with file.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except OSError:
        return None
