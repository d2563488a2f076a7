"""Is something given away: plain readers beside the heads, shuffled labels, and copied runs.

A head is worth what it adds to the wording of the question and to signals that need no training.
A control that is trained on shuffled labels must rank no better than chance, and no transcript
may stand on both sides of a split (paper appendix A).
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

TASK = Column("what is told apart", within="answerability, correctness or quiet failure")
READER = Column("what the runs are ranked by")


@dataclass(frozen=True, kw_only=True)
class Task:
    """One ranking task over N runs: shape (N,) both.

    `where` says which runs it is over, in the words of `over`.
    """

    name: str
    over: str
    target: Bools
    where: Bools


@dataclass(frozen=True, kw_only=True)
class ReaderRow:
    """One plain reader on one task; None where only one class is present."""

    task: Annotated[str, TASK]
    over: Annotated[str, Column("which runs it is over")]
    reader: Annotated[str, READER]
    trained: Annotated[bool, Column("it was fitted, and is scored out of fold")]
    n: Annotated[int, Column("runs of the task that the reader can rank")]
    positives: Annotated[int, Column("of these, answerable or correct ones")]
    auroc: Annotated[Interval | None, Column("AUROC of the reader", within=SHARE)]


@dataclass(frozen=True, kw_only=True)
class ControlRow:
    """One reader on one task, fitted on shuffled labels again and again."""

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
    """Texts that occur more than once, and on which sides."""

    what: Annotated[str, Column("which texts", within="transcripts or questions")]
    split: Annotated[str, Column("between what they may not stand", within="folds or pools")]
    texts: Annotated[int, Column("different texts")]
    repeated: Annotated[int, Column("of these, texts of more than one run")]
    across: Annotated[int, Column("of these, texts that stand on more than one side")]
    holds: Annotated[
        bool | None,
        Column("no transcript stands on two sides; empty for questions, which are only told"),
    ]


def reader_row(
    task: Task, reader: str, score: Floats | None, resampling: Resampling, *, trained: bool
) -> ReaderRow:
    """Rank a task's runs by a score; runs whose score is NaN can't be ranked and are left out.

    Args:
        task: over N runs.
        reader: its name.
        score: shape (N,), or None where it couldn't be fitted.
        resampling: over the N runs.
        trained: it was fitted, and the score is out of fold.
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
    """Fit a reader on shuffled labels and see whether it ranks them better than chance.

    The interval is of the shuffles themselves: cross-fitted scores of shuffled labels lie a
    little below 0.5 on average, so that the interval of their mean would cry wolf.

    Args:
        task: whose labels are shuffled among its runs.
        reader: its name.
        refit: from labels, shape (N,), to out-of-fold scores, shape (N,); None where the reader
            can't be fitted on this task.
        permutations: at least `FEWEST_PERMUTATIONS`.
        seed: of the shuffles.
        on_shuffle: called after each.
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
    """Count the texts that stand on more than one side of a split.

    Args:
        what: the texts, in a word.
        split: the split, in a word.
        texts: N texts or their hashes.
        sides: the side of each, N.
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
    """Return the battery's three tables by name."""
    return {
        "leakage": Exhibit(
            title="Plain readers",
            note=(
                "What the wording alone, the transcript's words, and signals without training "
                "reach; a head that doesn't beat them adds nothing. Out of fold, by template."
            ),
            row=ReaderRow,
            rows=tuple(readers),
        ),
        "leakage_controls": Exhibit(
            title="Shuffled labels",
            note="A reader that ranks shuffled labels better than chance sees what it should not.",
            row=ControlRow,
            rows=tuple(controls),
        ),
        "leakage_copies": Exhibit(
            title="Copies across splits",
            note=(
                "A transcript on two sides of a split is learned by heart on one and scored on "
                "the other. A question asked twice is told, but no fault: its runs differ."
            ),
            row=CopiesRow,
            rows=tuple(copied),
        ),
    }


def faults(controls: Sequence[ControlRow], copied: Sequence[CopiesRow]) -> tuple[str, ...]:
    """Say in words what doesn't hold; empty where all does."""
    told = [
        f"{row.reader} on {row.task} ranks shuffled labels at {row.auroc.estimate:.3f} "
        f"({row.auroc.low:.3f} to {row.auroc.high:.3f} over {row.permutations} shuffles), which "
        "chance doesn't: it sees the labels of the runs that it scores"
        for row in controls
        if row.holds is False and row.auroc is not None
    ]
    told += [
        f"{row.across} {row.what} stand in more than one of the {row.split}: give questions with "
        "one wording one template, and make the pools again with `sentinel questions pools`"
        for row in copied
        if row.holds is False
    ]
    return tuple(told)
