"""A PostgreSQL of the tests' own: in a temporary folder, on a socket and a port of its own."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

SUPERUSER = "postgres"
PASSWORD = "correct horse/battery@staple%"
"""The password of `locked`, with characters that an address has to escape."""


@dataclass(frozen=True, kw_only=True)
class PostgresCluster:
    """A running server. On its socket each role is trusted; on its port each needs a password."""

    folder: str
    port: int
    user: str | None
    binaries: str

    def address(self, database: str = "postgres", role: str = SUPERUSER) -> str:
        """Return the address on the socket."""
        return f"postgresql://{role}@/{database}?host={self.folder}&port={self.port}"

    def create(self, database: str) -> str:
        """Make an empty database, and return its address."""
        import psycopg

        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{database}"'.encode())
        return self.address(database)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = f"-k {self.folder} -p {self.port} -c listen_addresses=127.0.0.1"
        quick = "-c fsync=off -c full_page_writes=off -c max_connections=60"
        self._run(
            *("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log"),
            *("-w", "-t", "60", "-o", f"{options} {quick}", "start"),
        )

    def stop(self, how: str = "immediate") -> None:
        """Stop the server; `immediate` is as if it was killed."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-m", how, "-w", "stop")

    def dump(self, database: str) -> str:
        """Return all of a database as SQL."""
        place = ("-U", SUPERUSER, "-h", self.folder, "-p", str(self.port))
        found = self._run("pg_dump", *place, database)
        return "\n".join(line for line in found.splitlines() if "restrict" not in line)

    def _run(self, program: str, *arguments: str) -> str:
        command = [os.path.join(self.binaries, program), *arguments]
        done = subprocess.run(
            [*as_user(self.user), *command], capture_output=True, text=True, cwd=self.folder
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr or done.stdout}")
        return done.stdout


def as_user(user: str | None) -> Sequence[str]:
    """Return what runs a command as another user; the server refuses to run as root."""
    return [] if user is None else ["runuser", "-u", user, "--"]


def find_binaries() -> str | None:
    """Return the folder of the newest PostgreSQL's programs, None where there is none."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3])
    )
    program = str(found[-1]) if found else shutil.which("initdb")
    return None if program is None else str(Path(program).resolve().parent)


def server_user() -> str | None:
    """Return whom the server is run as: None for this user.

    Raises:
        KeyError: this user is root, and there is no user `postgres`.
    """
    return pwd.getpwnam("postgres").pw_name if os.geteuid() == 0 else None


@contextmanager
def running_cluster() -> Iterator[PostgresCluster]:
    """Make a server, start it, and remove it at the end."""
    cluster = _make()
    try:
        yield cluster
    finally:
        _remove(cluster)


@contextmanager
def shared_cluster(place: Path) -> Iterator[PostgresCluster]:
    """Use the server of a test session; its first process starts it, its last one removes it."""
    with _locked(place) as state:
        if not state["users"]:
            state["cluster"] = asdict(_make())
        state["users"] += 1
        cluster = PostgresCluster(**state["cluster"])
    try:
        yield cluster
    finally:
        with _locked(place) as state:
            state["users"] -= 1
            if not state["users"]:
                _remove(cluster)


@contextmanager
def _locked(place: Path) -> Iterator[dict]:  # type: ignore[type-arg]
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = json.loads(place.read_text()) if place.exists() else {"users": 0}
        yield state
        place.write_text(json.dumps(state))


def _make() -> PostgresCluster:
    binaries, user = find_binaries(), server_user()
    assert binaries is not None
    folder = tempfile.mkdtemp(prefix="sentinel-pg-")
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    cluster = PostgresCluster(folder=folder, port=port, user=user, binaries=binaries)
    cluster._run(
        *("initdb", "-D", f"{folder}/data"),
        "-U",
        SUPERUSER,
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
    )
    rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
    (Path(folder) / "data" / "pg_hba.conf").write_text(rules)
    cluster.start()
    return cluster


def _remove(cluster: PostgresCluster) -> None:
    with suppress(RuntimeError):  # a test may have left it stopped
        cluster.stop()
    shutil.rmtree(cluster.folder, ignore_errors=True)
