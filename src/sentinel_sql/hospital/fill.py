"""Fills the slots of templates from a hospital, so that most gold answers hold something."""

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
"""Share of draws for which an empty or zero answer is let through; ours."""
_MOST_ROWS = 50
_ATTEMPTS = 40
_YES_NO = "SELECT COUNT(*) > 0"
_PLACEHOLDER = re.compile(r"(?<![\w'%:]):([a-z_]\w*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """A template with its slots filled: the question's words, and the gold SQL if it has one."""

    id: str
    text: str
    gold_sql: str | None
    values: Values


@dataclass(kw_only=True, slots=True)
class Filler:
    """Draws fillings of templates from one hospital; the same seed gives the same ones."""

    connection: sqlite3.Connection
    seed: int
    _sources: dict[str, tuple[tuple[str, ...], list[tuple[str | int | float, ...]]]] = field(
        default_factory=dict
    )

    def fill(self, template: AnswerableTemplate | UnanswerableTemplate) -> Iterator[Filled]:
        """Yield different questions of the template until it has no more to give.

        What comes first doesn't depend on how many are asked for.
        """
        draw = random.Random(f"{self.seed}:{template.name}")  # noqa: S311 (not for secrets)
        wordings = _shuffled(list(template.wordings), draw)
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
            # another wording of the same query only where there is hardly another query
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
        """Draw a value for each slot, or None where a small hospital has nothing for one."""
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
        """Take nearly only answers that say something; `coin` is in [0, 1).

        Of yes and no, the coin says which is wanted; most draws mean no, so most of these do.
        """
        rows = self.connection.execute(gold).fetchmany(_MOST_ROWS + 1)
        if len(rows) > _MOST_ROWS or self._ties(gold):
            return False
        if _YES_NO in gold:
            return says_something(rows) == (coin < 0.5)
        return coin < _EMPTY_SHARE or says_something(rows)

    def _ties(self, gold: str) -> bool:
        """Say whether more than one answer to "the first k" is right."""
        widened = _widened(gold)
        if widened is None:
            return False
        sql, limit = widened
        rows = self.connection.execute(sql).fetchall()
        keys = [row[-1] for row in rows]
        return len(rows) > limit and keys[limit - 1] == keys[limit]


def says_something(rows: list[tuple[str | int | float | None, ...]]) -> bool:
    """Say whether an answer holds more than nothing, NULL or zero."""
    return any(cell not in (None, 0) for row in rows for cell in row)


def render(sql: str, values: Values) -> str:
    """Put the values of slots into the SQL, as literals."""

    def literal(match: re.Match[str]) -> str:
        value = values[match.group(1)]
        return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)

    return _PLACEHOLDER.sub(literal, sql)


def _say(wording: str, values: Values) -> str:
    return wording.format_map({slot: spoken(slot, value) for slot, value in values.items()})


def _distinct(values: Values) -> bool:
    """Refuse the same drug or diagnosis twice in one question."""
    return all(values.get(slot.rstrip("2")) != values[slot] for slot in values if slot[-1] == "2")


def _shuffled(items: list[str], draw: random.Random) -> list[str]:
    return [item for _, item in sorted((draw.random(), item) for item in items)]


def _widened(gold: str) -> tuple[str, int] | None:
    """Ask for one row more than the limit, with the first sort key as the last column."""
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
