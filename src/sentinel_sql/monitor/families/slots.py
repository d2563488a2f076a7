"""Slots: whether what the question names is in the query, and the reverse.

A slot is an id, a number, a span of time, a bound, or what is counted. All other words belong to
the family `accounted`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.query_record import QueryFacts
from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView
from sentinel_sql.monitor.families.wording import Wording
from sentinel_sql.monitor.features.keys import Keys

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "numbers_missing": "share of the question's numbers that the query doesn't have",
        "any_number_missing": "1 if there is one",
        "id_missing": "share of the question's ids that the query doesn't have",
        "id_on_other_key": "an id is compared with another key than the word before it names",
        "years_missing": "share of the years meant that the query has neither as such nor as the "
        "year before",
        "months_missing": "share of the months named that the query doesn't have",
        "year_invented": "a year in the query is none that was meant, nor next to one",
        "span_missing": "a span of time is named and no column of time is filtered",
        "span_unasked": "a column of time is filtered and no span named",
        "since_as_equality": "an open span is asked for and a closed one taken",
        "equality_as_since": "a closed span is asked for and an open one taken",
        "bound_missing": "a bound is named and nothing but time is compared by size",
        "bound_unasked": "something but time is compared by size and no bound named",
        "counted_elsewhere": "what is counted names a table that the query doesn't read",
        "rows_for_things": "things of one table are counted as rows of another",
        "things_for_rows": "rows are asked for and different values counted",
        "filters": "how many comparisons with literals there are, at most 8",
        "filters_short": "fewer filters than slots: how many are lacking, at most 4",
    }
)
"""Meanings by name; unknown unless an answer is committed."""

_PERSONS = frozenset(["people", "person", "persons", "individuals"])
_PERSON_TABLES = ("patients", "persons", "people", "customers", "users", "employees", "members")


class SlotState:
    """Whether the committed query fills the question's slots."""

    def __init__(self, asked: QuestionView) -> None:
        self._asked = asked
        self._values = [UNSEEN] * len(FEATURES)

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        if seen.committed == "answer" and seen.query is not None:
            self._values = _compare_slots(self._asked, seen.query)

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return list(self._values)


def _compare_slots(asked: QuestionView, query: QueryFacts) -> list[float]:
    wording, keys, clock = asked.wording, asked.surroundings.keys, asked.surroundings.clock
    numbers = [value for value in wording.numbers if value not in (0.0, 1.0)]
    absent = [value for value in numbers if value not in query.numbers]
    ids = [value for _, value in wording.ids]
    timed = [item for item in query.filters if item.kind == "time"]
    sized = [
        item
        for item in query.filters
        if item.kind != "time" and item.operator in ("<", ">", "between")
    ]
    open_ = any(item.operator in ("<", ">", "between") for item in timed)
    spanned = wording.dated or wording.relative
    asked_open = wording.since or wording.before
    near = {year + by for year in wording.years for by in (-1, 0, 1)}
    if clock is not None and clock[:4].isdigit() and wording.relative:
        near |= {int(clock[:4]), int(clock[:4]) - 1}
    slots = len(wording.ids) + spanned + wording.compared
    counts_rows = "count" in query.aggregates and not query.distinct
    thing = _table_named(wording.counted, keys)
    features: list[bool | float] = [
        len(absent) / len(numbers) if numbers else 0.0,
        bool(absent),
        sum(value not in query.numbers for value in ids) / len(ids) if ids else 0.0,
        _on_other_key(wording, query, keys),
        _share(
            year not in query.years and year - 1 not in query.years and not query.now
            for year in wording.years
        ),
        _share(month not in query.words for month in wording.months),
        any(year not in near for year in query.years),
        spanned and not timed and not query.now,
        bool(timed) and not spanned and not wording.since and not wording.before,
        asked_open and bool(timed) and not open_,
        spanned and not asked_open and open_ and not wording.compared,
        wording.compared and not sized and not open_,
        bool(sized) and not wording.compared,
        thing is not None and thing not in query.tables and wording.kind == "count",
        wording.kind == "count"
        and counts_rows
        and thing is not None
        and bool(query.tables)
        and query.tables[0] != thing,
        wording.kind == "count" and query.distinct and thing is None and not wording.distinct,
        float(min(8, len(query.filters))),
        float(min(4, max(0, slots - len(query.filters)))),
    ]
    return [float(value) for value in features]


def _share(failed: object) -> float:
    verdicts = list(failed)  # type: ignore[call-overload]
    return sum(verdicts) / len(verdicts) if verdicts else 0.0


def _table_named(word: str, keys: Keys | None) -> str | None:
    if not word or keys is None:
        return None
    if word in _PERSONS:
        return next((table for table in _PERSON_TABLES if table in keys.schema.tables), None)
    stem = word.removesuffix("s")
    if len(stem) < 4:
        return None
    for table in keys.schema.tables:
        if table.removesuffix("s") == stem or stem in table.split("_"):
            return table
    return next(
        (table for table in keys.schema.tables if table.removesuffix("s").endswith(stem)), None
    )


def _on_other_key(wording: Wording, query: QueryFacts, keys: Keys | None) -> bool:
    if keys is None:
        return False
    for noun, value in wording.ids:
        table = _table_named(noun, keys)
        if table is None or not (identifying := keys.identifying.get(table)):
            continue
        against = {
            item.column
            for item in query.filters
            for said in item.values
            if said.isdigit() and len(said) < 16 and float(said) == value
        }
        if against and not against & identifying:
            return True
    return False
