"""Reads the suites of hostile and honest queries in `tests/sql`."""

from __future__ import annotations

import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "sql"
ENDS = {
    "refused": {"refused"},
    "error": {"error"},
    "bounded": {"error", "rows", "empty"},
    "rows": {"rows", "empty"},
}
"""How a file says that a query ends → kinds of result that agree with it."""


def queries(name: str) -> list[tuple[str, str]]:
    """Return (query, how it ends) of one file."""
    content = tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))
    found = [
        (query, group.get("ends", "rows"))
        for group in content["group"]
        for query in group["queries"]
    ]
    for shape in content["shape"]:
        for count in shape["counts"]:
            parts = [shape["each"].format(n=n, before=n - 1) for n in range(1, count + 1)]
            end = shape["end"].format(last=count)
            query = shape["start"] + shape["between"].join(parts) + end
            found.append((query, shape.get("ends", "rows")))
    return found
