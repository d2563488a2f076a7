"""The label of a recorded run, and the header of a labels file.

A labels file is JSON Lines: a header (`sentinel-labels/1`: judge, equivalence mode, database,
clock, schema) and then one `Label` a line. The header holds the schema, so that fitting needs no
database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from pydantic import ConfigDict

from sentinel_sql.arguments import checked_fields
from sentinel_sql.plain_record import Record
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import OutcomeKind

FORMAT = "sentinel-labels/1"

JudgeName = Literal["strict", "rules", "llm", "ratings"]

RecordJudge = Literal["gold-answer", "ratings"]
"""What decided one label, where that isn't a comparison with the result of gold SQL."""

NO_MODE = "none"
"""Mode of labels whose answers nobody compared: people rated them."""

UNJUDGED = "unjudged"
"""Reason of an answer without a verdict; a verdict is never guessed."""

TIMED_OUT = "timed-out"
"""Reason of an answer whose query took too long; slow isn't wrong, so it is unjudged."""

OUT_OF_MEMORY = "out-of-memory"
"""The reason of an answer whose query needed more memory than it may take: unjudged, too."""

TIED = "tied"
"""Reason of an answer that is right because tied rows of the gold may come in its order too."""

_NO_JUDGE_ASKED = frozenset({"answer-error", "answer-refused", "rows-differ"})


class Label(Record):
    """One run's label.

    `correct` is the target: True only for an answer to an answerable question that the judge
    accepts, False for every other answer, None where the run gave none (abstained, cap).
    `strict` is the official execution match. It is None if no answer was compared with a gold
    one, also for an answer to an unanswerable question, whose `correct` is False. `question_id` is
    the run's, so a repeated trial keeps its `id#k`. `reason` is a code of
    docs/reference/labels.md. `judge` says what decided if
    that was a written gold answer or people's ratings. For verdicts of a language model, `model`
    and `prompt_sha256` hold the model and the prompt.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    question_id: str
    answerable: bool
    outcome: OutcomeKind
    strict: bool | None = None
    correct: bool | None = None
    reason: str
    judge: RecordJudge | None = None
    model: str | None = None
    prompt_sha256: str | None = None

    @property
    def without_verdict(self) -> bool:
        """True for an answer to an answerable question that wasn't judged."""
        return self.answerable and self.outcome == "answered" and self.correct is None

    @property
    def judged(self) -> bool:
        """True if the judge itself decided, after the strict comparison rejected the answer."""
        return (
            self.strict is False and self.correct is not None and self.reason not in _NO_JUDGE_ASKED
        )


@checked_fields
@dataclass(frozen=True, kw_only=True)
class LabelsHeader:
    """How the labels of one file were made.

    `judge` decided `correct`, and the equivalence `mode` decided `strict`. `schema`, `clock` (its
    own current time), `database` (its name), `dialect` (its SQL by sqlglot's name, None for
    SQLite's) and `time_zone` (of its sessions, None if it has none) describe the runs' database.
    `model` and `prompt_sha256` are those of the `llm` judge.
    """

    judge: JudgeName
    mode: str
    database: str
    clock: str
    schema: Schema
    model: str | None = None
    prompt_sha256: str | None = None
    dialect: str | None = None
    time_zone: str | None = None


class Labels(NamedTuple):
    """The labels of one file: the header, and each label by its run's question id."""

    header: LabelsHeader
    by_run: Mapping[str, Label]
