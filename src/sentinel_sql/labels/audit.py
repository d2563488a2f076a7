"""The human audit of a judge: a blinded sample on one sheet a rater, and reading the sheets back.

A sheet holds what the judge was shown and not what it said. The key, which tells which run a case
is and what the judge said of it, stays with whoever runs the audit.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from sentinel_sql.errors import LabelsError
from sentinel_sql.labels.case import Case
from sentinel_sql.labels.record import JudgeName, Label, LabelsHeader

KEY = "key.json"
LONGEST_CELL = 32_000
"""Characters of a cell of a sheet; ours: a spreadsheet holds no more than 32,767."""

COLUMNS = (
    *("case", "question", "reference_sql", "reference_result", "answer_sql", "answer_result"),
    *("correct", "comment"),
)
_VERDICTS: Mapping[str, bool | None] = {
    **dict.fromkeys(("1", "1.0", "1,0", "y", "yes", "true", "correct", "right"), True),
    **dict.fromkeys(("0", "0.0", "0,0", "n", "no", "false", "incorrect", "wrong"), False),
    **dict.fromkeys(("", "?", "-", "unsure", "n/a"), None),
}
_STARTS_A_FORMULA = frozenset("=+-@\t\r\n＝＋－＠")


class AuditCase(BaseModel):
    """One case of the key: which run it is, and what the judge said of its answer."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, hide_input_in_errors=True)

    case: str
    question_id: str
    correct: bool
    reason: str


class AuditKey(BaseModel):
    """What the sheets don't say: never give it to a rater before all sheets are back.

    `judged` is how many judged verdicts the sample was drawn from.
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
    """Draw a simple random sample of the judged verdicts; all of them where there are fewer.

    Args:
        header: of the labels.
        labels: by run id; their order doesn't matter.
        size: cases to draw, ≥ 1.
        seed: equal seeds and labels give equal samples.

    Raises:
        LabelsError: no verdict of the judge's own is among the labels.
    """
    judged = sorted((x for x in labels.values() if x.judged), key=lambda x: x.question_id)
    if not judged:
        raise LabelsError(
            "no judged verdict is among these labels: only answers that the strict comparison "
            "refused are audited, so label with --judge rules or llm, or collect more runs"
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
        LabelsError: it isn't there or is none.
    """
    try:
        return AuditKey.model_validate_json(path.read_bytes())
    except OSError as error:
        raise LabelsError(
            f"{path} can't be read ({error.strerror}): name the folder that `sentinel audit "
            "export` made"
        ) from error
    except ValidationError as error:
        raise LabelsError(
            f"{path} isn't the key of an audit: restore it, or export the audit again"
        ) from error


def sheet(key: AuditKey, cases: Mapping[str, Case], *, rater: int) -> bytes:
    """Return the sheet of one rater as CSV, UTF-8 with the mark that spreadsheets look for.

    Each rater has the cases in an order of their own, so that tiring doesn't hit the same ones. A
    cell that a spreadsheet would take for a formula starts with an apostrophe.

    Args:
        key: of the audit.
        cases: by run id.
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
    """Return a cell that no spreadsheet computes or refuses: marked, cut, without control signs."""
    text = "".join(sign for sign in text if sign >= " " or sign in "\n\t")
    start = text.lstrip(" ")[:1]
    marked = f"'{text}" if start in _STARTS_A_FORMULA and start else text
    return marked if len(marked) <= LONGEST_CELL else marked[: LONGEST_CELL - 1] + "…"


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """What one rater returned.

    Attributes:
        rater: name of the sheet's file without its ending.
        verdicts: by case, only where the rater said correct (True) or not (False).
        left_open: cases that stand in the sheet without a verdict.
        missing: cases that the sheet lacks.
        repeated: further lines of a case that say the same again.
        other_columns: columns that no audit asked for; they were passed over.
    """

    rater: str
    verdicts: Mapping[str, bool]
    left_open: int
    missing: int
    repeated: int
    other_columns: int


def read_sheet(path: Path, key: AuditKey) -> Ratings:
    """Read a sheet as raters and their spreadsheets return it.

    Commas, semicolons or tabs; UTF-8, UTF-16 or a Windows page; lines in any order, columns in
    any order, more or fewer of them. Only `case` and `correct` are read.

    Raises:
        LabelsError: it can't be read, a column is missing, a line is of no case or of another
            audit, a verdict is none, or a case has two. The message names the line and never
            quotes what stands there.
    """
    lines = _lines(path)
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
                f"{path}, row {number} is of no case of this audit: give the sheet that belongs "
                "to it, its column `case` as it was exported"
            )
        said = line[at_correct].strip().casefold() if at_correct < len(line) else ""
        if said not in _VERDICTS:
            raise LabelsError(
                f"{path}, row {number} ({case}) has no verdict that can be read in its column "
                "`correct`: write 1 or 0 there, or leave it blank, and put words into `comment`"
            )
        verdict = _VERDICTS[said]
        if case in seen:
            if None not in (verdict, seen[case]) and verdict != seen[case]:
                raise LabelsError(
                    f"{path}, row {number} says another verdict of {case} than a row before: "
                    "leave one of the two"
                )
            repeated += 1
            verdict = seen[case] if verdict is None else verdict
        seen[case] = verdict
    return Ratings(
        rater=path.stem,
        verdicts={case: said for case, said in seen.items() if said is not None},
        left_open=sum(said is None for said in seen.values()),
        missing=len(known - seen.keys()),
        repeated=repeated,
        other_columns=len([name for name in columns if name and name not in COLUMNS]),
    )


def _lines(path: Path) -> Sequence[list[str]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LabelsError(f"{path} can't be read ({error.strerror}): check the path") from error
    text = _decoded(data)
    for delimiter in (",", ";", "\t"):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            lines = list(reader)
        except csv.Error:
            continue
        names = [name.strip().casefold() for name in lines[0]] if lines else []
        if "case" in names and "correct" in names:
            for name in ("case", "correct"):
                if names.count(name) > 1:  # which of them the rater meant, nobody can tell
                    raise LabelsError(
                        f"{path} has {names.count(name)} columns `{name}`: leave the one that "
                        "counts"
                    )
            return lines
    raise LabelsError(
        f"{path} has no header line with the columns `case` and `correct`: return the sheet as "
        "CSV with its first line as it was exported"
    )


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    # Excel puts a line "sep=;" above the header where a separator was set by hand.
    first, end, rest = text.partition("\n")
    return rest if end and first.strip().casefold().startswith("sep=") else text
