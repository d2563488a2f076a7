"""Question templates: wordings with slots, the sources of their values, and the gold SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tier: TypeAlias = Literal["single", "join", "harder"]
"""The difficulty: one table; two tables; or more tables, windows, top-k, ratios or trends."""

Kind: TypeAlias = Literal[
    "attribute-not-stored",
    "table-not-stored",
    "other-department-or-hospital",
    "future",
    "clinical-advice",
    "outside-the-data",
    "ambiguous-referent",
]
"""Why a question can't be answered; `docs/explanation/benchmark-hospital.md` defines each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerableTemplate:
    """A question with one right answer, in several wordings.

    `slots` names the sources in `slots.py`. They fill `{slot}` in a wording with the spoken value,
    and `:slot` in the SQL with the stored value.
    """

    name: str
    tier: Tier
    sql: str
    slots: tuple[str, ...]
    wordings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class UnanswerableTemplate:
    """A question that no SQL over the hospital answers, worded like an answerable one.

    `needs` lists what an answer would require, so that a test can check that it is missing: a word
    that occurs in no table name, column name or stored text; a `SELECT` over the slots without a
    result row; or `referent: …` if the question doesn't say which person or thing it means.
    """

    name: str
    kind: Kind
    why: str
    needs: tuple[str, ...]
    slots: tuple[str, ...]
    wordings: tuple[str, ...]


def answerable(name: str, tier: Tier, slots: str, sql: str, wordings: str) -> AnswerableTemplate:
    """Make an answerable template; slots are separated by blanks, wordings by lines."""
    return AnswerableTemplate(
        name=name,
        tier=tier,
        sql=" ".join(sql.split("\n")).strip(),
        slots=tuple(slots.split()),
        wordings=_lines(wordings),
    )


def unanswerable(
    name: str, kind: Kind, slots: str, why: str, needs: str, wordings: str
) -> UnanswerableTemplate:
    """Make an unanswerable template; needs are separated by `;`, slots by blanks."""
    return UnanswerableTemplate(
        name=name,
        kind=kind,
        why=why,
        needs=tuple(need.strip() for need in needs.split(";")),
        slots=tuple(slots.split()),
        wordings=_lines(wordings),
    )


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())
