"""Reads a table of questions as CSV, in any common form of spreadsheets."""

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
    """Return each row by its column names, with its place for errors.

    The delimiter is the comma, semicolon, tab or bar that splits the header into columns, or the
    one of a first line `sep=;`. Column names are read without case and outer blanks. A blank after
    a delimiter isn't part of the cell. Rows without content are ignored. Without a column `id`,
    questions are named by the file and a number.

    Raises:
        QuestionsError: there is no header or no row, a column is there twice, or a row doesn't fit
            the header.
    """
    # a carriage return alone ends the lines of old Macintosh files, and Excel still writes them
    text, delimiter, skipped = _find_delimiter(re.sub(r"\r(?!\n)", "\n", text))
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


def _find_delimiter(text: str) -> tuple[str, str, int]:
    """Return the table's text, its delimiter, and the number of lines before the text."""
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
            "and 'gold_sql' if answerable, between commas, semicolons or tabs"
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
