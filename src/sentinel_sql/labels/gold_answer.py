"""Reads a gold answer that was written down instead of a gold query, and its other readings.

A list of lists, or of objects, is rows; a list of values is one column; anything else is one cell.
A text that could mean something else has further readings. An answer that is right under one of
these only is left without a label, because nobody can tell which one was meant.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from sentinel_sql.database.executor import Cell, ExecutionResult
from sentinel_sql.labels.answer_form import SelectForm, words_order
from sentinel_sql.labels.rules import Answer

NO_QUERY = "-- no query: the answer itself is given"
"""Stands where the gold query would, for judges and raters."""

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?")
_WITH_UNIT = re.compile(r"[^\d+-]*([+-]?\d{1,15}(?:,\d{1,15})*(?:\.\d{1,15})?)\D*")
_DAY = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})")
_SEPARATORS = re.compile(r"[,;|\n]|\band\b")
_TRUTH: Mapping[str, int] = {"yes": 1, "true": 1, "no": 0, "false": 0}
_FEWEST_DIGITS = 2
"""Decimals from which a written number may be a rounded one (our choice): 37.0 and 37.04 may be
two measurements."""

_Table = tuple[tuple[Cell, ...], ...]


def gold_readings(text: str, question: str) -> list[Answer]:
    """Return what a gold answer means: the declared reading first, then others that it may have.

    Empty if it has none: brackets that don't close, rows of different lengths, lists within cells.

    Args:
        text: the gold answer as the question file has it.
        question: wording of the question, which may ask for an order.
    """
    value = _value(text.strip())
    if value is None:
        return []
    tables, truth = value
    digits = _digits(tables[0])
    form = SelectForm(
        ordered=len(tables[0]) > 1 and words_order(question),
        truth_value=truth,
        digits=digits if digits >= _FEWEST_DIGITS else None,
    )
    found = [_answer(table, form) for table in tables]
    if form.ordered:
        found.append(_answer(tables[0], replace(form, ordered=False)))
    if form.digits is None and any(isinstance(cell, int | float) for cell in sum(tables[0], ())):
        found.append(_answer(tables[0], replace(form, digits=digits)))
    return found


def _value(text: str) -> tuple[list[_Table], bool] | None:
    """Return the tables that a text may mean, and whether it says yes or no; None for neither."""
    if text[:1] in ("[", "{"):
        tables = _tables(_literal(text))
        return None if tables is None else ([*tables, *_other_types(tables[0])], False)
    if text[:1] in ('"', "'") and isinstance(quoted := _literal(text), str):
        return [((quoted,),), *_other_types(((quoted,),))], False
    if text.casefold() in _TRUTH:
        return [((_TRUTH[text.casefold()],),), ((text,),)], True
    cell = _cell(text)
    tables = [((cell,),), *_other_types(((cell,),))]
    tables += [((other,),) for other in (*_numbers_in(text), *_days_in(text))]
    parts = [part.strip() for part in _SEPARATORS.split(text) if part.strip()]
    if len(parts) > 1:
        cells = tuple(map(_cell, parts))
        tables += [tuple((one,) for one in cells), (cells,)]
    return tables, False


def _numbers_in(text: str) -> list[Cell]:
    """Return the numbers that a text may stand for: `1,234`, `87,33`, `42 mg`, `$5`, `50 %`."""
    found = _WITH_UNIT.fullmatch(text)
    if found is None or _NUMBER.fullmatch(text):
        return []
    whole = _cell(found[1].replace(",", ""))
    numbers = [whole, _cell(found[1].replace(",", ".", 1))]
    if "%" in text and isinstance(whole, int | float):
        numbers.append(whole / 100)
    return [number for number in numbers if not isinstance(number, str)]


def _days_in(text: str) -> list[Cell]:
    """Return the dates that `03/04/2100` may stand for, as databases write them."""
    found = _DAY.fullmatch(text)
    if found is None:
        return []
    first, second, year = found.groups()
    return [f"{year}-{month:0>2}-{day:0>2}" for day, month in ((first, second), (second, first))]


def _tables(value: object) -> list[_Table] | None:
    """Return the table of a list: rows, objects, or one column; a column may also be one row."""
    if not isinstance(value, list | tuple):
        return None
    rows: list[tuple[object, ...]]
    if all(isinstance(row, list | tuple) for row in value):
        rows = [tuple(row) for row in value]
    elif all(isinstance(row, dict) for row in value):
        if any(row.keys() != value[0].keys() for row in value):
            return None
        rows = [tuple(row[name] for name in value[0]) for row in value]
    else:
        rows = [(cell,) for cell in value]
    table = tuple(tuple(map(_plain, row)) for row in rows)
    if any(not row or len(row) != len(table[0]) for row in table):
        return None
    if any(isinstance(cell, _Unclear) for row in table for cell in row):
        return None
    clear: _Table = table  # type: ignore[assignment]
    flat = len(clear) > 1 and not isinstance(value[0], list | tuple | dict)
    return [clear, (sum(clear, ()),)] if flat else [clear]


class _Unclear:
    """A value that no cell of a result can be."""


def _plain(value: object) -> Cell | _Unclear:
    if isinstance(value, float) and not math.isfinite(value):
        return _Unclear()
    if isinstance(value, bool):
        return int(value)
    return value if value is None or isinstance(value, str | int | float) else _Unclear()


def _literal(text: str) -> object:
    """Return a JSON value or Python's print of one; a text that is neither is no value."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return ast.literal_eval(text)
    return None


def _cell(text: str) -> Cell:
    if not _NUMBER.fullmatch(text) or len(text) > 300:
        return text
    return float(text) if "." in text else int(text)


def _other_types(table: _Table) -> list[_Table]:
    """Return the table with its numbers as text, and with its texts as numbers, if they differ."""
    texts = tuple(
        tuple(str(cell) if isinstance(cell, int | float) else cell for cell in row) for row in table
    )
    numbers = tuple(tuple(map(_number, row)) for row in table)
    return [other for other in (texts, numbers) if other != table]


def _number(cell: Cell) -> Cell:
    """Read a text as a number or NULL, as printed answers of data sets need it."""
    if not isinstance(cell, str):
        return cell
    if cell.strip().casefold() in ("none", "null"):
        return None
    for kind in (int, float):
        with suppress(ValueError):
            return kind(cell)
    return cell


def _digits(table: _Table) -> int:
    """Return the most decimals of a number of the table."""
    decimals = [
        len(str(cell).partition(".")[2])
        for row in table
        for cell in row
        if isinstance(cell, float) and "e" not in str(cell) and not cell.is_integer()
    ]
    return max(decimals, default=0)


def _answer(table: _Table, form: SelectForm) -> Answer:
    return Answer(
        sql=NO_QUERY,
        result=ExecutionResult(
            kind="rows" if table else "empty",
            columns=("",) * (len(table[0]) if table else 0),
            rows=table,
        ),
        stated_form=form,
    )
