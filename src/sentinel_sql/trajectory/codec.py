"""Writes a trajectory as one line of JSON, and reads it; errors never quote the content."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sentinel_sql.errors import StoreError
from sentinel_sql.trajectory.record import FORMAT, Trajectory

_FAMILY = FORMAT.partition("/")[0]


def encode(trajectory: Trajectory) -> bytes:
    """Return the trajectory as one line of UTF-8 JSON with its newline.

    Half a surrogate pair, which models may write, has no UTF-8 form and becomes `?`.
    """
    try:
        return trajectory.model_dump_json().encode() + b"\n"
    except (PydanticSerializationError, UnicodeEncodeError):
        data = trajectory.model_dump(mode="python")
        return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def decode(line: bytes, *, where: str) -> Trajectory:
    """Read one line of a store.

    Args:
        line: one JSON object, with or without its newline.
        where: file and line number, for the error.

    Raises:
        StoreError: the line is no trajectory of a known version. The message names the place and
            the field, never the content.
    """
    try:
        return Trajectory.model_validate_json(line)
    except ValidationError as error:
        raise StoreError(f"{where}: {_fault(line, error)}") from None


def _fault(line: bytes, error: ValidationError) -> str:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON; remove the line, or restore the file from a copy"
    stated = data.get("format") if isinstance(data, dict) else None
    if isinstance(stated, str) and stated != FORMAT and stated.startswith(f"{_FAMILY}/"):
        version = stated.removeprefix(f"{_FAMILY}/")[:20]
        return (
            f"format {_FAMILY}/{version}, but this version reads {FORMAT} only; "
            "upgrade sentinel-sql, or export the runs in that form"
        )
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    place = f"field {field}: " if field else ""
    return (
        f"not a {FORMAT} record ({place}{first['msg']}); see docs/reference/formats.md for the form"
    )
