"""What a question asks for, and the slots that its answer must fill, read from its words.

The cues are general English and don't depend on a schema. If several kinds fit a question
(`when was the last time`), the rules in `_kind` choose one. A question without any cue asks for a
name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["time", "count", "ratio", "amount", "truth", "identifier", "name"]

WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:\.\d+)?")
_TIME = re.compile(
    r"\bwhen\b|\b(?:what|which|at what|the) (?:date|day|time|month|year|hour)s?\b"
    r"|\b(?:date|time|day)s? (?:and (?:date|time) )?(?:of|that|at which|on which)\b"
    r"|\b(?:first|last|latest|earliest|most recent) time\b|\w+ (?:time|date)s?\b(?! \d)"
)
_NOT_A_TIME = re.compile(r"\b(?:how many|number of|count of|of|\d+|several|these|those) times\b")
_COUNT = re.compile(r"\bhow many\b|\bnumber of\b|\bcount(?:ing|s)?\b|\bhow often\b|\btally\b")
_RATIO = re.compile(r"\bpercent(?:age)?\b|\bshare of\b|\bproportion\b|\bratio\b|\bfraction\b")
_AVERAGE = re.compile(r"\baverage\b|\bmean\b|\bavg\b|\btypical(?:ly)?\b|\bon average\b")
_LEAST = re.compile(
    r"\bminimum\b|\blowest\b|\bleast\b|\bsmallest\b|\bshortest\b|\bmin\b|\byoungest\b|\bcheapest\b"
)
_MOST = re.compile(
    r"\bmaximum\b|\bhighest\b|\blargest\b|\blongest\b|\bpeak\b|\bmax\b|\boldest\b|\bgreatest\b"
    r"|\bits top\b|\bmost expensive\b"
)
_TOTAL = re.compile(r"\btotal\b|\bsum\b|\bin all\b|\baltogether\b|\boverall\b")
_DIFFERENCE = re.compile(r"\bdifference\b|\bdiffer\b|\bchange\b|\bminus\b|\bcompared to\b")
_AMOUNT = re.compile(
    r"\bhow (?:much|old|long|far|high|low|large|big)\b|\bage\b|\bdose\b|\bcosts?\b|\bvalue\b"
    r"|\blength of\b|\bduration\b|\bprice\b|\bweight\b|\bheight\b|\bamount\b"
)
_FIRST = re.compile(r"\bfirst\b|\bearliest\b|\binitial(?:ly)?\b|\boldest order\b")
_LAST = re.compile(
    r"\blast\b(?! (?:year|month|week|day|quarter)\b)|\blatest\b|\bmost recent(?:ly)?\b|\bnewest\b"
)
_RANKED = re.compile(
    r"\btop\b|\bmost (?:common|frequent|often|prescribed)\w*\b|\bmost commonly\b|\branked?\b"
)
_LIST = re.compile(
    r"\blist\b|\bwhat (?:are|were)\b|\bwhich \w+s\b|\bnames of\b|\ball (?:the )?\w+s\b|\beach\b"
)
_DISTINCT = re.compile(r"\bdistinct\b|\bdifferent\b|\bunique\b")
_GROUPED = re.compile(
    r"\bper\b|\beach\b|\bevery\b|\bmonthly\b|\bdaily\b|\byearly\b|\bweekly\b|\bby \w+\b"
)
_IDENTIFIER = re.compile(r"\bids?\b|\bidentifiers?\b|\bcodes?\b")
_OPEN_START = re.compile(
    r"\bsince\b|\bafter\b|\bonwards?\b|\bstarting (?:in|from)\b|\blater than\b"
)
_OPEN_END = re.compile(r"\bbefore\b|\buntil\b|\bearlier than\b|\bprior to\b|\bup to\b")
_COMPARED = re.compile(
    r"\b(?:more|less|greater|fewer|higher|lower|older|younger) than\b|\bover \d|\babove\b|\bbelow\b"
    r"|\bat least\b|\bat most\b|\bexceed\w*\b|\bunder \d|\bor (?:above|more|older)\b"
)
_RELATIVE = re.compile(
    r"\b(?:this|last|previous|past|current) (?:year|month|week)\b|\btoday\b|\byesterday\b"
    r"|\b\w+ (?:year|month|week|day)s? ago\b|\bcurrent(?:ly)?\b|\bright now\b|\bnow\b|\bstill\b"
)
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september",
           "october", "november", "december")  # fmt: skip
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b,? (\d{{4}})\b")
_MONTH_YEAR = re.compile(r"\b(\d{1,2})/(\d{4})\b")
_DATE = re.compile(r"\b(?:19|20|21|22)\d\d(?:-\d{2}(?:-\d{2})?)?\b")
_AGO = re.compile(r"\b(\w+) (year|month|week|day)s? ago\b")
_AUXILIARY = frozenset(
    ["has", "have", "had", "is", "are", "was", "were", "did", "does", "do"]
)  # fmt: skip
_ASKING = frozenset(["what", "when", "which", "how", "who", "where", "whose", "why"])
_NUMBER_WORDS: Mapping[str, float] = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "once": 1, "twice": 2,
}  # fmt: skip
_STOP = frozenset(
    WORD.findall(
        """
        a about above after all altogether an and any are as at average be been before
        below between by can cases compute could count counts current currently date
        dates day days describe did different distinct do does during each ever every
        find first following for from get give given had has have he her him his how i
        if in into is it its last latest least less like list long made make many
        maximum me mean minimum month months more most much my name named names needed
        newest no not number of off on one only or other our out over own patient's
        please previous provide recent report right same say she should show since so
        some state tell than that the their them then there these they this those
        through throughout time times to today top total two under undergo undergone
        until up us use used value was we week were what when where which who whose why
        with within without would year years you
        """
    )
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """A question's intent and slots.

    Attributes:
        kind: the kind of the answer.
        truth: the answer is yes or no.
        listed: the question asks for several things.
        grouped: the question asks for a value for each of several things.
        average, least, most, total, difference, distinct: the statistic that the words name.
        firsts, lasts: how often the words name the first, or last, of a sequence.
        ranked: the question asks for a ranking.
        top: the length of the ranking or list, or None.
        compared: the words name a bound on a value.
        since, before: the span of time has no end, or no start.
        dated: the words name a span of time by its date.
        relative: the words name a span of time relative to now.
        years: the years that the words name, including those relative to the clock.
        months: the months that the words name, as `YYYY-MM`.
        numbers: all other numbers, including those of `ids`.
        ids: numbers of at least five digits, each with the word before it.
        content: the content words, in order, without repeats.
        counted: the noun after `how many`, `number of` or `count`, or an empty text.
    """

    kind: Kind
    truth: bool
    listed: bool
    grouped: bool
    average: bool
    least: bool
    most: bool
    total: bool
    difference: bool
    distinct: bool
    firsts: int
    lasts: int
    ranked: bool
    top: int | None
    compared: bool
    since: bool
    before: bool
    dated: bool
    relative: bool
    years: frozenset[int]
    months: frozenset[str]
    numbers: tuple[float, ...]
    ids: tuple[tuple[str, float], ...]
    content: tuple[str, ...]
    counted: str


def read_wording(text: str, clock: str | None) -> Wording:
    """Return the wording of a question; `clock` is the database's current time, or None."""
    folded = " ".join(text.lower().split())[:4000]
    words = WORD.findall(folded)
    months = {f"{year}-{int(month):02}" for month, year in _MONTH_YEAR.findall(folded)}
    months |= {f"{year}-{_MONTHS.index(name) + 1:02}" for name, year in _MONTH.findall(folded)}
    dates = _DATE.findall(folded)
    years = {int(date[:4]) for date in dates}
    numbers, ids = _numbers(folded, words)
    ranked = _RANKED.search(folded) is not None
    relative = _RELATIVE.search(folded) is not None
    truth = _asks_truth(folded)
    return Wording(
        kind=_kind(folded, truth=truth),
        truth=truth,
        listed=_LIST.search(folded) is not None,
        grouped=_GROUPED.search(folded) is not None,
        average=_AVERAGE.search(folded) is not None,
        least=_LEAST.search(folded) is not None,
        most=_MOST.search(folded) is not None,
        total=_TOTAL.search(folded) is not None,
        difference=_DIFFERENCE.search(folded) is not None,
        distinct=_DISTINCT.search(folded) is not None,
        firsts=len(_FIRST.findall(folded)),
        lasts=len(_LAST.findall(folded)),
        ranked=ranked,
        top=_top(folded) if ranked else None,
        compared=_COMPARED.search(folded) is not None,
        since=_OPEN_START.search(folded) is not None,
        before=_OPEN_END.search(folded) is not None,
        dated=bool(dates or months),
        relative=relative,
        years=frozenset(years | (_relative_years(folded, clock) if relative else set())),
        months=frozenset(months),
        numbers=numbers,
        ids=ids,
        content=tuple(
            dict.fromkeys(
                word
                for word in (word.removesuffix("'s") for word in words)
                if len(word) > 2 and word not in _STOP and not word[0].isdigit()
            )
        ),
        counted=_counted_noun(words),
    )


def _kind(folded: str, *, truth: bool) -> Kind:
    if truth:
        return "truth"
    statistic = any(cue.search(folded) for cue in (_AVERAGE, _LEAST, _MOST, _DIFFERENCE))
    if _COUNT.search(folded):
        return "amount" if _AVERAGE.search(folded) else "count"
    if re.search(r"\bhow long\b|\blength of\b|\bduration\b|\bhow old\b|\bhow much\b", folded):
        return "amount"
    if _TIME.search(_NOT_A_TIME.sub(" ", folded)):
        return "time"
    if _RATIO.search(folded):
        return "ratio"
    if "how many" in folded or "times" in folded:
        return "count"
    if statistic or _AMOUNT.search(folded):
        return "amount"
    return "identifier" if _IDENTIFIER.search(folded) else "name"


def _asks_truth(folded: str) -> bool:
    for clause in re.split(r"[,:;?.!]\s", folded):
        words = clause.split()
        if len(words) > 1 and words[0] in _AUXILIARY and words[1] not in {"you", "i", "we"}:
            return not any(word in _ASKING for word in WORD.findall(folded))
    return False


def _numbers(
    folded: str, words: list[str]
) -> tuple[tuple[float, ...], tuple[tuple[str, float], ...]]:
    rest = _AGO.sub(" ", _DATE.sub(" ", _MONTH_YEAR.sub(" ", folded)))
    numbers = {float(word) for word in WORD.findall(rest) if word[0].isdigit()}
    numbers |= {_NUMBER_WORDS[word] for word in WORD.findall(rest) if word in _NUMBER_WORDS}
    ids = {
        (before.removesuffix("'s"), float(word))
        for before, word in zip(["", *words], words, strict=False)
        if word.isdigit() and len(word) > 4
    }
    return tuple(sorted(numbers)), tuple(sorted(ids))


def _top(folded: str) -> int | None:
    found = re.search(r"\btop (\w+)|\b(\w+) (?:most|top|least|highest|lowest)\b", folded)
    word = (found[1] or found[2]) if found else ""
    value = float(word) if word.isdigit() else _NUMBER_WORDS.get(word)
    return None if value is None or value > 1000 else int(value)


def _relative_years(folded: str, clock: str | None) -> set[int]:
    if clock is None or not clock[:4].isdigit():
        return set()
    year, month = int(clock[:4]), int(clock[5:7]) if clock[5:7].isdigit() else 12
    years = set()
    if re.search(r"\bthis (?:year|month|week)\b|\btoday\b|\bcurrent|\bnow\b|\bstill\b", folded):
        years.add(year)
    if re.search(r"\b(?:last|previous|past) year\b", folded):
        years.add(year - 1)
    for count, unit in _AGO.findall(folded):
        value = float(count) if count.isdigit() else _NUMBER_WORDS.get(count, 1.0)
        back = {"year": 12.0 * value, "month": value}.get(unit, 0.0)
        if back < 12_000:
            years.add(year + int((month - 1 - back) // 12))
    return years


def _counted_noun(words: list[str]) -> str:
    for at, word in enumerate(words):
        asks_count = word == "count" or (word in {"many", "number"} and at + 1 < len(words))
        if not asks_count:
            continue
        for after in words[at + 1 : at + 6]:
            if after not in _STOP or after == "times":
                return after
    return ""
