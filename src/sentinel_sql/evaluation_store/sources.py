"""The command and the files that each table of a folder was made from: `tables/sources.json`.

One folder is about one store, one pools file and one labels file, because tables of one folder are
read together (our rule). The source of each table is stored, so that a writer finds tables of other
files.
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
_INPUT_NAMES: Final = {"store": "store", "pools": "pools file", "labels": "labels file"}
EVALUATE: Final = "sentinel evaluate"


@dataclass(frozen=True, kw_only=True)
class Source:
    """The source of one table.

    Attributes:
        command: the command that made it, such as `sentinel heads screen`.
        inputs: kind of input (`store`, `pools`, `labels`) → hashes of the files of that kind;
            a kind is missing if it wasn't read or is unknown.
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
        """Hash the files that a command reads; pipes and unreadable files count as unknown."""
        files = {
            "store": () if store is None else (store / RECORDS if store.is_dir() else store,),
            "pools": () if pools is None else (pools,),
            "labels": tuple(labels),
        }
        hashes = {kind: frozenset(filter(None, map(_hash, paths))) for kind, paths in files.items()}
        return cls(command=command, inputs={kind: found for kind, found in hashes.items() if found})

    def contradicts(self, other: Source) -> str | None:
        """Return a kind of input in which the two sources differ, or None."""
        shared = (kind for kind in self.inputs if kind in other.inputs)
        return next((k for k in shared if not self.inputs[k] & other.inputs[k]), None)

    def fits(self, other: Source) -> bool:
        """Return whether this source is known, and the other one has all of its files."""
        return bool(self.inputs) and all(
            hashes & other.inputs.get(kind, frozenset()) for kind, hashes in self.inputs.items()
        )


def stale_in(
    folder: Path, sources: Mapping[str, Source], source: Source | None, *, but: Iterable[str]
) -> dict[str, str]:
    """Return the tables of a folder that are of other files than `source` → their commands.

    Args:
        folder: path for the error.
        sources: sources of the tables in it.
        source: source of the new tables; with None, no table is stale.
        but: tables that will be replaced.

    Raises:
        InputError: an evaluation's own tables are among them; these must not be removed.
    """
    stale = {}
    for name, existing in sources.items():
        kind = None if source is None or name in but else existing.contradicts(source)
        if kind is None:
            continue
        if existing.command == EVALUATE:
            raise InputError(
                f"{folder} holds an evaluation of another {_INPUT_NAMES[kind]}: evaluate this one "
                f"with `sentinel evaluate … --out {folder}` first, or name another folder"
            )
        stale[name] = existing.command
    return stale


def read_sources(tables: Path) -> dict[str, Source]:
    """Return the sources of the tables of a folder; tables with unknown sources are missing."""
    try:
        document = json.loads((tables / SOURCES).read_bytes())
        return {
            str(table): Source(
                command=str(source["command"]),
                inputs={str(k): frozenset(map(str, v)) for k, v in source["inputs"].items()},
            )
            for table, source in document.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # no source is known, as for a folder of an older version


def write_sources(tables: Path, sources: Mapping[str, Source]) -> None:
    """Write the sources of the tables of a folder.

    Raises:
        OSError: the file can't be written.
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
