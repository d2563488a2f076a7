"""Says in one line why a PostgreSQL server can't be used, without any password."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sentinel_sql.address import shown_address, without_secrets
from sentinel_sql.errors import DatabaseError

_REMEDIES: Final[Sequence[tuple[str, str]]] = (
    ("password authentication failed", "refuses the password: check user and password"),
    ("no password supplied", "asks for a password: put it into PGPASSWORD or ~/.pgpass"),
    (r'role "(.*)" does not exist', "knows no role {}: check the user"),
    (r'database "(.*)" does not exist', "has no database {}: check the name after the slash"),
    ("not permitted to log in", "doesn't let this role log in: ALTER ROLE … LOGIN"),
    ("permission denied for database", "doesn't let this role in: GRANT CONNECT ON DATABASE"),
    ("no pg_hba.conf entry", "refuses this host, user or database: see its pg_hba.conf"),
    ("Connection refused", "can't be reached: check that it runs, its host and its port"),
    ("No such file or directory", "can't be reached: check that it runs, and the socket's folder"),
    ("could not translate host name|failed to resolve host", "is unknown: check the host"),
    ("timeout expired", "doesn't answer: check its host, its port and the network"),
    (
        "too many (connections|clients)|remaining connection slots",
        "has no free connection: try again later, or with fewer workers",
    ),
    ("starting up|shutting down|recovery mode", "is starting or stopping: try again in a minute"),
    ("for connection option|invalid port", "is no address that works: check its port and options"),
    ("SSL", "can't agree on an encrypted connection: check sslmode and the certificates"),
)
"""What a message of libpq or the server says → what to do. Neither has a code for these. `{}`
stands for the name in the message."""

_STATES: Final[Mapping[str, str]] = {
    "53100": "has no room on its disk: make some",
    "53200": "is out of memory: try again later",
    "55P03": "has a table that another session locks: wait until that session has ended",
    "57014": "cancelled the statement because somebody asked for it: run the command again",
}


def fault(address: str, error: BaseException) -> DatabaseError:
    """Return the error that tells the user what is wrong with a server or a connection."""
    words = " ".join(str(error).split())
    state = getattr(error, "sqlstate", None)
    remedy = _STATES.get(state or "")
    if remedy is None:
        found = ((re.search(seen, words), said) for seen, said in _REMEDIES)
        remedy = next(
            (said.format(hidden("".join(it.groups("")), address)) for it, said in found if it), None
        )
    if remedy is None:
        words = hidden(words, address)[:200] or type(error).__name__
        remedy = f"can't be used ({words}): check the server, and run the command again"
    return DatabaseError(f"database {shown_address(address)} {remedy}")


def hidden(words: str, address: str) -> str:
    """Return a message without the address's password."""
    words = without_secrets(words)
    for secret in secrets_of(address):
        words = words.replace(secret, "…")
    return words


def secrets_of(address: str) -> set[str]:
    """Return the passwords in an address, as they are written and as they are meant."""
    try:
        password = conninfo_to_dict(address).get("password")
    except psycopg.ProgrammingError:
        password = None
    written = re.search(r"://[^:/@]*:([^@]+)@", address)
    found = {str(password)} if password else set()
    if written is not None:
        found |= {written[1], unquote(written[1])}
    return found
