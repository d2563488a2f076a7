"""What stays of a question that was erased from a store: a hash of its id, and the time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Self

from sentinel_sql.plain_record import Record
from sentinel_sql.storage.run_id import ids_of_run


class Tombstone(Record):
    """A question or run that was erased, and isn't recorded again. Holds no content.

    Whoever can guess an id can recognise its hash.
    """

    id_sha256: str
    time: str

    @classmethod
    def of(cls, erased_id: str) -> Self:
        """Make the tombstone of an id that is erased now."""
        return cls(id_sha256=_hash(erased_id), time=datetime.now(UTC).isoformat(timespec="seconds"))


def is_forgotten(run_id: str, tombstones: Iterable[Tombstone]) -> bool:
    """Return whether a run, or the question that it is of, was erased."""
    hashes = {tombstone.id_sha256 for tombstone in tombstones}
    return any(_hash(name) in hashes for name in ids_of_run(run_id))


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()
