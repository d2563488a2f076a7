"""The form of answer that a question and its gold SQL ask for: set, order, yes or no, digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sentinel_sql.sql_tree import known_dialect, parse_one

_SET = re.compile(
    r"\b(?:which|list|who|names? of|what (?:are|were) the (?:names?|drugs?|types?))\b",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"\b(?:each|every|how many|how often|count|number of|times?|values?)\b", re.IGNORECASE
)
_NO_ORDER = re.compile(
    r"\b(?:any|no (?:particular|specific|special|fixed)|whatever) order\b|\bun(?:sorted|ordered)\b"
    r"|\border (?:\w+ ){0,3}?(?:doesn['’]t|does not) matter\b"
    r"|\b(?:regardless|irrespective|independent) of (?:the |their )?order\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:order(?:ed)?|sort(?:ed)?|rank(?:ed|ing)?|top|first|last|earliest|latest|newest|oldest"
    r"|most|least|highest|lowest|ascending|descending|chronological(?:ly)?|alphabetical(?:ly)?"
    r"|sorting|ordering|ranking|largest|smallest|biggest|longest|shortest|youngest|increasing"
    r"|decreasing|by (?:date|time|name|age|size|value))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SelectForm:
    """The form of a query's answer, read from its outermost SELECT.

    `digits` is the number of decimals that it rounds to. If the query doesn't parse, all fields
    are False or None.
    """

    distinct: bool = False
    ordered: bool = False
    truth_value: bool = False
    digits: int | None = None


@lru_cache(maxsize=1_000)
def select_form(sql: str, dialect: str = "sqlite") -> SelectForm:
    """Read the form from the outermost SELECT; a subquery orders where nothing else is read."""
    try:
        tree = parse_one(sql, dialect=known_dialect(dialect))
    except (SqlglotError, RecursionError, ValueError):
        return SelectForm()
    ordered = _orders(tree)
    if isinstance(tree, exp.SetOperation):
        return SelectForm(distinct=bool(tree.args.get("distinct")), ordered=ordered)
    if not isinstance(tree, exp.Select):
        return SelectForm()
    only = tree.expressions[0].unalias().unnest() if len(tree.expressions) == 1 else None
    digits = [
        _decimals(node)
        for column in tree.expressions
        if isinstance(node := column.unalias().unnest(), exp.Round)
    ]
    return SelectForm(
        distinct=tree.args.get("distinct") is not None,
        ordered=ordered,
        truth_value=isinstance(only, exp.Predicate | exp.Connector | exp.Not),
        digits=max((d for d in digits if d is not None), default=None),
    )


def asks_set(question: str, gold: SelectForm) -> bool:
    """Return whether the answer is a set, so that duplicates don't count.

    This holds if the gold SQL has DISTINCT, if it returns yes or no, or if the question asks which
    ones there are.
    """
    by_wording = bool(_SET.search(question) and not _EACH.search(question))
    return gold.distinct or gold.truth_value or by_wording


def asks_order(question: str, gold: SelectForm) -> bool:
    """Return whether the order of rows counts: the gold SQL has ORDER BY.

    People ask for an order in too many ways for a list of words. The order therefore counts
    whenever the gold SQL orders, unless the question says that it doesn't matter. `words_order`
    tells whether the wording is sure.
    """
    return gold.ordered and _NO_ORDER.search(question) is None


def words_order(question: str) -> bool:
    """Return whether the wording surely asks for an order."""
    return _ORDER.search(question) is not None


def _orders(tree: exp.Expr) -> bool:
    """Tell whether a query orders its rows: itself, or the one subquery that it takes them from."""
    named = {cte.alias: cte.this for cte in tree.find_all(exp.CTE)}
    while tree.args.get("order") is None:
        source = tree.args.get("from_")
        mixes = any(tree.args.get(part) for part in ("joins", "group", "distinct"))
        if source is None or mixes or not isinstance(tree, exp.Select):
            return False
        inner = source.this
        if isinstance(inner, exp.Table):
            # a name that is taken once can't lead back to itself
            inner = named.pop(inner.name, None)
        if inner is None:
            return False
        tree = inner.unnest()
    return True


def _decimals(rounding: exp.Round) -> int | None:
    places = rounding.args.get("decimals")
    if places is None:
        return 0
    return int(places.name) if isinstance(places, exp.Literal) and places.is_int else None
