"""Which rights a role has beyond reading, each with the command that takes it away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import psycopg

_ROLE: Final = """
SELECT quote_ident(rolname), rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls
FROM pg_catalog.pg_roles WHERE rolname = current_user
"""

_ATTRIBUTES: Final = (
    ("may create databases", "NOCREATEDB"),
    ("may create roles", "NOCREATEROLE"),
    ("may replicate all data", "NOREPLICATION"),
    ("ignores row security", "NOBYPASSRLS"),
)
"""What each attribute of `_ROLE` after the superuser's means, and the word that takes it away."""

_POWERFUL: Final[Mapping[str, str]] = {
    "pg_read_server_files": "may read files of the server",
    "pg_write_server_files": "may write files of the server",
    "pg_execute_server_program": "may run programs on the server",
    "pg_signal_backend": "may end other sessions",
    "pg_checkpoint": "may write checkpoints",
    "pg_write_all_data": "may write all tables",
    "pg_read_all_stats": "may read the queries of other sessions",
    "pg_monitor": "may read the settings and queries of the server",
    "pg_database_owner": "owns the database",
    "pg_maintain": "may maintain all tables",
    "pg_create_subscription": "may create subscriptions",
}
"""Predefined roles of PostgreSQL → what a member may do."""

_MEMBERSHIPS: Final = """
SELECT rolname FROM pg_catalog.pg_roles
WHERE rolname = ANY(%s) AND pg_has_role(current_user, oid, 'USAGE') ORDER BY rolname
"""

_WRITABLE: Final = """
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), count(*) OVER ()
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname <> 'information_schema'
  AND n.nspname !~ '^pg_'
  AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
ORDER BY n.nspname, c.relname LIMIT 1
"""

_CREATABLE: Final = """
SELECT quote_ident(nspname) FROM pg_catalog.pg_namespace
WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND has_schema_privilege(oid, 'CREATE')
ORDER BY nspname LIMIT 1
"""

_IN_DATABASE: Final = """
SELECT quote_ident(current_database()),
  has_database_privilege(current_database(), 'CREATE'),
  has_database_privilege(current_database(), 'TEMPORARY'),
  (SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'default_transaction_read_only')
"""


def needless_rights(connection: psycopg.Connection[tuple[Any, ...]]) -> tuple[str, ...]:
    """Return one line for each right that reading doesn't need, with the command that mends it.

    Raises:
        psycopg.Error: the catalog can't be read.
    """
    role, is_superuser, *attributes = _row(connection, _ROLE)
    if is_superuser:
        return (
            f"role {role} is a superuser, whom no limit holds: connect as a role that only reads "
            "(CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA … TO reader)",
        )
    found = [
        f"role {role} {means}: ALTER ROLE {role} {word}"
        for held, (means, word) in zip(attributes, _ATTRIBUTES, strict=True)
        if held
    ]
    for (group,) in connection.execute(_MEMBERSHIPS, (list(_POWERFUL),)).fetchall():
        remedy = (
            "connect as a role that owns nothing"
            if group == "pg_database_owner"
            else f"REVOKE {group} FROM {role}"
        )
        found.append(f"role {role} {_POWERFUL[group]}: {remedy}")
    found += _rights_in_database(connection, role)
    return tuple(found)


def _rights_in_database(connection: psycopg.Connection[tuple[Any, ...]], role: str) -> list[str]:
    found = []
    writable = connection.execute(_WRITABLE).fetchone()
    if writable is not None:
        table, count = writable
        others = f" and {count - 1} more tables" if count > 1 else ""
        found.append(
            f"role {role} may write {table}{others}: REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON "
            f"ALL TABLES IN SCHEMA {table.rpartition('.')[0]} FROM {role}, and PUBLIC"
        )
    creatable = connection.execute(_CREATABLE).fetchone()
    if creatable is not None:
        found.append(
            f"role {role} may create tables in schema {creatable[0]}: REVOKE CREATE ON SCHEMA "
            f"{creatable[0]} FROM {role}, PUBLIC"
        )
    name, creates, temporary, reads_only = _row(connection, _IN_DATABASE)
    if creates:
        found.append(
            f"role {role} may create schemas: REVOKE CREATE ON DATABASE {name} FROM {role}"
        )
    if temporary:
        found.append(
            f"role {role} may create temporary tables: REVOKE TEMPORARY ON DATABASE {name} "
            f"FROM PUBLIC, {role}"
        )
    if reads_only != "on":
        found.append(
            f"role {role} writes by default: ALTER ROLE {role} SET default_transaction_read_only "
            "= on"
        )
    return found


def _row(connection: psycopg.Connection[tuple[Any, ...]], query: str) -> tuple[Any, ...]:
    row = connection.execute(query).fetchone()
    if row is None:
        raise psycopg.DataError("the server doesn't list its own role")
    return row
