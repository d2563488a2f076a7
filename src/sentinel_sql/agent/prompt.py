"""The words an agent is led with: rules, schema, the database's clock, worked examples.

The system prompt is the same, byte for byte, for every question over one database, so that an
endpoint that caches prompts reads it once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sentinel_sql.agent.examples import worked_examples
from sentinel_sql.schema import Schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """One way to put the rules; `examples` says whether worked examples stand below them."""

    rules: str
    examples: bool


_TURNS = """\
A turn is one of these three, and nothing else:

THOUGHT: <why, in 12 words at most>
SQL: <a query to look at the data; you are shown its result>

THOUGHT: <why>
FINAL_SQL: <the query whose result is the answer; this ends the task>

THOUGHT: <what is missing>
FINAL: null
"""

PROMPTS: Mapping[str, Wording] = {
    "guided": Wording(
        rules=f"""\
You answer questions about a {{dialect}} database. You write SQL; it is run for you, read only.

{_TURNS}
How to work:
- One action a turn, then stop. Never write a RESULT yourself.
- Values are matched exactly. Where you don't know how a name is stored, look first:
  SQL: SELECT DISTINCT column FROM table WHERE column LIKE '%word%' LIMIT 5
- After an error or an empty result change the query: check the column, the join, the spelling.
- FINAL_SQL returns just what is asked for: a count, a name, a time, yes as 1 and no as 0. No more
  columns, no more tables than needed.
- Use FINAL: null only where no table holds what is asked for. An empty result isn't that.
- When you have a query that may do, you can add the line BEST_SO_FAR: <that query>.""",  # noqa: S608 (words for a model; nothing runs them)
        examples=True,
    ),
    "plain": Wording(
        rules=f"""\
Your task: find the SQL ({{dialect}}) that answers a user's question. Queries are executed for you.

{_TURNS}
FINAL: null says that the tables don't hold what is asked. Give one action a turn.""",
        examples=False,
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A system prompt, ready to use. `sha256` tells it from any other."""

    name: str
    system: str

    @property
    def sha256(self) -> str:
        """Hash of the system prompt."""
        return hashlib.sha256(self.system.encode()).hexdigest()

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
        """Put a prompt together.

        Args:
            schema: tables and foreign keys to show.
            clock: the database's own current time, `YYYY-MM-DD HH:MM:SS`.
            name: which wording of `PROMPTS`.
            notes: what a newcomer to this database should know, in the user's own words.
            examples: worked examples, each a text in the form of a run; None makes some from the
                schema where the wording asks for them.
            dialect: the database's SQL.

        Raises:
            KeyError: no wording of that name.
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
        if examples:
            parts.append("Examples:\n\n" + "\n\n".join(example.strip() for example in examples))
        return cls(name=name, system="\n\n".join(parts))


def describe(schema: Schema) -> str:
    """Return the schema tersely: `table(column, …)` a line, then `table.column -> table.column`."""
    lines = [f"{table}({', '.join(columns)})" for table, columns in schema.tables.items()]
    if schema.foreign_keys:
        lines.append("Joins:")
        lines += [
            f"{key.table}.{key.column} -> {key.to_table}.{key.to_column}"
            for key in schema.foreign_keys
        ]
    return "\n".join(lines)
