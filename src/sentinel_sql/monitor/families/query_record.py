"""The record of what a query does: what it returns, filters, joins and orders by."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_sql.monitor.families.column_kinds import ColumnKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """One comparison of a column with literals.

    Attributes:
        table: the column's table, or an empty text if it is unknown.
        column: the column's name.
        kind: the column's kind.
        operator: `=`, `<>`, `<`, `>`, `like`, `in` or `between`; `<=` counts as `<`, `>=` as `>`.
        values: the literals in lower case.
        numeric: the literals were written as numbers.
    """

    table: str
    column: str
    kind: ColumnKind
    operator: str
    values: tuple[str, ...]
    numeric: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryFacts:
    """What one query does.

    Attributes:
        returned: kind of each column of the outermost SELECT, without `*`.
        columns: names of columns that the outermost SELECT returns or aggregates.
        aggregates: names of the aggregates in the outermost SELECT.
        counted: columns inside a COUNT of the outermost SELECT; empty for `COUNT(*)`.
        distinct: DISTINCT in the outermost SELECT, or in its COUNT.
        bare_beside_aggregate: a column stands beside an aggregate without GROUP BY.
        tables: the tables, in order, with repeats.
        idle_tables: how many joined tables are used in nothing but the join.
        used_tables: the tables whose columns are used elsewhere, too.
        aggregated: tables of the columns in the SUM, AVG and COUNT of the outermost SELECT, without
            those under DISTINCT.
        filters: every comparison of a column with literals.
        orders: the number of MIN, of MAX and of ORDER BY with LIMIT.
        ranks: a window function, a median or a percentile anywhere.
        negates: NOT, EXCEPT, `<>` or a comparison with NULL anywhere.
        descending: the outermost ORDER BY is descending; None without ORDER BY.
        limit: the outermost LIMIT, or None.
        grouped: GROUP BY anywhere.
        subqueries: nested SELECTs.
        mixed_or: an OR beside an AND without brackets.
        divides, subtracts: arithmetic in the outermost SELECT.
        subtracts_times: two columns of time are subtracted without a conversion.
        contradicts: a column is compared both with NULL and with a literal.
        now: the query uses the current time.
        numbers: every number in the literals.
        years: every year in the literals.
        names: every name of a table or column, in lower case, without those that the query gives.
        literals: every literal, in lower case.
        words: text of identifiers and literals, in lower case.
    """

    returned: tuple[ColumnKind, ...]
    columns: tuple[str, ...]
    aggregates: frozenset[str]
    counted: tuple[str, ...]
    distinct: bool
    bare_beside_aggregate: bool
    tables: tuple[str, ...]
    idle_tables: int
    used_tables: frozenset[str]
    aggregated: frozenset[str]
    filters: tuple[Filter, ...]
    orders: int
    ranks: bool
    negates: bool
    descending: bool | None
    limit: int | None
    grouped: bool
    subqueries: int
    mixed_or: bool
    divides: bool
    subtracts: bool
    subtracts_times: bool
    contradicts: bool
    now: bool
    numbers: frozenset[float]
    years: frozenset[int]
    names: frozenset[str]
    literals: tuple[str, ...]
    words: str
