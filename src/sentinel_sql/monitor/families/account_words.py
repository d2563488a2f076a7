"""The words by which questions and queries speak of the same thing: stems, senses, cues."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

_PART = re.compile(r"[^\W_]+")
_LEAST_STEM = 0.6
"""Least share of the longer word that a common beginning needs, as in a coverage record."""

_SHORTEST_STEM = 4
_LONGEST_ENDING = 2
_SHORTEST_PART = 3
SMALL = frozenset(
    _PART.findall(
        """
    a about after an and any at before between by during each every for from her his in into its
    last most my of on once or our over per since that the their this through to twice under until
    up with within without yet
    """
    )
)
"""Words that stand before a noun phrase, or begin what follows a verb."""

LINKING = frozenset(
    _PART.findall(
        """
    administer appear ask become begin belong bring come comes coming contain correspond do end
    exist fall find gave get give go goes going gone got happen happened hold include involve keep
    kept live lived lives living look made make makes occur occurred occurs originate perform
    performed place placed provide reach receive received receives represent require result run see
    seen show stand stands start stay stayed take taken takes took undergo went work works assigned
    associated available called carried conducted connected corresponding documented done entered
    existing given held known listed located mentioned noted observed obtained registered reported
    specified stored ate bought built caught chose drank drew drove flew led lost met paid rose
    sang sent sold spent taught won wore wrote away administered arranged asked began begun
    completed covered drawn ended filed filled finished grew grown handed isolated lasted measured
    passed prescribed requested resulted spoke spoken speaking starts tested underwent used using
    written everyone individual individuals people person persons separate single someone database
    dataset entries entry info information item items system thing things afterwards anybody anyone
    broke broken came carry carries coded counted dropped drops everybody far fell fit fits growing
    head hospitalization hospitalizations id ids im kind kinds nobody nothing num numbers otherwise
    please positive pull put ran reading readings restrict runs sort sorts sample samples speaker
    speakers started status tests treated treatment type types want well exactly altogether overall
    cases case
    """
    )
)
"""Words that link a question's things and name none of them (ours: general English)."""

HIGHEST = re.compile(r"highest|maximum|maximal|largest|greatest|biggest", re.IGNORECASE)
LOWEST = re.compile(r"lowest|minimum|minimal|smallest|fewest", re.IGNORECASE)
MEDIAN = re.compile(r"median", re.IGNORECASE)
NEGATED = re.compile(
    r"never|without|except|excluding|neither|nor|missing|unknown|blank|unrecorded", re.IGNORECASE
)
GROUPED = re.compile(r"per \w+", re.IGNORECASE)
DISTINCT = re.compile(r"different|distinct", re.IGNORECASE)
SUPERLATIVE = re.compile(
    r"longest|shortest|oldest|youngest|newest|latest|earliest|costliest|cheapest|most recent",
    re.IGNORECASE,
)
AGGREGATE = re.compile(
    rf"\b(?:{HIGHEST.pattern}|{LOWEST.pattern}|{MEDIAN.pattern}|{SUPERLATIVE.pattern}"
    rf"|{DISTINCT.pattern}|{GROUPED.pattern}|average|mean(?= \w+ (?:of|in|for))|never)\b",
    re.IGNORECASE,
)
"""What a query accounts for by a function, an order or a negation, and a coverage record omits."""

BETWEEN = re.compile(r"[ -]*|\s+(?:over|under|above|below|after|before|since|until|than)\s+")
"""What may stand between two phrases that are shown as one."""

ORDERED = re.compile(
    r"best|worst|(?:un)?popular|common|commonly|frequent|frequently|expensive|cheap"
    r"|\w{3,}est|peak|final|initial|initially|consecutive"
)
COUNTED = re.compile(r"amount|quantity|tally|times|frequency|volume")
DIVIDED = re.compile(r"average|mean|typical|typically|percentage|percent|proportion|ratio|rate")

MEANT: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "female": frozenset({"f", "female", "gender", "sex"}),
        "male": frozenset({"m", "male", "gender", "sex"}),
        "died": frozenset({"dod", "death", "dead", "deceased", "die", "died", "expire"}),
        "old": frozenset({"age", "birth", "dob", "anchor"}),
        "cost": frozenset({"price", "amount", "fee", "charge", "cost"}),
        "sex": frozenset({"gender", "sex"}),
        "drug": frozenset({"drug", "medication", "medicine", "prescription"}),
        "order": frozenset({"prescription", "order", "request"}),
        "intravenous": frozenset({"iv", "intravenous"}),
        "oral": frozenset({"po", "oral", "mouth"}),
    }
)
"""By sense, the words of a query that have it (ours: general and clinical English)."""

SENSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["woman", "women", "female", "girl", "she"], "female"),
        **dict.fromkeys(["man", "men", "male", "boy", "he"], "male"),
        **dict.fromkeys(["die", "died", "dead", "deceased", "alive", "death", "survive"], "died"),
        **dict.fromkeys(["old", "age", "aged", "young", "born"], "old"),
        "sex": "sex",
        **dict.fromkeys(["medication", "medicine", "drug"], "drug"),
        **dict.fromkeys(["order", "ordered", "prescribed", "prescription"], "order"),
        **dict.fromkeys(["intravenous", "intravenously", "iv"], "intravenous"),
        **dict.fromkeys(["oral", "orally", "mouth", "po"], "oral"),
        **dict.fromkeys(["cost", "price", "pay", "paid", "expense", "charge"], "cost"),
    }
)


def parts_of(text: str) -> Iterator[str]:
    """Yield the words of a text or name, in lower case and without plural endings."""
    for part in _PART.findall(text.lower()):
        yield _singular(part)


def is_part(word: str, names: Iterable[str]) -> bool:
    """Return whether names begin or end with a word, or its stem: `admitted` in `admittime`."""
    ending = next((it for it in ("ing", "ed", "s") if word.endswith(it)), "")
    stem = word.removesuffix(ending)
    if len(stem) < _SHORTEST_STEM:
        stem = word
    return len(stem) >= _SHORTEST_PART and any(
        name.startswith(stem) or _singular(name).endswith(stem) for name in names
    )


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def is_among(word: str, words: Iterable[str]) -> bool:
    """Return whether a word, or one of its stem, is among others."""
    return word in words or (
        len(word) >= _SHORTEST_STEM and any(is_alike(word, other) for other in words)
    )


def is_alike(one: str, other: str) -> bool:
    """Return whether two words have one stem: a long common beginning, and ends of inflection."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST_STEM:
        return False
    common = len(short)
    for at, (a, b) in enumerate(zip(short, long, strict=False)):
        if a != b:
            common = at
            break
    enough = max(_SHORTEST_STEM, _LEAST_STEM * len(long))
    return common >= enough and len(short) - common <= _LONGEST_ENDING
