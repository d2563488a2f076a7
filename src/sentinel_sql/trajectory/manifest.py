"""The manifest of a store: whose runs it holds, over which database, and what was erased."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field

from sentinel_sql.errors import StoreError
from sentinel_sql.plain_record import Record
from sentinel_sql.storage.checksums import sealed, unsealed
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.whole_file import write_whole
from sentinel_sql.trajectory.record import AgentInfo
from sentinel_sql.trajectory.tombstone import Tombstone

MANIFEST = "store.json"

_Manifest = TypeVar("_Manifest", bound=BaseModel)


class StoreManifest(Record):
    """The agent of a store's runs, their database, and what was erased from the store."""

    format: Literal["sentinel-store/1"] = "sentinel-store/1"
    agent: AgentInfo
    database: str | None = None
    clock: str | None = None
    schema_sha256: str | None = None
    dialect: str | None = None
    time_zone: str | None = None
    # Written only if there are any, so that other manifests keep their bytes.
    forgotten: Annotated[tuple[Tombstone, ...], Field(exclude_if=lambda given: not given)] = ()


def read_manifest(folder: str | PathLike[str]) -> StoreManifest | None:
    """Return the manifest of a store, or None if `folder` is a recordings file or no store.

    Raises:
        StoreError: `store.json` is damaged.
    """
    return manifest_in(path_of(folder) / MANIFEST, StoreManifest, stated="sentinel-store/1")


def manifest_in(file: Path, kind: type[_Manifest], *, stated: str) -> _Manifest | None:
    """Return the manifest of a folder of collected records, or None if there is none.

    Args:
        file: path of the manifest.
        kind: its record type.
        stated: its format, for messages.

    Raises:
        StoreError: the manifest is damaged.
    """
    try:
        return kind.model_validate(unsealed(json.loads(file.read_bytes())))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror}; check its rights") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(
            f"{file}: not a {stated} manifest; restore it from a copy, or collect into "
            "another folder"
        ) from error


def write_manifest(file: Path, manifest: BaseModel) -> None:
    """Write the manifest of a folder of collected records, with the hash of its content.

    Raises:
        OSError: the manifest can't be written.
    """
    write_whole(file, json.dumps(sealed(manifest.model_dump()), indent=2) + "\n")
