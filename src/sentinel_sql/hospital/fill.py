"""The filling of templates from a hospital, so that most gold answers aren't empty."""

from __future__ import annotations

import hashlib
import random
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from sentinel_sql.hospital.slots import SLOTS, spoken
from sentinel_sql.hospital.templates.template import AnswerableTemplate, UnanswerableTemplate
from sentinel_sql.hospital.wordings import frame
from sentinel_sql.sql_tree import parse_one

Values: TypeAlias = Mapping[str, str | int | float]

_EMPTY_SHARE = 0.06
"""Share of draws for which an empty or zero answer is accepted (ours)."""
_MOST_ROWS = 50
_ATTEMPTS = 40
_YES_NO = "SELECT COUNT(*) > 0"
_PLACEHOLDER = re.compile(r"(?<![\w'%:]):([a-z_]\w*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """A question from a template: its text, its gold SQL or None, and the values of the slots."""

    id: str
    text: str
    gold_sql: str | None
    values: Values


@dataclass(kw_only=True, slots=True)
class Filler:
    """Fills templates from one hospital; equal seeds give equal questions."""

    connection: sqlite3.Connection
    seed: int
    _sources: dict[str, tuple[tuple[str, ...], list[tuple[str | int | float, ...]]]] = field(
        default_factory=dict
    )

    def fill(self, template: AnswerableTemplate | UnanswerableTemplate) -> Iterator[Filled]:
        """Yield different questions of the template until it gives no more.

        The first ones don't depend on how many are read.
        """
        draw = random.Random(f"{self.seed}:{template.name}")  # noqa: S311 (not for secrets)
        wordings = _shuffle(list(template.wordings), draw)
        seen: set[str] = set()
        golds: set[str | None] = set()
        misses = 0
        while misses < _ATTEMPTS:
            wording = wordings[len(seen) % len(wordings)]
            values = self._draw(template.slots, draw)
            if values is None:
                return
            coin = draw.random()
            gold = (
                render(template.sql, values) if isinstance(template, AnswerableTemplate) else None
            )
            text = frame(_say(wording, values), draw)
            # Another wording of the same query is accepted only if new queries are hard to find.
            stale = text in seen or (gold in golds and misses < _ATTEMPTS // 2)
            if stale or not _distinct(values) or (gold and not self._usable(gold, coin)):
                misses += 1
                continue
            golds |= {gold} - {None}
            misses = 0
            seen.add(text)
            mark = hashlib.sha256(f"{template.name}\n{text}\n{gold}".encode()).hexdigest()[:10]
            yield Filled(id=f"h-{mark}", text=text, gold_sql=gold, values=values)

    def _draw(self, slots: tuple[str, ...], draw: random.Random) -> Values | None:
        """Draw a value for each slot; None if a small hospital has no value for one."""
        values: dict[str, str | int | float] = {}
        for slot in slots:
            names, rows = self._source(slot)
            if not rows:
                return None
            row = rows[int(draw.random() * len(rows))]
            suffix = slot[len(slot.rstrip("0123456789")) :]
            values |= {name + suffix: value for name, value in zip(names, row, strict=True)}
        return values

    def _source(self, slot: str) -> tuple[tuple[str, ...], list[tuple[str | int | float, ...]]]:
        name = slot.rstrip("0123456789")
        if name not in self._sources:
            cursor = self.connection.execute(SLOTS[name])
            self._sources[name] = (tuple(c[0] for c in cursor.description), cursor.fetchall())
        return self._sources[name]

    def _usable(self, gold: str, coin: float) -> bool:
        """Return whether to keep a query; few with empty answers are. `coin` is in [0, 1).

        For a yes-no question the coin chooses the answer. Without it, most answers would be no.
        """
        rows = self.connection.execute(gold).fetchmany(_MOST_ROWS + 1)
        if len(rows) > _MOST_ROWS or self._ties(gold):
            return False
        if _YES_NO in gold:
            return has_content(rows) == (coin < 0.5)
        return coin < _EMPTY_SHARE or has_content(rows)

    def _ties(self, gold: str) -> bool:
        """Return whether a tie makes more than one answer to "the first k" right."""
        extended = _extend_limit(gold)
        if extended is None:
            return False
        sql, limit = extended
        rows = self.connection.execute(sql).fetchall()
        keys = [row[-1] for row in rows]
        return len(rows) > limit and keys[limit - 1] == keys[limit]


def has_content(rows: list[tuple[str | int | float | None, ...]]) -> bool:
    """Return whether an answer has a cell other than NULL and 0."""
    return any(cell not in (None, 0) for row in rows for cell in row)


def render(sql: str, values: Values) -> str:
    """Insert the values of the slots into the SQL as literals."""

    def literal(match: re.Match[str]) -> str:
        value = values[match.group(1)]
        return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)

    return _PLACEHOLDER.sub(literal, sql)


def _say(wording: str, values: Values) -> str:
    return wording.format_map({slot: spoken(slot, value) for slot, value in values.items()})


def _distinct(values: Values) -> bool:
    """Return whether the question names no drug and no diagnosis twice."""
    return all(values.get(slot.rstrip("2")) != values[slot] for slot in values if slot[-1] == "2")


def _shuffle(items: list[str], draw: random.Random) -> list[str]:
    return [item for _, item in sorted((draw.random(), item) for item in items)]


def _extend_limit(gold: str) -> tuple[str, int] | None:
    """Return the query with one row more and the first sort key as the last column, and its limit.

    None for a query without LIMIT and ORDER BY.
    """
    if " LIMIT " not in gold:
        return None
    tree = parse_one(gold)
    limit, order = tree.args.get("limit"), tree.args.get("order")
    if not isinstance(tree, exp.Select) or limit is None or order is None:
        return None
    count = int(limit.expression.name)
    offset = tree.args.get("offset")
    count += int(offset.expression.name) if offset is not None else 0
    tree.set("offset", None)
    tree.select(order.expressions[0].this.copy(), copy=False)
    return tree.limit(count + 1, copy=False).sql(dialect="sqlite"), count
