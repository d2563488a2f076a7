"""Probes: how the newest query got its result, for runs whose steps have probes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.query_record import QueryFacts
from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView
from sentinel_sql.trajectory.record import Probes

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "rows_read": "logarithm of one more than the rows that the newest query's chain ends with",
        "nothing_read": "no row is left at the end of the chain, whatever the result shows",
        "one_row_read": "a single row is left at the end of the chain",
        "joins": "joins of the chain",
        "multiplied": "logarithm of the largest factor by which a join multiplied the rows",
        "multiplied_aggregate": "a SUM, AVG or COUNT reads a table whose rows a join multiplied",
        "lost": "share of the first table's rows that are gone at the end of the chain",
        "lost_all": "the first table has rows under its conditions, and joins leave none",
        "nulls": "highest share of NULLs in a column of the newest result",
        "all_null": "a column of the newest result is NULL in every row",
        "text_missed": "share of the newest query's texts that no row has",
        "any_text_missed": "1 if there is one",
        "nearest": "likeness of the stored value nearest to a missed text, the least of them",
        "spellings_missed": "other spellings of its texts that the newest query leaves out",
    }
)
"""Meanings by name. Unknown if the newest query wasn't probed, or its probes lack the figure."""


class ProbeState:
    """The newest query's probes."""

    def __init__(self, asked: QuestionView) -> None:  # noqa: ARG002
        self._values = [UNSEEN] * len(FEATURES)

    def observe(self, seen: StepView) -> None:
        """Read one more step; the probes of earlier queries are dropped."""
        probes = seen.step.observation.probes
        self._values = [UNSEEN] * len(FEATURES) if probes is None else _read(probes, seen.query)

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return self._values


def _read(probes: Probes, query: QueryFacts | None) -> list[float]:
    return [*_chain(probes, query), *_nulls(probes), *_texts(probes), _spellings(probes)]


def _chain(probes: Probes, query: QueryFacts | None) -> list[float]:
    first, last = (probes.chain[0], probes.chain[-1]) if probes.chain else (None, None)
    fan_out = probes.fan_out
    return [
        UNSEEN if last is None else math.log1p(last),
        UNSEEN if last is None else float(last == 0),
        UNSEEN if last is None else float(last == 1),
        float(len(probes.chain) - 1) if probes.chain else UNSEEN,
        UNSEEN if fan_out is None else math.log(max(1.0, fan_out)),
        _multiplied_aggregate(probes, query),
        UNSEEN if not first or last is None else max(0.0, 1.0 - last / first),
        UNSEEN if first is None or last is None else float(first > 0 and last == 0),
    ]


def _multiplied_aggregate(probes: Probes, query: QueryFacts | None) -> float:
    """Return whether an aggregate counts rows of a table more than once, as far as it is known."""
    counts = probes.chain
    if query is None or query.subqueries or len(counts) != len(query.tables) or None in counts:
        return UNSEEN
    grown = [at for at in range(1, len(counts)) if (counts[at] or 0) > (counts[at - 1] or 0)]
    before = frozenset(query.tables[: grown[-1]]) if grown else frozenset[str]()
    return float(bool(before & query.aggregated))


def _nulls(probes: Probes) -> list[float]:
    known = [share for share in probes.nulls if share is not None]
    if not known:
        return [UNSEEN] * 2
    return [max(known), float(max(known) == 1.0)]


def _texts(probes: Probes) -> list[float]:
    if probes.lookups is None:
        return [UNSEEN] * 3
    missed = len(probes.nearest)
    likeness = [near.similarity for near in probes.nearest if near.similarity is not None]
    return [
        missed / probes.lookups if probes.lookups else 0.0,
        float(missed > 0),
        min(likeness, default=UNSEEN),
    ]


def _spellings(probes: Probes) -> float:
    return UNSEEN if probes.spellings is None else float(sum(it.count for it in probes.spellings))
