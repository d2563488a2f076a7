"""The agent's prompt: rules, schema, the database's clock, worked examples.

The text before the question is the same, byte for byte, for every question over one database, so
that an endpoint that caches prompts reads it once. The examples are turns of the chat: if they are
shown as text, small models write results themselves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sentinel_sql.agent.examples import worked_examples
from sentinel_sql.agent.model import Message
from sentinel_sql.arguments import checked_fields
from sentinel_sql.schema import Schema, written


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """One wording of the rules.

    `examples` says whether worked examples follow, `hints` whether stored values that the question
    may mean are listed below it.
    """

    rules: str
    examples: bool
    hints: bool = False


_TURNS = """\
A turn is one of these three, and nothing else:

THOUGHT: <why, in 12 words at most>
SQL: <a query to look at the data; you are shown its result>

THOUGHT: <why>
FINAL_SQL: <the query whose result is the answer; this ends the task>

THOUGHT: <what is missing>
FINAL: null
"""

HINTS_FOLLOW = "Stored values that may be meant:"
"""The line between a question and its hints."""

_GUIDED = f"""\
You answer questions about a {{dialect}} database. You write SQL; it is run for you, read only.

{_TURNS}
How to work:
- One action a turn, then stop. Never write a RESULT yourself.
- Values are matched exactly. Where you don't know how a name is stored, look first:
  SQL: SELECT DISTINCT column FROM table WHERE column LIKE '%word%' LIMIT 5
- After an error or an empty result correct the query: find the table that has the column, check
  the join and the spelling. Neither is a reason to give up.
- FINAL_SQL returns just what is asked for: a count, a name, a time, yes as 1 and no as 0. No more
  columns, no more tables than needed.
- Use FINAL: null only where no table and no column above is about what is asked for.
- When you have a query that may do, you can add the line BEST_SO_FAR: <that query>."""  # noqa: S608 (words for a model; nothing runs them)

PROMPTS: Mapping[str, Wording] = {
    "guided": Wording(rules=_GUIDED, examples=True),
    "grounded": Wording(
        rules=f"""\
{_GUIDED}
- Below a question, stored values can be listed. They are written as they are stored: where one is
  meant, use it in the query, or its code, without looking it up. Leave out those not meant.""",
        examples=True,
        hints=True,
    ),
    "plain": Wording(
        rules=f"""\
Your task: find the SQL ({{dialect}}) that answers a user's question. Queries are executed for you.

{_TURNS}
FINAL: null says that the tables don't hold what is asked. Give one action a turn.""",
        examples=False,
    ),
}


@checked_fields
@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """The prompt before every question: a system prompt, and worked examples as turns of a chat.

    `sha256` identifies it. `hints` says whether stored values are listed below a question.
    """

    name: str
    system: str
    examples: tuple[Message, ...] = ()
    hints: bool = False

    @property
    def messages(self) -> list[Message]:
        """The messages before the question, the same for all questions."""
        return [{"role": "system", "content": self.system}, *self.examples]

    @property
    def sha256(self) -> str:
        """Hash of all messages before a question."""
        return hashlib.sha256(json.dumps(self.messages).encode()).hexdigest()

    @classmethod
    def build(
        cls,
        schema: Schema,
        clock: str,
        *,
        name: str = "guided",
        notes: str | None = None,
        examples: Sequence[str] | None = None,
        dialect: str = "SQLite",
    ) -> Prompt:
        """Make a prompt.

        Args:
            schema: tables and foreign keys to show.
            clock: the database's own current time, `YYYY-MM-DD HH:MM:SS`.
            name: name of a wording in `PROMPTS`.
            notes: the user's notes on this database.
            examples: worked examples, each a text in the form of a run (`as_turns`). None: they
                are made from the schema, if the wording has examples.
            dialect: the database's SQL.

        Raises:
            KeyError: there is no wording of that name.
        """
        wording = PROMPTS[name]
        parts = [
            wording.rules.format(dialect=dialect),
            "Tables:\n" + describe(schema),
            f"The current time of the database is {clock}. Words like today, this year or last "
            "month count from there.",
        ]
        if notes and notes.strip():
            parts.append("Notes:\n" + notes.strip())
        if examples is None:
            examples = worked_examples(schema, clock) if wording.examples else ()
        turns = tuple(turn for example in examples for turn in as_turns(example))
        return cls(name=name, system="\n\n".join(parts), examples=turns, hints=wording.hints)


def describe(schema: Schema) -> str:
    """Return the schema as text: lines `table(column, …)`, then `table.column -> table.column`.

    Names are quoted if necessary.
    """
    lines = [
        f"{written(table)}({', '.join(map(written, columns))})"
        for table, columns in schema.tables.items()
    ]
    if schema.foreign_keys:
        lines.append("Joins:")
        lines += [
            f"{written(key.table)}.{written(key.column)} -> "
            f"{written(key.to_table)}.{written(key.to_column)}"
            for key in schema.foreign_keys
        ]
    return "\n".join(lines)


def as_turns(example: str) -> list[Message]:
    """Split a worked example into the turns of a chat.

    A line that starts with `QUESTION:` or `RESULT:` begins a turn of the user. A line that starts
    with `THOUGHT:`, `SQL:`, `FINAL…` or `BEST_SO_FAR:` begins one of the assistant.
    """
    turns: list[Message] = []
    for line in example.strip().splitlines():
        role: Literal["user", "assistant"] | None = None
        if line.startswith(("QUESTION:", "RESULT:")):
            role = "user"
        elif line.startswith(("THOUGHT:", "SQL:", "FINAL", "BEST_SO_FAR:")):
            role = "assistant"
        if turns and role in (None, turns[-1]["role"]):
            turns[-1]["content"] += f"\n{line}"
        else:
            turns.append({"role": role or "user", "content": line})
    return turns
