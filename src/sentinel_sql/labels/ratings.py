"""People's ratings: the words for right and wrong, the tables they come in, and their majority.

A rating is a person's; a verdict is a judge's or the guard's.
"""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Final

from sentinel_sql.errors import LabelsError
from sentinel_sql.storage.drafts import remove_dead
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.run_id import ids_of_run
from sentinel_sql.storage.whole_file import write_whole

RATING_WORDS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("1", "1.0", "1,0", "y", "yes", "true", "correct", "right"), True),
    **dict.fromkeys(("0", "0.0", "0,0", "n", "no", "false", "incorrect", "wrong"), False),
    **dict.fromkeys(("", "?", "-", "unsure", "n/a"), None),
}
"""What a rater may write, in any case; None for "can't be said"."""

ID_COLUMNS: Final = ("run", "run_id", "question_id", "id")
"""Names of the column that says which run is rated, the first that is there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rating:
    """One rater's rating of one run.

    Attributes:
        id: id of the run, or of a question with one run.
        rater: the rater's name; empty without a column `rater`.
        right: whether the answer is right, or None if the rater can't say. Of a run that gave no
            answer: whether giving none was right.
        answerable: whether the question can be answered from the database; None if not stated.
        line: line in the file.
    """

    id: str
    rater: str
    right: bool | None
    answerable: bool | None
    line: int


@dataclass(frozen=True, kw_only=True)
class RatingsFile:
    """The ratings of a file, at most one for each run and rater.

    `repeated` counts further lines that say the same. `other_columns` are ignored.
    """

    ratings: tuple[Rating, ...]
    repeated: int
    other_columns: tuple[str, ...]


def read_ratings(path: str | PathLike[str]) -> RatingsFile:
    """Read a table with the columns `run` (or `id`), `rating`, and perhaps `rater`, `answerable`.

    It may have commas, semicolons or tabs, and be in UTF-8, UTF-16 or a Windows code page.

    Raises:
        LabelsError: the file can't be read, a column is missing, a line has no id, a word is
            unknown, or one rater rates a run twice and differently. The message names the line and
            never quotes a word of it.
    """
    path = path_of(path)
    lines = table_lines(path, ("rating",), ID_COLUMNS)
    header = [name.strip().casefold() for name in lines[0][1]]
    at_id = header.index(next(name for name in ID_COLUMNS if name in header))
    found: dict[tuple[str, str], Rating] = {}
    repeated = 0
    for number, cells in lines[1:]:
        if not any(cell.strip() for cell in cells):
            continue
        row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
        identity = cells[at_id].strip() if at_id < len(cells) else ""
        if not identity:
            raise LabelsError(
                f"{path}, line {number} doesn't say which run it rates: fill in its column "
                f"`{header[at_id]}`"
            )
        rating = Rating(
            id=identity,
            rater=row.get("rater", ""),
            right=_word(row, "rating", path, number),
            answerable=_word(row, "answerable", path, number),
            line=number,
        )
        earlier = found.get((rating.id, rating.rater))
        if earlier is not None:
            repeated += 1
            rating = _merged(earlier, rating, path)
        found[rating.id, rating.rater] = rating
    known = {header[at_id], "rating", "rater", "answerable"}
    return RatingsFile(
        ratings=tuple(found.values()),
        repeated=repeated,
        other_columns=tuple(name for name in header if name and name not in known),
    )


def forget_ratings(path: str | PathLike[str], erased_id: str) -> int:
    """Erase the ratings of a run, or of all runs of a question; other lines keep their bytes.

    Returns:
        Number of ratings erased.

    Raises:
        LabelsError: the file is no table of ratings, or can't be read.
        OSError: the file can't be written; it stays unchanged then.
    """
    path = path_of(path)
    lines = table_lines(path, ("rating",), ID_COLUMNS)
    header = [name.strip().casefold() for name in lines[0][1]]
    at_id = header.index(next(name for name in ID_COLUMNS if name in header))
    data = path.read_bytes()
    text, codec = _text_of(data)
    physical = io.StringIO(text, newline="").readlines()
    kept = physical[: lines[0][0]]
    erased = 0
    for (before, _), (end, cells) in pairwise(lines):
        if at_id < len(cells) and erased_id in ids_of_run(cells[at_id].strip()):
            erased += 1
        else:
            kept += physical[before:end]
    if erased:
        write_whole(path, "".join(kept).encode(codec))
    remove_dead(path.resolve())
    return erased


def majority(said: Iterable[bool | None]) -> bool | None:
    """Return what more than half of those who said anything say; None for a tie or nothing."""
    votes = [vote for vote in said if vote is not None]
    return None if 2 * sum(votes) == len(votes) else 2 * sum(votes) > len(votes)


def table_lines(
    path: Path, required: Sequence[str], one_of: Sequence[str] = ()
) -> list[tuple[int, list[str]]]:
    """Return the lines of a table as spreadsheets save it: (line number, cells), header first.

    Args:
        path: a CSV file with commas, semicolons or tabs.
        required: columns that the header must have.
        one_of: columns of which the header must have one.

    Raises:
        LabelsError: the file can't be read, or a column is missing or there twice.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LabelsError(f"{path} can't be read ({error.strerror}): check the path") from error
    text, skipped = _decode(data)
    for delimiter in (",", ";", "\t"):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            lines = [(reader.line_num + skipped, cells) for cells in reader]
        except csv.Error:
            continue
        names = [name.strip().casefold() for name in lines[0][1]] if lines else []
        if set(required) <= set(names) and (not one_of or set(one_of) & set(names)):
            for name in (*required, *one_of):
                if names.count(name) > 1:  # it is unknown which one the rater meant
                    raise LabelsError(
                        f"{path} has {names.count(name)} columns `{name}`: keep one of them"
                    )
            return lines
    wanted = [f"`{name}`" for name in required]
    first = " or ".join(f"`{name}`" for name in one_of)
    columns = " and ".join([*([first] if first else []), *wanted])
    raise LabelsError(
        f"{path} has no header line with the columns {columns}: give a CSV with these names in "
        "its first line"
    )


def _word(row: Mapping[str, str], column: str, path: Path, number: int) -> bool | None:
    word = row.get(column, "").casefold()
    if word not in RATING_WORDS:
        raise LabelsError(
            f"{path}, line {number}: the word in column `{column}` is unknown: write "
            + ("right, wrong or unsure" if column == "rating" else "yes or no, or leave it blank")
        )
    return RATING_WORDS[word]


def _merged(earlier: Rating, later: Rating, path: Path) -> Rating:
    """Return one rating of two lines, where one may say what the other leaves open."""
    both = [(earlier.right, later.right), (earlier.answerable, later.answerable)]
    if any(None not in pair and pair[0] != pair[1] for pair in both):
        raise LabelsError(
            f"{path}, line {later.line} rates a run otherwise than line {earlier.line}: keep one "
            "of the two, or name the raters in a column `rater`"
        )
    right, answerable = (first if first is not None else second for first, second in both)
    return Rating(
        id=earlier.id, rater=earlier.rater, right=right, answerable=answerable, line=earlier.line
    )


def _decode(data: bytes) -> tuple[str, int]:
    """Return the text of a table, and how many lines before its header were left out."""
    text, _ = _text_of(data)
    # Excel puts a line "sep=;" above the header if the user chose a separator.
    first, end, rest = text.partition("\n")
    declared = end and first.strip().casefold().startswith("sep=")
    return (rest, 1) if declared else (text, 0)


def _text_of(data: bytes) -> tuple[str, str]:
    """Return the text of a table, and its encoding."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), "utf-16"
    with suppress(UnicodeDecodeError):
        codec = "utf-8-sig" if data.startswith(BOM_UTF8) else "utf-8"
        return data.decode(codec), codec
    return data.decode("cp1252", "replace"), "cp1252"
