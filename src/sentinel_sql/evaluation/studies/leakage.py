"""The leakage checks: plain readers, shuffled labels, and copies across splits (appendix A).

Plain readers use only the question's wording, or signals that need no training; a head must beat
them. A reader trained on shuffled labels must rank no better than chance. No transcript may be on
both sides of a split.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.evaluation.bootstrap import LEVEL, Interval, Resampling
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.metrics import auroc
from sentinel_sql.monitor.prefix_scores import Bools, Floats

FEWEST_PERMUTATIONS = 20

TASK = Column("the ranking task", within="answerability, correctness or quiet failure")
READER = Column("what the runs are ranked by")


@dataclass(frozen=True, kw_only=True)
class Task:
    """One ranking task over some of N runs.

    Attributes:
        name: of the task.
        over: the runs of the task, in words.
        target: shape (N,), the positive class.
        where: shape (N,), the runs of the task.
    """

    name: str
    over: str
    target: Bools
    where: Bools


@dataclass(frozen=True, kw_only=True)
class ReaderRow:
    """One plain reader on one task; AUROC is None for one class."""

    task: Annotated[str, TASK]
    over: Annotated[str, Column("which runs it is over")]
    reader: Annotated[str, READER]
    trained: Annotated[bool, Column("it was fitted, and is scored out of fold")]
    n: Annotated[int, Column("runs of the task that the reader can rank")]
    positives: Annotated[int, Column("of these, answerable or correct ones")]
    auroc: Annotated[Interval | None, Column("AUROC of the reader", within=SHARE)]


@dataclass(frozen=True, kw_only=True)
class ControlRow:
    """One reader on one task, fitted on shuffled labels many times."""

    task: Annotated[str, TASK]
    reader: Annotated[str, READER]
    permutations: Annotated[int, Column("how often the labels were shuffled")]
    auroc: Annotated[
        Interval | None,
        Column(
            "mean AUROC over the shuffles, with their 2.5th and 97.5th percentile", within=SHARE
        ),
    ]
    holds: Annotated[
        bool | None, Column("the interval holds 0.5; empty where nothing could be fitted")
    ]


@dataclass(frozen=True, kw_only=True)
class CopiesRow:
    """Texts that occur more than once, and those on several sides of a split."""

    what: Annotated[str, Column("which texts", within="transcripts or questions")]
    split: Annotated[str, Column("the split", within="folds or pools")]
    texts: Annotated[int, Column("different texts")]
    repeated: Annotated[int, Column("of these, texts of more than one run")]
    across: Annotated[int, Column("of these, texts on more than one side of the split")]
    holds: Annotated[
        bool | None,
        Column("no transcript is on two sides; empty for questions, which are only counted"),
    ]


def reader_row(
    task: Task, reader: str, score: Floats | None, resampling: Resampling, *, trained: bool
) -> ReaderRow:
    """Return the AUROC of a score on a task. Runs with the score NaN are left out.

    Args:
        task: over N runs.
        reader: the reader's name.
        score: shape (N,), or None if the reader couldn't be fitted.
        resampling: over the N runs.
        trained: the reader was fitted, and the score is out of fold.
    """
    where = task.where if score is None else task.where & ~np.isnan(score)
    return ReaderRow(
        task=task.name,
        over=task.over,
        reader=reader,
        trained=trained,
        n=int(where.sum()),
        positives=int((where & task.target).sum()),
        auroc=None if score is None else resampling.auroc(task.target, score, where),
    )


def shuffled_control(
    task: Task,
    reader: str,
    refit: Callable[[Bools], Floats] | None,
    *,
    permutations: int,
    seed: int,
    on_shuffle: Callable[[], None] = lambda: None,
) -> ControlRow:
    """Fit a reader on shuffled labels and check that it ranks them no better than chance.

    The interval is that of single shuffles, not of their mean. Cross-fitted scores of shuffled
    labels are a little below 0.5 on average, so that the mean's interval would give false alarms.

    Args:
        task: its labels are shuffled among its runs.
        reader: the reader's name.
        refit: from labels, shape (N,), to out-of-fold scores, shape (N,); None if the reader
            can't be fitted on this task.
        permutations: the number of shuffles, at least `FEWEST_PERMUTATIONS`.
        seed: of the shuffles.
        on_shuffle: called after each shuffle.
    """
    where = np.flatnonzero(task.where)
    if refit is None:
        return ControlRow(task=task.name, reader=reader, permutations=0, auroc=None, holds=None)
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(permutations):
        shuffled = task.target.copy()
        shuffled[where] = rng.permutation(task.target[where])
        value = auroc(shuffled[where], refit(shuffled)[where])
        if value is not None:
            found.append(value)
        on_shuffle()
    if not found:
        return ControlRow(task=task.name, reader=reader, permutations=0, auroc=None, holds=None)
    low, high = np.percentile(found, LEVEL)
    return ControlRow(
        task=task.name,
        reader=reader,
        permutations=len(found),
        auroc=Interval(estimate=float(np.mean(found)), low=float(low), high=float(high)),
        holds=bool(low <= 0.5 <= high),
    )


def copies(
    what: str, split: str, texts: Sequence[str], sides: Sequence[str], *, must_hold: bool
) -> CopiesRow:
    """Count the texts on more than one side of a split.

    Args:
        what: a word for the texts.
        split: a word for the split.
        texts: N texts or their hashes.
        sides: N sides, one for each text.
        must_hold: a text on two sides is a fault.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for text, side in zip(texts, sides, strict=True):
        found[text].append(side)
    across = sum(len(set(its)) > 1 for its in found.values())
    return CopiesRow(
        what=what,
        split=split,
        texts=len(found),
        repeated=sum(len(its) > 1 for its in found.values()),
        across=across,
        holds=across == 0 if must_hold else None,
    )


def leakage_exhibits(
    readers: Sequence[ReaderRow], controls: Sequence[ControlRow], copied: Sequence[CopiesRow]
) -> Mapping[str, Exhibit[ReaderRow] | Exhibit[ControlRow] | Exhibit[CopiesRow]]:
    """Return the three tables of the leakage checks by name."""
    return {
        "leakage": Exhibit(
            title="Plain readers",
            note=(
                "AUROC of the wording alone, of the transcript's words, and of signals without "
                "training; a head that doesn't beat them adds nothing. Out of fold, by template."
            ),
            row=ReaderRow,
            rows=tuple(readers),
        ),
        "leakage_controls": Exhibit(
            title="Shuffled labels",
            note="A reader that ranks shuffled labels better than chance has seen the labels.",
            row=ControlRow,
            rows=tuple(controls),
        ),
        "leakage_copies": Exhibit(
            title="Copies across splits",
            note=(
                "A transcript on two sides of a split is trained on and then scored, which is a "
                "fault. A repeated question is only counted, because its runs differ."
            ),
            row=CopiesRow,
            rows=tuple(copied),
        ),
    }


def faults(controls: Sequence[ControlRow], copied: Sequence[CopiesRow]) -> tuple[str, ...]:
    """Return a sentence for each check that fails; empty if all hold."""
    sentences = [
        f"{row.reader} on {row.task} ranks shuffled labels at {row.auroc.estimate:.3f} "
        f"({row.auroc.low:.3f} to {row.auroc.high:.3f} over {row.permutations} shuffles), not at "
        "chance: it sees the labels of the runs that it scores"
        for row in controls
        if row.holds is False and row.auroc is not None
    ]
    sentences += [
        f"{row.across} {row.what} are in more than one of the {row.split}: give questions with "
        "the same wording one template, and make the pools again with `sentinel questions pools`"
        for row in copied
        if row.holds is False
    ]
    return tuple(sentences)
