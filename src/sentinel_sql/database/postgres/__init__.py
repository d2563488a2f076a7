"""PostgreSQL through psycopg 3, with the `Database` protocol."""

from __future__ import annotations

from sentinel_sql.database.executor import Database, Limits
from sentinel_sql.installation import missing_extra


def open_postgres(address: str, *, name: str | None, clock: str | None, limits: Limits) -> Database:
    """Open an address such as `postgresql://reader@host/clinic`.

    Raises:
        DatabaseError: there is no such server or database, or it refuses the role.
        InputError: the clock is no time, or the address is none.
        MissingExtraError: psycopg isn't installed.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise missing_extra("PostgreSQL databases", "postgres") from error
    from sentinel_sql.database.postgres.database import PostgresDatabase

    return PostgresDatabase.open(address, name=name, clock=clock, limits=limits)
