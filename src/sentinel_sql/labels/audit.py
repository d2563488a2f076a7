"""The human audit of a judge: writes a blinded sample, one sheet for each rater, and reads them.

A sheet holds what the judge saw, but not its verdict. The key holds the run and the verdict of each
case, and stays with the person who runs the audit.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from sentinel_sql.errors import LabelsError
from sentinel_sql.labels.case import Case
from sentinel_sql.labels.ratings import RATING_WORDS, table_lines
from sentinel_sql.labels.record import JudgeName, Label, LabelsHeader

KEY = "key.json"
LONGEST_CELL = 32_000
"""Longest cell of a sheet, in characters (our choice): a spreadsheet allows 32,767."""

COLUMNS = (
    *("case", "question", "reference_sql", "reference_result", "answer_sql", "answer_result"),
    *("correct", "comment"),
)
_STARTS_A_FORMULA = frozenset("=+-@\t\r\n＝＋－＠")


class AuditCase(BaseModel):
    """One case of the key: its run, and the judge's verdict on the answer."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, hide_input_in_errors=True)

    case: str
    question_id: str
    correct: bool
    reason: str


class AuditKey(BaseModel):
    """The secret part of an audit: don't give it to a rater before all sheets are back.

    `judged` is the number of verdicts that the sample was drawn from.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, hide_input_in_errors=True)

    format: Literal["sentinel-audit/1"] = "sentinel-audit/1"
    judge: JudgeName
    mode: str
    model: str | None = None
    prompt_sha256: str | None = None
    seed: int
    judged: int
    cases: tuple[AuditCase, ...]


def draw(header: LabelsHeader, labels: Mapping[str, Label], *, size: int, seed: int) -> AuditKey:
    """Draw a simple random sample of the judged verdicts; all if there are fewer.

    Args:
        header: header of the labels.
        labels: labels by run id, in any order.
        size: cases to draw, ≥ 1.
        seed: equal seeds and labels give equal samples.

    Raises:
        LabelsError: the labels hold no verdict of the judge itself.
    """
    if header.judge == "ratings":
        raise LabelsError(
            "these labels are people's ratings, so there is no judge to audit: label the same runs "
            "with --judge rules or llm too, and compare both by `sentinel audit disagreement`"
        )
    judged = sorted((x for x in labels.values() if x.judged), key=lambda x: x.question_id)
    if not judged:
        raise LabelsError(
            "no judged verdict is among these labels: only answers that the strict comparison "
            "rejected are audited, so label with --judge rules or llm, or collect more runs"
        )
    chosen = random.Random(seed).sample(judged, min(size, len(judged)))  # noqa: S311
    return AuditKey(
        judge=header.judge,
        mode=header.mode,
        model=header.model,
        prompt_sha256=header.prompt_sha256,
        seed=seed,
        judged=len(judged),
        cases=tuple(
            AuditCase(
                case=f"c{number:04d}",
                question_id=label.question_id,
                correct=label.correct is True,
                reason=label.reason,
            )
            for number, label in enumerate(chosen, 1)
        ),
    )


def read_key(path: Path) -> AuditKey:
    """Read the key of an audit.

    Raises:
        LabelsError: the file is missing, or is no key.
    """
    try:
        return AuditKey.model_validate_json(path.read_bytes())
    except OSError as error:
        raise LabelsError(
            f"{path} can't be read ({error.strerror}): give the folder that `sentinel audit "
            "export` made"
        ) from error
    except ValidationError as error:
        raise LabelsError(
            f"{path} isn't the key of an audit: restore it, or export the audit again"
        ) from error


def sheet(key: AuditKey, cases: Mapping[str, Case], *, rater: int) -> bytes:
    """Return the sheet of one rater as CSV, in UTF-8 with a byte order mark.

    Each rater gets the cases in another order, so that fatigue doesn't affect the same cases. A
    cell that a spreadsheet would read as a formula starts with an apostrophe.

    Args:
        key: key of the audit.
        cases: cases by run id.
        rater: number of the rater, from 1.
    """
    rows = list(key.cases)
    random.Random(f"{key.seed} {rater}").shuffle(rows)  # noqa: S311
    sink = io.StringIO()
    writer = csv.writer(sink, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        case = cases[row.question_id]
        texts = (case.question, case.gold_sql, case.gold_result, case.answer_sql)
        writer.writerow([row.case, *map(harmless, (*texts, case.answer_result)), "", ""])
    return sink.getvalue().encode("utf-8-sig", "replace")


def harmless(text: str) -> str:
    """Return a cell that is safe for spreadsheets: no formula, not too long, no control signs."""
    text = "".join(sign for sign in text if sign >= " " or sign in "\n\t")
    start = text.lstrip(" ")[:1]
    marked = f"'{text}" if start in _STARTS_A_FORMULA and start else text
    return marked if len(marked) <= LONGEST_CELL else marked[: LONGEST_CELL - 1] + "…"


@dataclass(frozen=True, kw_only=True)
class RaterSheet:
    """The ratings of one rater.

    Attributes:
        rater: file name of the sheet without its extension.
        by_case: case → correct (True) or not (False); only cases with a rating.
        left_open: cases of the sheet without a rating.
        missing: cases that aren't in the sheet.
        repeated: further lines of the same case with the same rating.
        other_columns: columns that aren't part of a sheet; they are ignored.
    """

    rater: str
    by_case: Mapping[str, bool]
    left_open: int
    missing: int
    repeated: int
    other_columns: int


def read_sheet(path: Path, key: AuditKey) -> RaterSheet:
    """Read a returned sheet, as spreadsheets save it.

    It may have commas, semicolons or tabs, be in UTF-8, UTF-16 or a Windows code page, and have
    lines and columns in any order. Only the columns `case` and `correct` are read.

    Raises:
        LabelsError: the sheet can't be read, a column is missing, a line isn't of this audit, a
            rating can't be read, or a case has two ratings. The message names the line and never
            quotes it.
    """
    lines = [cells for _, cells in table_lines(path, ("case", "correct"))]
    columns = [name.strip().casefold() for name in lines[0]]
    at_case, at_correct = columns.index("case"), columns.index("correct")
    known = {case.case for case in key.cases}
    seen: dict[str, bool | None] = {}
    repeated = 0
    for number, line in enumerate(lines[1:], 2):
        if not any(cell.strip() for cell in line):
            continue
        case = line[at_case].strip().casefold() if at_case < len(line) else ""
        if case not in known:
            raise LabelsError(
                f"{path}, row {number} is of no case of this audit: give a sheet of this audit, "
                "with its column `case` unchanged"
            )
        text = line[at_correct].strip().casefold() if at_correct < len(line) else ""
        if text not in RATING_WORDS:
            raise LabelsError(
                f"{path}, row {number} ({case}) has no rating that can be read in its column "
                "`correct`: write 1 or 0 there, or leave it blank, and put words into `comment`"
            )
        rating = RATING_WORDS[text]
        if case in seen:
            if None not in (rating, seen[case]) and rating != seen[case]:
                raise LabelsError(
                    f"{path}, row {number} has another rating of {case} than an earlier row: "
                    "keep one of the two"
                )
            repeated += 1
            rating = seen[case] if rating is None else rating
        seen[case] = rating
    return RaterSheet(
        rater=path.stem,
        by_case={case: rating for case, rating in seen.items() if rating is not None},
        left_open=sum(rating is None for rating in seen.values()),
        missing=len(known - seen.keys()),
        repeated=repeated,
        other_columns=len([name for name in columns if name and name not in COLUMNS]),
    )
