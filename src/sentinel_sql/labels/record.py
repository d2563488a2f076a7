"""What is known of one recorded run beside the run itself, and the file that holds it.

A labels file is JSON Lines: a header (`sentinel-labels/1`: judge, equivalence mode, database,
clock, schema) and then one `Label` a line. The schema rides in the header so that fitting
needs no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import OutcomeKind

FORMAT = "sentinel-labels/1"

JudgeName = Literal["strict", "rules", "llm"]

UNJUDGED = "unjudged"
"""The reason of an answer that no verdict could be had for: kept apart, never guessed."""

TIMED_OUT = "timed-out"
"""The reason of an answer whose query ran into the deadline: slow isn't wrong, so unjudged."""

OUT_OF_MEMORY = "out-of-memory"
"""The reason of an answer whose query needed more memory than it may take: unjudged, too."""

TIED = "tied"
"""The reason of an answer that is right because the gold's tied rows may come like that too."""

_NO_JUDGE_ASKED = frozenset({"answer-error", "answer-refused", "rows-differ"})


class Label(BaseModel):
    """One run's label.

    `correct` is the target: True only for an answer to an answerable question that the judge
    accepts, False for every other answer, None where the run gave none (abstained, cap).
    `strict` is the official execution match, None where no answer was compared with a gold one:
    also for an answer to an unanswerable question, whose `correct` is False. `question_id` is
    the run's, so a repeated trial keeps its `id#k`. `reason` is a code of
    docs/reference/labels.md. Where a language model was asked, `model` and
    `prompt_sha256` tell which, and by what prompt.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, hide_input_in_errors=True)

    question_id: str
    answerable: bool
    outcome: OutcomeKind
    strict: bool | None = None
    correct: bool | None = None
    reason: str
    model: str | None = None
    prompt_sha256: str | None = None

    @property
    def without_verdict(self) -> bool:
        """True for an answer to an answerable question of which nobody knows if it is correct."""
        return self.answerable and self.outcome == "answered" and self.correct is None

    @property
    def judged(self) -> bool:
        """True where the judge's own word decided, of an answer that was refused strictly."""
        return (
            self.strict is False and self.correct is not None and self.reason not in _NO_JUDGE_ASKED
        )


@dataclass(frozen=True, kw_only=True)
class LabelsHeader:
    """Under what the labels of one file were made.

    `judge` made `correct`, the equivalence `mode` made `strict`; `schema`, `clock` (the
    database's own current time) and `database` (its name) are what the runs were over. `model`
    and `prompt_sha256` are the `llm` judge's.
    """

    judge: JudgeName
    mode: str
    database: str
    clock: str
    schema: Schema
    model: str | None = None
    prompt_sha256: str | None = None


class Labels(NamedTuple):
    """The labels of one file: under what they were made, and each by its run's question id."""

    header: LabelsHeader
    by_run: Mapping[str, Label]
