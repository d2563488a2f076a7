"""Opens a database of any kind by its path or address."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from os import PathLike
from typing import Protocol

from sentinel_sql.address import kind_of_address, without_secrets
from sentinel_sql.arguments import checked
from sentinel_sql.database.executor import Database, Limits
from sentinel_sql.errors import DatabaseError, InputError

_OPENERS: Mapping[str, str] = {
    "postgresql": "sentinel_sql.database.postgres:open_postgres",
    "postgres": "sentinel_sql.database.postgres:open_postgres",
    "sqlite": "sentinel_sql.database.sqlite.database:open_sqlite",
}
"""Kind of address → the function that opens it; its module is loaded at the first use."""


class Opener(Protocol):
    """Opens the database at an address of one kind; `open_database` describes the arguments."""

    def __call__(
        self, address: str, *, name: str | None, clock: str | None, limits: Limits
    ) -> Database:
        """Return the opened database, or raise DatabaseError."""
        ...


_registered: dict[str, Opener] = {}


@checked
def register_database(kind: str, opener: Opener) -> None:
    """Let `open_database` open addresses `kind://…` through your own opener.

    Args:
        kind: the scheme of the address in lower case without a driver, such as `mssql`.
        opener: called with the whole address; it returns your `Database`.

    Raises:
        InputError: the kind is no scheme, or one that this package opens itself.
    """
    if kind_of_address(f"{kind}://") != kind or kind in _OPENERS:
        raise InputError(
            f"a database of the kind {kind!r} can't be registered: give a scheme in lower case "
            f"other than {', '.join(_OPENERS)}"
        )
    _registered[kind] = opener


@checked
def open_database(
    address: str | PathLike[str],
    *,
    name: str | None = None,
    clock: str | None = None,
    limits: Limits | None = None,
) -> Database:
    """Open a database read-only.

    Args:
        address: the path of a SQLite file, or an address such as `sqlite:///file`.
        name: the database's name in questions; by default that of its file or of the address.
        clock: the database's current time, `YYYY-MM-DD HH:MM:SS`; by default that of
            `KNOWN_CLOCKS` for this name, else the machine's at opening.
        limits: bounds of each execution.

    Returns:
        The database. Close it, or use it in a `with` statement.

    Raises:
        DatabaseError: the database can't be opened or read.
        InputError: an argument is wrong.
        MissingExtraError: the package for this kind of database isn't installed.
    """
    address = os.fspath(address)
    kind = kind_of_address(address) or "sqlite"
    return _opener(kind, address)(
        address, name=name, clock=clock, limits=Limits() if limits is None else limits
    )


def _opener(kind: str, address: str) -> Opener:
    if kind in _registered:
        return _registered[kind]
    if kind not in _OPENERS:
        raise DatabaseError(
            f"database {without_secrets(address)} is of the kind {kind}, which can't be opened: "
            f"give a path or one of the kinds {', '.join([*_OPENERS, *_registered])}, or add your "
            "own by register_database"
        )
    module, _, function = _OPENERS[kind].partition(":")
    opener: Opener = getattr(importlib.import_module(module), function)
    return opener
