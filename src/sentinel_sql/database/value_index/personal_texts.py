"""Tells from a column's texts whether they are people's: names, addresses, phones or e-mails."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_sql.database.value_index.words import words_of

LARGEST_SHARE = 0.2
"""Share of a column's texts that look like people's from which it is left out (our choice)."""

_CONTACT = re.compile(
    r"[^@\s]+@[^@\s]+\.[^@\s]+"  # an e-mail
    r"|https?://\S+"
    r"|\+?\(?\d[\d ().-]{6,}\d"  # a phone number
    r"|\d+\w? .*\b(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way)\b.*"
    r"|.*(?:straße|strasse|gasse|weg|allee) \d+\w?.*"
    r"|(?:dr|prof|mr|mrs|ms|miss|sir|herr|frau|mme)\.? [^\W\d].*",
    re.IGNORECASE,
)
_FIRST_NAME_LINES = """
aaron adam ahmed alan albert alejandro alexander ali alice amanda amy ana andrea andrew angela
anna anne anthony antonio arthur ashley barbara benjamin betty beverly bob brandon brenda brian
bruce carl carlos carmen carol carolyn catherine charles cheryl christian christina christine
christopher claire cynthia daniel david deborah debra dennis diana diane donald donna dorothy
douglas edward elena eliza elizabeth emily emma eric ethan eugene evelyn fatima felix fernando
frances francisco frank gabriel gary george gerald gloria gregory hannah hans harold harry
heather helen henry ian ingrid isabella ivan jack jacob jacqueline james jane janet janice jason
javier jean jeffrey jennifer jeremy jerry jessica jesus joan joe john jonathan jorge jose joseph
joshua joyce juan judith judy julia julie justin karen katherine kathleen keith kelly kenneth
kevin kimberly klaus kyle larry laura lauren lawrence linda lisa louis luis madison manuel
margaret maria marie marilyn mark martha martin mary matthew megan mei melissa michael michelle
miguel mohamed mohammed muhammad nancy natalie nathan nicholas nicole noah olga olivia omar
pamela patricia patrick paul pedro peter philip pierre rachel ralph raymond rebecca richard
robert roger ronald rosa roy russell ruth ryan samantha samuel sandra sara sarah scott sean
sharon shirley sofia sophia stephanie stephen steven susan svetlana teresa terry theresa thomas
timothy tyler victoria vincent virginia walter wayne wei wilhelm william yuki zachary
"""
_FIRST_NAMES = frozenset(_FIRST_NAME_LINES.split())
"""Frequent first names of several languages, enough to notice a column of names (our choice)."""


def look_personal(texts: Sequence[str]) -> bool:
    """Return whether a share of texts of at least `LARGEST_SHARE` looks like people's."""
    found = sum(bool(_CONTACT.fullmatch(text.strip()) or _has_name(text)) for text in texts)
    return bool(texts) and found / len(texts) >= LARGEST_SHARE


def _has_name(text: str) -> bool:
    words = words_of(text)
    return 2 <= len(words) <= 5 and not _FIRST_NAMES.isdisjoint(words)
