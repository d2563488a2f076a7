"""The form of a question template: wordings with slots, what fills them, and the gold SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tier: TypeAlias = Literal["single", "join", "harder"]
"""One table; two tables; more tables, windows, top-k, ratios or changes over time."""

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

    `slots` names the sources of `slots.py` that fill `{slot}` in a wording (as people say the
    value) and `:slot` in the SQL (as it is stored).
    """

    name: str
    tier: Tier
    sql: str
    slots: tuple[str, ...]
    wordings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class UnanswerableTemplate:
    """A question that no SQL over the hospital answers, in the frame of one that can be.

    `needs` is what an answer would take, in a form that a test can find missing: a word (in no
    table, column or stored text), a `SELECT` over the slots that yields no row, or
    `referent: …` where the question doesn't say whom or what it means.
    """

    name: str
    kind: Kind
    why: str
    needs: tuple[str, ...]
    slots: tuple[str, ...]
    wordings: tuple[str, ...]


def answerable(name: str, tier: Tier, slots: str, sql: str, wordings: str) -> AnswerableTemplate:
    """Write an answerable template in short: slots by blanks, wordings by lines."""
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
    """Write an unanswerable template in short: needs by `;`, slots by blanks, wordings by lines."""
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
