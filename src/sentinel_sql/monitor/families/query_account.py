"""What a query accounts for: each phrase of a question against the query, and each condition back.

A phrase is accounted for by the query's tables, columns, values, functions and order, or by a code
beside which an earlier result showed its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sentinel_sql.coverage import CoveredPhrase
from sentinel_sql.monitor.families.account_words import (
    AGGREGATE,
    BETWEEN,
    COUNTED,
    DISTINCT,
    DIVIDED,
    GROUPED,
    HIGHEST,
    LINKING,
    LOWEST,
    MEANT,
    MEDIAN,
    NEGATED,
    ORDERED,
    SENSES,
    SMALL,
    SUPERLATIVE,
    is_alike,
    is_among,
    is_part,
    parts_of,
)
from sentinel_sql.monitor.families.query_record import Filter, QueryFacts
from sentinel_sql.monitor.families.result_facts import ResultFacts
from sentinel_sql.monitor.families.step_view import QuestionView
from sentinel_sql.monitor.features.keys import Keys

_TOKEN = re.compile(r"[^\W_]+(?:[.'][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LONGEST = 4_000
_FRAME = re.compile(
    r"(?=[^:?.!]*\b(?:asks?|asked|asking|wants?|needs?|question|quick|for|from|wonders?|checks?)\b)"
    r"[^:?.!]*:\s|(?:for|before|in) (?:the|an?|our|my) \w+(?: \w+)?, ",
    re.IGNORECASE,
)
"""What introduces a question: `For the audit, how many …`, `The nurse asks: when …`."""

_SHORTEST_CODE = 2
_LONGEST_CODE = 12
_MOST_CODES = 2_000

_FUNCTIONS: tuple[tuple[re.Pattern[str], Callable[[QueryFacts], bool]], ...] = (
    (HIGHEST, lambda query: _orders(query, other="min")),
    (LOWEST, lambda query: _orders(query, other="max")),
    (SUPERLATIVE, lambda query: query.orders > 0 or query.descending is not None or query.ranks),
    (GROUPED, lambda query: query.grouped or query.ranks or "avg" in query.aggregates),
    (DISTINCT, lambda query: query.distinct or query.grouped),
    (ORDERED, lambda query: query.orders > 0 or query.limit is not None or query.ranks),
    (COUNTED, lambda query: bool(query.aggregates & {"count", "sum"})),
    (DIVIDED, lambda query: "avg" in query.aggregates or query.divides),
    (MEDIAN, lambda query: query.ranks or (query.limit is not None and query.subqueries > 0)),
    (NEGATED, lambda query: query.negates),
)
"""Words, and what in a query accounts for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """One query against its question.

    Attributes:
        lacking: the phrases that nothing in the query accounts for, in the question's order.
        phrases: how many phrases were looked at.
        by_code: how many are accounted for by a code alone.
        unasked: the conditions that neither the question nor a code's label asks for.
        texts_unasked: share of the filters of text whose values the question doesn't say.
    """

    lacking: tuple[CoveredPhrase, ...]
    phrases: int
    by_code: int
    unasked: tuple[Filter, ...]
    texts_unasked: float


class CodeLabels:
    """The words that earlier results showed beside each code. Bounded by the results' samples."""

    def __init__(self) -> None:
        self._words: dict[str, set[str]] = {}

    def add(self, result: ResultFacts | None, query: QueryFacts | None) -> None:
        """Read the result of one query; a code that was looked up by a text has its words, too."""
        if result is None or query is None or not result.cells:
            return
        looked_up = {
            word for item in query.filters for value in item.values for word in parts_of(value)
        }
        for row in result.cells:
            codes = [cell.lower() for cell in row if _is_code(cell)]
            if not codes or len(self._words) > _MOST_CODES:
                continue
            words = looked_up.union(*(parts_of(cell) for cell in row if not _is_code(cell)))
            for code in codes:
                self._words.setdefault(code, set()).update(words)

    def words_of(self, code: str) -> frozenset[str]:
        """Return the words that were seen beside a code."""
        return frozenset(self._words.get(code, ()))


def _orders(query: QueryFacts, *, other: str) -> bool:
    """Return whether a query finds one end; the aggregate of the other end alone doesn't."""
    ends = query.orders - (other in query.aggregates)
    return ends > 0 or query.limit is not None or query.ranks


def account(
    asked: QuestionView, phrases: Sequence[CoveredPhrase], query: QueryFacts, labels: CodeLabels
) -> Account:
    """Compare a query with its question and the question's phrases; see `Account`."""
    terms = _Terms(query, asked.surroundings.keys)
    codes = [value for item in query.filters for value in item.values if _is_code(value)]
    beside = frozenset[str]().union(*(labels.words_of(code) for code in codes))
    lacking, by_code = [], 0
    for phrase in phrases:
        if terms.accounts_for(phrase):
            continue
        shown = bool(phrase.words) and all(is_among(word, beside) for word in phrase.words)
        if shown or _by_unseen_code(phrase, query, labels, asked.surroundings.keys):
            by_code += 1
        else:
            lacking.append(phrase)
    said = _words_of(asked.question.text)
    unasked = tuple(
        item
        for item in query.filters
        if item.kind != "time" and not _is_asked(item, said, asked, labels)
    )
    lacking = _without_named_otherwise(lacking, unasked)
    texts = [item for item in query.filters if item.kind in ("text", "unknown") and item.values]
    spoken = " ".join(asked.question.text.lower().split())
    unsaid = [not any(it.strip("%") in spoken for it in item.values if it) for item in texts]
    return Account(
        lacking=tuple(lacking),
        phrases=len(phrases),
        by_code=by_code,
        unasked=unasked,
        texts_unasked=sum(unsaid) / len(unsaid) if unsaid else 0.0,
    )


def _without_named_otherwise(
    lacking: Sequence[CoveredPhrase], unasked: Sequence[Filter]
) -> list[CoveredPhrase]:
    """Return the phrases without those that a condition may name otherwise: `Lasix`, `COPD`.

    Each condition on texts that nothing asks for may stand for one phrase that nothing in the
    database holds.
    """
    spare = sum(item.kind in ("text", "unknown") and bool(item.values) for item in unasked)
    kept: list[CoveredPhrase] = []
    for phrase in lacking:
        if spare and not phrase.matches and phrase.words and phrase.text.lower() not in SENSES:
            spare -= 1
        else:
            kept.append(phrase)
    return kept


def phrases_of(asked: QuestionView) -> tuple[CoveredPhrase, ...]:
    """Return the phrases to account for, from the coverage record or else the question's words."""
    coverage = asked.question.coverage
    if coverage is not None:
        found = tuple(phrase for phrase in coverage.phrases if not phrase.earlier)
    else:
        content = frozenset(asked.wording.content)
        found = tuple(
            CoveredPhrase(text=at[0], start=at.start(), words=tuple(parts_of(at[0])))
            for at in _TOKEN.finditer(asked.question.text[:_LONGEST])
            if at[0].lower().removesuffix("'s") in content
        )
    text = asked.question.text[:_LONGEST]
    known = {it.start for it in found}
    spans = [at for at in AGGREGATE.finditer(text) if at.start() not in known]
    # `per patient` stands for the phrase within it, so that no word is counted twice.
    within = {start for at in spans for start in range(at.start() + 1, at.end())}
    found = tuple(it for it in found if it.start not in within)
    found += tuple(CoveredPhrase(text=at[0], start=at.start(), words=()) for at in spans)
    verbs = frozenset(_verbs(text))
    frame = _FRAME.match(text)
    begins = frame.end() if frame else 0
    return tuple(
        it
        for it in sorted(found, key=lambda it: it.start)
        if it.matches
        or not (
            it.start < begins
            or (it.text.lower() not in SENSES and (it.text.lower() in LINKING or it.start in verbs))
        )
    )


def merged(question: str, phrases: Sequence[CoveredPhrase]) -> tuple[str, ...]:
    """Return phrases as they stand in the question; neighbours become one: `aged over 75`."""
    texts: list[str] = []
    start = end = 0
    for phrase in phrases:
        if texts and BETWEEN.fullmatch(question[end : phrase.start]):
            texts[-1] = question[start : phrase.start + len(phrase.text)]
        else:
            start = phrase.start
            texts.append(phrase.text)
        end = phrase.start + len(phrase.text)
    return tuple(dict.fromkeys(texts))


def _verbs(question: str) -> Iterator[int]:
    """Yield where verbs stand that only link what is asked for: `who operates the press?`.

    In `how many books did Lena borrow in May?` it is the word after `did` that a small word or the
    end follows, and no small word precedes. In `when did Lena smoke?` the verb is what is asked.
    """
    words = [(at[0].lower(), at.start()) for at in _TOKEN.finditer(question[:_LONGEST])]
    if len(words) > 1 and words[0][0] == "who":
        yield words[1][1]
    did = next((at for at, (word, _) in enumerate(words) if word in ("did", "does", "do")), 0)
    if did < 2 or not {"how", "what", "which"} & {word for word, _ in words[: did - 1]}:
        return
    for at in range(did + 2, len(words)):
        ends = at + 1 == len(words) or words[at + 1][0] in SMALL
        if ends and words[at][0].isalpha() and not {words[at][0], words[at - 1][0]} & SMALL:
            yield words[at][1]
            return


class _Terms:
    """The words of a query, and the phrases that they account for."""

    def __init__(self, query: QueryFacts, keys: Keys | None) -> None:
        self._query = query
        self._identifying = {} if keys is None else keys.identifying
        self._words = frozenset(parts_of(" ".join([*query.names, *query.literals])))

    def accounts_for(self, phrase: CoveredPhrase) -> bool:
        text = phrase.text.lower()
        if _NUMBER.fullmatch(text):
            return self._has_number(text)
        words = phrase.words or tuple(parts_of(text))
        if all(is_among(word, self._words) or is_part(word, self._query.names) for word in words):
            return True
        for sense in (SENSES.get(word) for word in (text, *words)):
            if sense is not None and self._words & MEANT[sense]:
                return True
        for cue, done in _FUNCTIONS:
            if cue.fullmatch(text):
                return done(self._query)
        if len(text) == 1 and any(word.startswith(text) for word in self._words):
            return True
        does = text.endswith("ed")  # `admitted` is what each row of `admissions` is
        return any(
            match.table in self._query.tables
            and (match.kind == "table" or does or match.column in self._query.names)
            for match in phrase.matches
            if match.kind in ("table", "column", "comment")
        ) or any(
            self._query.names & self._identifying.get(match.table or "", frozenset())
            for match in phrase.matches
            if match.kind == "table"
        )

    def _has_number(self, text: str) -> bool:
        value, query = float(text), self._query
        return (
            value in query.numbers
            or query.now
            or (text.isdigit() and len(text) == 4 and int(text) - 1 in query.years)
            or float(query.limit or 0) == value
        )


def _by_unseen_code(
    phrase: CoveredPhrase, query: QueryFacts, labels: CodeLabels, keys: Keys | None
) -> bool:
    """Return whether a code, which no result explained, may stand for a phrase's stored text.

    It may if it is compared with a key of the text's table, or with one that leads there.
    """
    tables = {match.table for match in phrase.matches if match.kind == "value" and match.table}
    if not tables:
        return False
    ends = {
        end
        for key in (() if keys is None else keys.schema.foreign_keys)
        if key.to_table in tables
        for end in ((key.table, key.column), (key.to_table, key.to_column))
    }
    for item in query.filters:
        if all(labels.words_of(value) for value in item.values):
            continue
        if (item.table, item.column) in ends:
            return True
        if item.kind == "identifier" and any(map(_is_code, item.values)):
            stem = re.sub(r"_?(?:id|code|key|no)$", "", item.column)
            if any(is_alike(stem, part) for table in tables for part in (*parts_of(table), table)):
                return True
    return False


def _is_asked(item: Filter, said: frozenset[str], asked: QuestionView, labels: CodeLabels) -> bool:
    if not item.values or is_among(item.column, said):
        return True
    for value in item.values:
        words = [word for word in parts_of(value) if len(word) > 1 or word.isdigit()]
        if not words or any(is_among(word, said) for word in words):
            return True
        if any(is_among(word, said) for word in labels.words_of(value)):
            return True
        if _NUMBER.fullmatch(value) and float(value) in (*asked.wording.numbers, 0.0, 1.0):
            return True
    senses = {SENSES[word] for word in said if word in SENSES}
    return any(set(item.values) & MEANT[sense] for sense in senses)


@lru_cache(maxsize=256)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(parts_of(text[:_LONGEST]))


def _is_code(text: str) -> bool:
    """Return whether a cell or literal looks like a code: a whole number, or short and mixed."""
    return len(text) >= _SHORTEST_CODE and (
        text.isdigit()
        or (len(text) <= _LONGEST_CODE and text.isalnum() and any(map(str.isdigit, text)))
    )
