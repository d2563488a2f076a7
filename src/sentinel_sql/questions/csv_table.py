"""Reads a table of questions as spreadsheets write it: CSV in any of its common forms."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sentinel_sql.errors import QuestionsError
from sentinel_sql.questions.own import COLUMNS, column_name

_DELIMITERS = (",", ";", "\t", "|")


def csv_records(path: Path, text: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each row by its column names, with where it stands for errors.

    The delimiter is the one that makes the header's columns: a comma, a semicolon, a tab or a bar;
    a first line `sep=;` is obeyed. Names of columns are read without regard to capitals and outer
    blanks, a blank after a delimiter is none of the cell's, and rows without content are passed
    over. Where there is no column `id`, questions are numbered by the file's name and their row.

    Raises:
        QuestionsError: no header, a column twice, a row that doesn't fit the header, no rows.
    """
    # a carriage return alone ends the lines of old Macintosh files, and Excel still writes them
    text, delimiter, skipped = _delimited(re.sub(r"\r(?!\n)", "\n", text))
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    header: list[str] | None = None
    records: list[tuple[str, Mapping[str, Any]]] = []
    try:
        for cells in rows:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{path}, line {rows.line_num + skipped}"
            if header is None:
                header = _header(path, cells)
                continue
            record = _record(cells, header, where)
            if "id" not in header:
                record["id"] = f"{path.name.partition('.')[0]}-{len(records) + 1}"
            records.append((where, record))
    except csv.Error as error:
        raise QuestionsError(
            f"{path}, line {rows.line_num + skipped} is no valid CSV ({error}): correct its quotes"
        ) from error
    if not records:
        raise QuestionsError(f"{path} holds a header but no questions: add rows")
    return records


def _delimited(text: str) -> tuple[str, str, int]:
    """Return the table's text, its delimiter, and how many lines stood before the text."""
    first, _, rest = text.partition("\n")
    declared = first.strip().strip('"').casefold()
    if declared.startswith("sep=") and len(declared) <= len("sep=x"):
        return rest, first.strip().strip('"')[4:] or "\t", 1
    start = text.lstrip().partition("\n")[0]
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):  # a first line that is too long is no header
            names = next(csv.reader([start], delimiter=delimiter, skipinitialspace=True), [])
            if "question" in map(column_name, names):
                return text, delimiter, 0
    return text, ",", 0


def _header(path: Path, cells: Sequence[str]) -> list[str]:
    header = [column_name(cell) for cell in cells]
    while header and not header[-1]:
        header.pop()
    if "question" not in header:
        raise QuestionsError(
            f"{path} has no column 'question' in its first line: own questions need 'question', "
            "and 'gold_sql' where answerable, between commas, semicolons or tabs"
        )
    for column in COLUMNS:
        if header.count(column) > 1:
            raise QuestionsError(f"{path} has the column {column!r} twice: keep one")
    return header


def _record(cells: Sequence[str], header: Sequence[str], where: str) -> dict[str, Any]:
    more = [cell for cell in cells[len(header) :] if cell.strip()]
    if more or len(cells) < len(header):
        raise QuestionsError(
            f"{where} has {'more' if more else 'fewer'} cells than the header: put text with "
            "commas in double quotes"
        )
    return dict(zip(header, cells, strict=False))
