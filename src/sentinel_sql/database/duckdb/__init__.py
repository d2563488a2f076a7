"""DuckDB files, with the `Database` protocol."""

from __future__ import annotations

import importlib.util

from sentinel_sql.database.executor import Database, Limits
from sentinel_sql.installation import missing_extra


def open_duckdb(address: str, *, name: str | None, clock: str | None, limits: Limits) -> Database:
    """Open an address such as `duckdb:///ward.duckdb` or `duckdb:////data/ward.duckdb`.

    Raises:
        DatabaseError: the file is missing, no DuckDB database, damaged, locked or empty.
        InputError: the clock is no time.
        MissingExtraError: DuckDB isn't installed.
    """
    if importlib.util.find_spec("duckdb") is None:
        raise missing_extra("DuckDB databases", "duckdb")
    from sentinel_sql.database.duckdb.database import DuckdbDatabase

    return DuckdbDatabase.open(address, name=name, clock=clock, limits=limits)
