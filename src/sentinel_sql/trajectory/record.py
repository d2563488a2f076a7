"""The records of one run: `Trajectory`, its `Step`s, and the `Prefix` that a monitor may see.

The stored form is `sentinel-trajectory/1`, one JSON object a line (docs/reference/formats.md).
Records are immutable. Keys that this version doesn't know are kept and written again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from sentinel_sql.coverage import Coverage
from sentinel_sql.plain_record import Count, Record, Share

FORMAT: Final = "sentinel-trajectory/1"

Action = Literal["sql", "final_sql", "final_null", "invalid"]
ObservationKind = Literal["rows", "empty", "error", "refused", "reminder", "none"]
StepNote = Literal["cut-by-length", "cut-by-filter", "cut-by-fault", "telemetry-unread"]
"""Fault of a model's reply: it was cut, or its log-probabilities are impossible."""

OutcomeKind = Literal["answered", "abstained", "cap"]


class AskedQuestion(Record):
    """The question that the agent got. Gold and labels are stored elsewhere, by `id`.

    `database`, `clock`, `dialect` and `time_zone` describe its database: the name, its own
    current time, its SQL by sqlglot's name, and the fixed time zone of its sessions. In runs of
    earlier versions, which knew only SQLite, the last two are None. `coverage`: what the database
    holds of the question's words; the agent doesn't see it. `history`: what was said before in the
    same chat, oldest first.
    """

    id: str
    text: str
    database: str | None = None
    clock: str | None = None
    # Written only if known, so that other runs keep their bytes.
    dialect: Annotated[str | None, Field(exclude_if=lambda it: it is None)] = None
    time_zone: Annotated[str | None, Field(exclude_if=lambda it: it is None)] = None
    coverage: Annotated[Coverage | None, Field(exclude_if=lambda it: it is None)] = None
    history: Annotated[tuple[str, ...], Field(exclude_if=lambda it: not it)] = ()

    @property
    def is_wordless(self) -> bool:
        """True if the text holds no letter of any script, so that it asks nothing."""
        return not any(map(str.isalpha, self.text))


class AgentInfo(Record):
    """The identity of an agent."""

    name: str
    model: str | None = None
    prompt_sha256: str | None = None
    max_steps: int | None = None
    temperature: float | None = None
    commit_on_error: bool = False

    @property
    def fingerprint(self) -> str:
        """One line that is equal only for equal agents."""
        parts = (self.name, self.model, self.prompt_sha256, self.max_steps, self.temperature)
        return " | ".join("-" if part is None else str(part) for part in parts) + (
            " | commit-on-error" if self.commit_on_error else ""
        )


class NearestValue(Record):
    """A text of a query that no row of its column has, and the most similar stored value.

    `column` is `table.column`; `value` and `similarity` are None if they aren't known. `value` is
    None, too, if the column's name says that it identifies people.
    """

    literal: str
    column: str
    value: str | None = None
    similarity: Share | None = None


class MissedSpellings(Record):
    """A text of a query that rows have, and how many other spellings of it the query leaves out."""

    literal: str
    column: str
    count: Count


class Probes(Record):
    """The results of small queries about an executed query, which the agent never sees.

    docs/how-to/add-probes.md explains them. `chain`: number of rows of the first table, then after
    each join. `nulls`: share of NULLs in each result column. None in either means "not known".
    `lookups`: number of texts looked up in their columns, or None if the query can't be read.
    `nearest`: the texts that no row has. `spellings`: the texts with other spellings in the same
    column, which the query's condition leaves out; None if no value index was there.
    """

    chain: tuple[Count | None, ...] = ()
    nulls: tuple[Share | None, ...] = ()
    lookups: Count | None = None
    nearest: tuple[NearestValue, ...] = ()
    spellings: Annotated[
        tuple[MissedSpellings, ...] | None, Field(exclude_if=lambda it: it is None)
    ] = None

    @property
    def fan_out(self) -> float | None:
        """Largest factor by which a join multiplied the rows, or None if unknown."""
        steps = zip(self.chain, self.chain[1:], strict=False)
        factors = [after / before for before, after in steps if before and after is not None]
        return max(factors, default=None)


class Observation(Record):
    """What the agent saw after its action. `rows` and `columns` are counts.

    The agent doesn't see `probes`, which are None without probing.
    """

    kind: ObservationKind
    rows: Count | None = None
    columns: Count | None = None
    truncated: bool = False
    error: str | None = None
    text: str | None = None
    probes: Probes | None = None


class Usage(Record):
    """Tokens of one model call."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None


_LARGEST_ENTROPY = 20.0
"""Nats; ours: an even choice among half a billion tokens, more than any vocabulary holds."""

_ROUNDING = 1e-3
"""Largest log-probability above 0 that counts as rounding of half floats (our choice)."""


class Telemetry(Record):
    """For each generated token: its log-probability, and the entropy (nats) over the top 5."""

    logprobs: tuple[float, ...] = ()
    entropies: tuple[float, ...] = ()

    @property
    def possible(self) -> bool:
        """False for impossible telemetry, which is never used.

        That is a log-probability above 0, an entropy below 0 or above that of any vocabulary, or
        another number of entropies than of log-probabilities where both are there. What floating
        point adds to 0 is allowed.
        """
        if self.logprobs and self.entropies and len(self.logprobs) != len(self.entropies):
            return False
        return (
            max(self.logprobs, default=0.0) <= _ROUNDING
            and min(self.entropies, default=0.0) >= -_ROUNDING
            and max(self.entropies, default=0.0) <= _LARGEST_ENTROPY
        )


class Seconds(Record):
    """Wall time spent waiting for the model and for the database."""

    model: float | None = None
    sql: float | None = None


class Step(Record):
    """One turn of the agent. `index` counts from 1; `best_so_far` is an optional extra query.

    A reply that was cut is no action: its step is `invalid`, and `notes` says what cut it. `hints`
    are lines on stored values that the agent was shown before this turn; no monitor reads them.
    `p_true` is the chance that the agent's own model gave the answer of this step, if it was asked.
    """

    index: Annotated[int, Field(ge=1)]
    thought: str | None = None
    action: Action
    sql: str | None = None
    best_so_far: str | None = None
    observation: Observation
    usage: Usage | None = None
    telemetry: Telemetry | None = None
    seconds: Seconds | None = None
    reply: str | None = None
    # Written only if there are any, so that other steps keep their bytes.
    notes: Annotated[tuple[StepNote, ...], Field(exclude_if=lambda notes: not notes)] = ()
    hints: Annotated[tuple[str, ...], Field(exclude_if=lambda hints: not hints)] = ()
    p_true: Annotated[Share | None, Field(exclude_if=lambda it: it is None)] = None

    @property
    def executed(self) -> bool:
        """True if the database ran this step's SQL, even with an error."""
        return self.observation.kind in ("rows", "empty", "error")


class Outcome(Record):
    """How the run ended on its own. A stop by a guard is recorded by the guard."""

    kind: OutcomeKind
    final_sql: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefix:
    """The question and the first t steps: all that a monitor may see.

    Outcome, gold and later steps can't be reached from here, so that a leak is impossible.
    """

    question: AskedQuestion
    steps: tuple[Step, ...] = ()
    commit_on_error: bool = False

    @property
    def t(self) -> int:
        """Number of steps."""
        return len(self.steps)

    @property
    def commitment(self) -> Literal["answer", "abstention"] | None:
        """What the newest step commits to, or None while the run is open."""
        if not self.steps:
            return None
        return commitment(self.steps[-1], commit_on_error=self.commit_on_error)


def commitment(step: Step, *, commit_on_error: bool) -> Literal["answer", "abstention"] | None:
    """Return what a step commits to.

    A final SQL that fails is no commitment, unless the agent has `commit_on_error` (our rule:
    failed finals would outnumber the quiet failures). A final SQL without a query is never a
    commitment, because its result can't be its own.
    """
    if step.action == "final_null":
        return "abstention"
    if step.action != "final_sql" or not states_query(step.sql):
        return None
    if step.observation.kind in ("rows", "empty") or commit_on_error:
        return "answer"
    return None


_NO_QUERY = re.compile(r"(?:[\s;]|--[^\n]*|/\*.*?(?:\*/|\Z))*+", re.DOTALL)


def states_query(sql: str | None) -> bool:
    """Return whether a text holds more than blanks, comments and semicolons."""
    return sql is not None and _NO_QUERY.fullmatch(sql) is None


def outcome_of(steps: Sequence[Step], *, commit_on_error: bool) -> Outcome:
    """Return how a run of these steps ended on its own: by its last step, or at the cap."""
    committed = commitment(steps[-1], commit_on_error=commit_on_error) if steps else None
    if committed == "answer":
        return Outcome(kind="answered", final_sql=steps[-1].sql)
    return Outcome(kind="abstained" if committed == "abstention" else "cap")


class Trajectory(Record):
    """One whole run on one question."""

    format: Literal["sentinel-trajectory/1"] = FORMAT
    question: AskedQuestion
    agent: AgentInfo
    steps: tuple[Step, ...] = ()
    outcome: Outcome

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if [step.index for step in self.steps] != list(range(1, len(self.steps) + 1)):
            raise ValueError("step indices must count 1, 2, 3, … without a gap")
        if self.outcome.kind == "answered" and not self.outcome.final_sql:
            raise ValueError("an answered run needs outcome.final_sql")
        return self

    @property
    def states_two_answers(self) -> bool:
        """Whether the outcome is another one than that of the last step: a query, or none."""
        if not self.steps:
            return False
        if self.outcome.kind == "answered":
            last = self.steps[-1].sql or ""
            return last.strip() != (self.outcome.final_sql or "").strip()
        committed = commitment(self.steps[-1], commit_on_error=self.agent.commit_on_error)
        wanted = "abstention" if self.outcome.kind == "abstained" else None
        return committed not in (None, wanted)

    def prefix(self, t: int) -> Prefix:
        """Return the first `t` steps, 0 ≤ t ≤ len(steps)."""
        if not 0 <= t <= len(self.steps):
            raise ValueError(f"t = {t} is outside 0 … {len(self.steps)}")
        return Prefix(
            question=self.question,
            steps=self.steps[:t],
            commit_on_error=self.agent.commit_on_error,
        )

    def prefixes(self) -> Iterator[Prefix]:
        """Yield the prefixes t = 0 … T in order."""
        for t in range(len(self.steps) + 1):
            yield self.prefix(t)
