"""What is known of one recorded run beside the run itself, and the file that holds it.

A labels file is JSON Lines: a header (`sentinel-labels/1`: judge, equivalence mode, database,
clock, schema) and then one `Label` a line. The schema rides in the header so that fitting
needs no database.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from sentinel_sql.trajectory.record import OutcomeKind

JudgeName = Literal["strict", "rules"]


class Label(BaseModel):
    """One run's label.

    `correct` is the target: True only for an answer to an answerable question that the judge
    accepts. `strict` is the official execution match of the same answer. Both are None where
    there is nothing to judge (abstained, cap) or the question is unanswerable.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, hide_input_in_errors=True)

    question_id: str
    answerable: bool
    outcome: OutcomeKind
    strict: bool | None = None
    correct: bool | None = None
    reason: str
