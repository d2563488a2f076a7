"""A PostgreSQL database with the `Database` protocol: read-only, bounded, with its own clock."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Set
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sentinel_sql.address import shown_address
from sentinel_sql.database.clock import check_clock, default_clock
from sentinel_sql.database.executor import DatabaseHealth, ExecutionResult, Limits
from sentinel_sql.database.failures import failed, too_long
from sentinel_sql.database.postgres.clock_views import views_with_clock
from sentinel_sql.database.postgres.connection import OutOfTimeError, TooMuchAtOnceError
from sentinel_sql.database.postgres.faults import fault
from sentinel_sql.database.postgres.rights import needless_rights
from sentinel_sql.database.postgres.schema_reader import read_schema
from sentinel_sql.database.postgres.session import (
    CHUNK,
    TIME_ZONE,
    Session,
    StaleSessionError,
    UnansweredError,
)
from sentinel_sql.database.read_only import ReadOnlyDatabase
from sentinel_sql.database.statements.clock import POSTGRES_CLOCK, with_clock
from sentinel_sql.database.statements.clock_views import check_views
from sentinel_sql.database.statements.postgres_rules import POSTGRES_RULES
from sentinel_sql.database.statements.rules import check_tree
from sentinel_sql.database.statements.statement import RefusedError, read_statement
from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.schema import Schema

CONNECT_SECONDS: Final = 10
"""Seconds that a connection may take."""

STARTING_SECONDS: Final = 5.0
"""Seconds to wait for a server that is starting."""

_BOUNDS: Final = """
SELECT split_part(current_setting('server_version'), ' ', 1),
  CASE WHEN setting = '-1' THEN 'by nobody'
    ELSE 'to ' || pg_size_pretty(setting::bigint * 1024) || ' a session' END
FROM pg_catalog.pg_settings WHERE name = 'temp_file_limit'
"""

_STARTING: Final = re.compile("starting up|recovery mode|not yet accepting")


class PostgresDatabase(ReadOnlyDatabase):
    """A read-only PostgreSQL database; safe to use from several threads.

    Each execution takes an idle session or starts a new one. Make a database with `open`, and
    `close` it, or use it in a `with` statement. After a fork, parent and child each use their own
    sessions.
    """

    dialect: Final = "postgres"

    def __init__(
        self,
        *,
        address: str,
        name: str,
        clock: str,
        schema: Schema,
        clock_views: Set[tuple[str, str]],
        limits: Limits,
        first: Session,
    ) -> None:
        super().__init__(name=name, clock=clock, schema=schema, limits=limits)
        self._address = address
        self._clock_views = clock_views
        self._lock = threading.Lock()
        self._idle = [first]
        self._closed = False

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
            clock_views = views_with_clock(session.connection)
            name = dbname if name is None else name
            clock = default_clock(name) if clock is None else check_clock(clock)
        except psycopg.Error as error:
            session.close()
            raise fault(address, error) from None
        except BaseException:
            session.close()
            raise
        return cls(
            address=address,
            name=name,
            clock=clock,
            schema=schema,
            clock_views=clock_views,
            limits=limits,
            first=session,
        )

    @property
    def time_zone(self) -> str:
        """The time zone of every session."""
        return TIME_ZONE

    def _execute(self, sql: str, started: float) -> ExecutionResult:
        try:
            statement = read_statement(sql, self.dialect)
            check_tree(statement, POSTGRES_RULES)
            check_views(statement, self._clock_views)
            timed = with_clock(statement, self._clock, POSTGRES_CLOCK)
        except RefusedError as refusal:
            return failed("refused", str(refusal), started)
        if time.perf_counter() - started > self._limits.seconds:
            return too_long(self._limits, started)
        return self._run(timed, started)

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
            except UnansweredError:
                result = too_long(self._limits, started)
                self._give_back(_connect(self._address, self._limits))  # or there is no server
                return result
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
        version, files = ("", "by nobody") if row is None else row
        return DatabaseHealth(
            detail=f"PostgreSQL {version} as role {role}; read-only transactions, time zone "
            f"{TIME_ZONE}, {self._limits.seconds:g} s a statement; temporary files held {files}",
            warnings=warnings,
        )

    def close(self) -> None:
        """End every session; a busy one ends after its execution."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()

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


def _with_plain_scheme(address: str) -> str:
    """Return an address as libpq takes it, without SQLAlchemy's driver in its scheme."""
    plain = re.sub(r"^postgres(ql)?(\+\w+)?:", "postgresql:", address, flags=re.IGNORECASE)
    try:
        conninfo_to_dict(plain)
    except psycopg.ProgrammingError as error:
        unknown = re.search(r'query parameter: "(\w+)"', str(error))
        if unknown is not None:
            raise InputError(
                f"{shown_address(plain)} has an option {unknown[1]!r}, which no PostgreSQL "
                "knows: leave it out, or see its manual"
            ) from None
        raise InputError(
            f"{shown_address(plain)} is no address of a PostgreSQL: write it as "
            "postgresql://user@host:5432/database, with special characters as %XX"
        ) from None
    return plain


def _connect(address: str, limits: Limits) -> Session:
    until = time.monotonic() + STARTING_SECONDS
    while True:
        try:
            return Session(_conninfo(address, limits), limits)
        except (psycopg.Error, OutOfTimeError) as error:
            if time.monotonic() > until or not _STARTING.search(str(error)):
                raise fault(address, error) from None
        time.sleep(0.1)


def _conninfo(address: str, limits: Limits) -> str:
    """Return an address with what isn't said in it, so that a lost network is noticed."""
    unanswered = min(10_000, max(2_000, round(500 * limits.seconds)))
    settings: dict[str, str | int] = {
        "application_name": "sentinel",
        "connect_timeout": CONNECT_SECONDS,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": unanswered,
    }
    said = conninfo_to_dict(address)
    more = {name: value for name, value in settings.items() if name not in said}
    return make_conninfo(address, client_encoding="UTF8", **more)


_left_to_parents: list[Session] = []
