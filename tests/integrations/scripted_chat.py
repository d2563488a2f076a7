"""A scripted LangChain chat model, a real tool over a real database, and guards that stop."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.policy import Policy
from small_runs import fitted

COUNT = "SELECT COUNT(*) FROM drugs"
LIST = "SELECT name FROM drugs ORDER BY name"
SECRET = "There are 417 drugs."


@cache
def never_stops() -> Guard:
    return replace(Guard.over(fitted()[0], stakes=0.0), policy=Policy(stakes=0.0), check_text=False)


def refuses() -> Guard:
    return replace(never_stops(), policy=Policy(stakes=0.0, theta=1.1))


def withholds() -> Guard:
    return replace(never_stops(), policy=Policy(stakes=1e9))


def exits() -> Guard:
    return replace(never_stops(), policy=Policy(stakes=0.0, early=1.1))


class Ward:
    """A database of 417 drugs, and the queries that it ran."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ward.sqlite"
        self.ran: list[str] = []
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("CREATE TABLE drugs (name TEXT)")
            connection.executemany(
                "INSERT INTO drugs VALUES (?)", [(f"drug {n:03}",) for n in range(417)]
            )

    def query(self, sql: str) -> str:
        self.ran.append(sql)
        with closing(sqlite3.connect(self.path)) as connection:
            try:
                return str(connection.execute(sql).fetchmany(5))
            except sqlite3.Error as error:
                return f"Error: {error}"


def said(content: str, *queries: str, tool: str = "run_sql") -> dict[str, Any]:
    calls = [
        {"name": tool, "args": {"query": sql}, "id": f"call-{n}-{abs(hash(sql))}"}
        for n, sql in enumerate(queries)
    ]
    return {"content": content, "tool_calls": calls}


SCRIPT = (said("", COUNT), said(SECRET))
LONG = (said("", LIST), said("", COUNT), said(SECRET))
PARALLEL = (said("", LIST, COUNT), said(SECRET))
