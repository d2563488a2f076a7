"""Chooses the columns whose texts are names of things, codes or labels, and no person's data.

docs/decisions explains the rules. A column is left out if its name, its table's name or its values
say that it may identify people, and if its texts are free text, numbers or nearly unique.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sentinel_sql.schema import Schema

_TEXT_TYPES = ("char", "text", "string", "clob", "enum")
_TIME_TYPES = ("date", "time")
_NAME_PART = re.compile(r"[a-z]+")

_PERSONAL_COLUMNS_WORDS = """
address addr email mail phone telephone tel mobile cell fax street zip zipcode postcode postal
city town surname forename firstname lastname fullname middlename maidenname nickname username
login account password passwd token secret ssn passport iban licence license mrn nhs initials
signature photo birth birthplace comment comments note notes remark remarks narrative message
body contact guardian spouse kin author doctor physician nurse surgeon provider caregiver
prescriber attending employer url website ip
"""
PERSONAL_COLUMNS = frozenset(_PERSONAL_COLUMNS_WORDS.split())
"""Words of column names that identify people, or hold free text (our choice)."""

_NAME_OWNERS = frozenset({"first", "last", "given", "family", "middle", "maiden", "full", "user"})
"""Words that make a column `…name` that of a person."""

_PEOPLE_WORDS = """
patient person people user customer client employee staff doctor physician nurse surgeon
provider caregiver student teacher member contact author subscriber guest passenger driver
player candidate applicant resident tenant worker guardian relative visitor donor recipient
"""
PEOPLE = frozenset(_PEOPLE_WORDS.split())
"""Words of table names whose rows are people (our choice)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A text column that may be indexed.

    Attributes:
        table: folded name of the table.
        column: folded name of the column.
        code: column of the same table whose codes stand for the labels of this one, or None.
        lookup: True if the table names things for other tables, so that its texts may be unique.
        opted_in: True if the user asked for this column by name.
    """

    table: str
    column: str
    code: str | None = None
    lookup: bool = False
    opted_in: bool = False


def candidates(schema: Schema, opted_in: Iterable[str] = ()) -> Iterator[Candidate]:
    """Yield the text columns that may be indexed by their names and types, in schema order.

    Args:
        schema: the database's schema.
        opted_in: columns, as folded `table.column`, that are indexed whatever they hold.
    """
    wanted = frozenset(opted_in)
    references = {(key.table, key.column) for key in schema.foreign_keys}
    for table, columns in schema.tables.items():
        lookup, code = _is_lookup(schema, table), _code_column(schema, table)
        for column, kind in columns.items():
            own_code = None if column == code else code
            if f"{table}.{column}" in wanted:
                yield Candidate(
                    table=table, column=column, code=own_code, lookup=True, opted_in=True
                )
            elif (
                _is_text(kind)
                and (table, column) not in references
                and column != code
                and not is_personal(table, column)
            ):
                yield Candidate(
                    table=table, column=column, code=own_code if lookup else None, lookup=lookup
                )


def is_personal(table: str, column: str) -> bool:
    """Return whether the names of a table and its column say that it identifies people."""
    parts = _parts(column)
    if parts & PERSONAL_COLUMNS:
        return True
    return "name" in parts and bool(parts & _NAME_OWNERS or _is_about_people(table))


def _is_lookup(schema: Schema, table: str) -> bool:
    """Return whether other tables refer to this one for names of things: no people, no times."""
    columns = schema.tables[table]
    return (
        any(key.to_table == table != key.table for key in schema.foreign_keys)
        and not _is_about_people(table)
        and not any(_is_time(kind) for kind in columns.values())
        and not any(is_personal(table, column) for column in columns)
    )


def _code_column(schema: Schema, table: str) -> str | None:
    """Return the column by which other tables refer to this one, or None."""
    targets = [key.to_column for key in schema.foreign_keys if key.to_table == table != key.table]
    return max(sorted(set(targets)), key=targets.count) if targets else None


def _is_about_people(table: str) -> bool:
    return bool(_parts(table) & PEOPLE)


def _parts(name: str) -> frozenset[str]:
    parts = _NAME_PART.findall(name)
    return frozenset([*parts, *(part.removesuffix("s") for part in parts)])


def _is_text(kind: str) -> bool:
    return not kind or any(word in kind.lower() for word in _TEXT_TYPES)


def _is_time(kind: str) -> bool:
    return any(word in kind.lower() for word in _TIME_TYPES)
