"""A PostgreSQL database with the `Database` protocol: read-only, bounded, with its own clock."""

from __future__ import annotations

import os
import re
import threading
import time
import weakref
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sentinel_sql.address import shown_address
from sentinel_sql.database.clock import check_clock, default_clock
from sentinel_sql.database.executor import DatabaseHealth, ExecutionResult, Limits
from sentinel_sql.database.failures import failed
from sentinel_sql.database.postgres.connection import OutOfTimeError, TooMuchAtOnceError
from sentinel_sql.database.postgres.faults import fault
from sentinel_sql.database.postgres.rights import needless_rights
from sentinel_sql.database.postgres.schema_reader import read_schema
from sentinel_sql.database.postgres.session import CHUNK, TIME_ZONE, Session, StaleSessionError
from sentinel_sql.database.statements.postgres_rules import POSTGRES_RULES
from sentinel_sql.database.statements.rules import check_tree
from sentinel_sql.database.statements.statement import RefusedError, read_statement
from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.schema import Schema

CONNECT_SECONDS: Final = 10
"""Seconds that a connection may take."""

STARTING_SECONDS: Final = 5.0
"""Seconds to wait for a server that is starting."""

_BOUNDS: Final = "SELECT current_setting('server_version'), current_setting('temp_file_limit')"

_STARTING: Final = re.compile("starting up|recovery mode|not yet accepting")


class PostgresDatabase:
    """A read-only PostgreSQL database; safe to use from several threads.

    Each execution takes an idle session or starts a new one. Make a database with `open`, and
    `close` it, or use it in a `with` statement. After a fork, parent and child each use their own
    sessions.
    """

    def __init__(
        self, *, address: str, name: str, clock: str, schema: Schema, limits: Limits, first: Session
    ) -> None:
        self._address = address
        self._name = name
        self._clock = clock
        self._schema = schema
        self._limits = limits
        self._lock = threading.Lock()
        self._idle = [first]
        self._closed = False
        _opened.add(self)

    @classmethod
    def open(
        cls,
        address: str,
        *,
        name: str | None = None,
        clock: str | None = None,
        limits: Limits | None = None,
    ) -> PostgresDatabase:
        """Connect, and read the schema.

        Args:
            address: `postgresql://user@host:port/database`, as libpq takes it. A password is better
                put into `PGPASSWORD` or `~/.pgpass`.
            name: the database's name in questions; by default the server's name for it.
            clock: the database's current time, `YYYY-MM-DD HH:MM:SS`; by default that of
                `KNOWN_CLOCKS` for this name, else the machine's at opening.
            limits: bounds of each execution.

        Raises:
            DatabaseError: there is no such server or database, it refuses the role, or the role may
                read no table.
            InputError: the clock is no time, or the address is none.
        """
        limits = Limits() if limits is None else limits
        address = _with_plain_scheme(address)
        session = _connect(address, limits)
        try:
            dbname = session.connection.info.dbname
            schema = read_schema(session.connection)
            if not schema.tables:
                raise DatabaseError(
                    f"database {shown_address(address)} holds no table that the role "
                    f"{session.connection.info.user} may read: GRANT USAGE ON SCHEMA and SELECT ON "
                    "ALL TABLES to it, or connect as another role"
                )
            name = dbname if name is None else name
            clock = default_clock(name) if clock is None else check_clock(clock)
        except psycopg.Error as error:
            session.close()
            raise fault(address, error) from None
        except BaseException:
            session.close()
            raise
        return cls(
            address=address, name=name, clock=clock, schema=schema, limits=limits, first=session
        )

    @property
    def name(self) -> str:
        """Name by which questions and trajectories refer to it."""
        return self._name

    @property
    def clock(self) -> str:
        """The database's own current time, `YYYY-MM-DD HH:MM:SS`."""
        return self._clock

    @property
    def dialect(self) -> str:
        """`postgres`."""
        return "postgres"

    @property
    def schema(self) -> Schema:
        """Tables, views, columns and keys that the role could read at the time of opening."""
        return self._schema

    @property
    def limits(self) -> Limits:
        """Bounds of each execution."""
        return self._limits

    def execute(self, sql: str) -> ExecutionResult:
        """Run one read-only statement; errors of the SQL are results, not exceptions.

        Raises:
            InputError: `sql` is no text.
            DatabaseError: the server or the connection fails, or this object is closed.
        """
        if not isinstance(sql, str):
            raise InputError(
                f"SQL is a text, and this is {type(sql).__name__}: give one statement as a str"
            )
        started = time.perf_counter()
        try:
            statement = read_statement(sql, self.dialect)
            check_tree(statement, POSTGRES_RULES)
        except RefusedError as refusal:
            return failed("refused", str(refusal), started)
        return self._run(statement.sql, started)

    def _run(self, sql: str, started: float) -> ExecutionResult:
        """Run a statement that was checked, or whose checks are off."""
        size = CHUNK
        while True:
            session = self._take()
            try:
                return session.run(sql, started, size)
            except StaleSessionError as lost:
                if session.new:
                    raise fault(self._address, lost.__cause__ or lost) from None
            except TooMuchAtOnceError:
                if size == 1:
                    megabytes = f"{self._limits.total / 1e6:,.0f} MB"
                    return failed("error", f"one row takes more than {megabytes}", started)
                size = 1
            except psycopg.Error as error:
                session.close()
                raise fault(self._address, error) from None
            except BaseException:
                session.close()
                raise
            finally:
                self._give_back(session)

    def health(self) -> DatabaseHealth:
        """Return what bounds a query here, and which rights the role has beyond its need."""
        session = self._take()
        connection = session.connection
        try:
            warnings = needless_rights(connection)
            row = connection.execute(_BOUNDS).fetchone()
            role = connection.info.user
        except psycopg.Error as error:
            session.close()
            raise fault(self._address, error) from None
        finally:
            self._give_back(session)
        version, files = ("", "") if row is None else row
        bound = "by nobody" if files == "-1" else f"to {files} a session"
        return DatabaseHealth(
            detail=f"PostgreSQL {version} as role {role}; read-only transactions, time zone "
            f"{TIME_ZONE}, {self._limits.seconds:g} s a statement; temporary files held {bound}",
            warnings=warnings,
        )

    def close(self) -> None:
        """End every session; a busy one ends after its execution."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()

    def __enter__(self) -> PostgresDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self) -> Session:
        with self._lock:
            if self._closed:
                shown = shown_address(self._address)
                raise DatabaseError(f"database {shown} was closed; open it again")
            if self._idle:
                return self._idle.pop()
        return _connect(self._address, self._limits)

    def _give_back(self, session: Session) -> None:
        session.new = False
        with self._lock:
            if not (self._closed or session.closed):
                self._idle.append(session)
                return
        session.close()

    def _reset_after_fork(self) -> None:
        """Use new sessions and locks in a forked process; the parent keeps its own."""
        _left_to_parents.extend(self._idle)
        self._idle = []
        self._lock = threading.Lock()


def open_postgres(
    address: str, *, name: str | None, clock: str | None, limits: Limits
) -> PostgresDatabase:
    """Open an address such as `postgresql://reader@host/clinic`.

    Raises:
        DatabaseError: there is no such server or database, or it refuses the role.
        InputError: the clock is no time, or the address is none.
    """
    return PostgresDatabase.open(address, name=name, clock=clock, limits=limits)


def _with_plain_scheme(address: str) -> str:
    """Return an address as libpq takes it, without SQLAlchemy's driver in its scheme."""
    plain = re.sub(r"^(postgres(ql)?)(\+\w+)?:", r"\1:", address, flags=re.IGNORECASE)
    try:
        conninfo_to_dict(plain)
    except psycopg.ProgrammingError:
        raise InputError(
            f"{shown_address(plain)} is no address of a PostgreSQL: write it as "
            "postgresql://user@host:5432/database, with special characters as %XX"
        ) from None
    return plain


def _connect(address: str, limits: Limits) -> Session:
    until = time.monotonic() + STARTING_SECONDS
    conninfo = make_conninfo(address, client_encoding="UTF8", connect_timeout=_patience(address))
    while True:
        try:
            return Session(conninfo, limits)
        except (psycopg.Error, OutOfTimeError) as error:
            if time.monotonic() > until or not _STARTING.search(str(error)):
                raise fault(address, error) from None
        time.sleep(0.1)


def _patience(address: str) -> int:
    asked = conninfo_to_dict(address).get("connect_timeout")
    return CONNECT_SECONDS if asked is None else int(asked)


_opened: weakref.WeakSet[PostgresDatabase] = weakref.WeakSet()
_left_to_parents: list[Session] = []


def _after_fork() -> None:
    for database in _opened:
        database._reset_after_fork()


os.register_at_fork(after_in_child=_after_fork)
