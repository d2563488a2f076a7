"""The audit of a judge by raters: their agreement, the judge's accuracy, and its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

from sentinel_sql.errors import LabelsError
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.rater_agreement import kappa, wilson_share
from sentinel_sql.labels.audit import AuditKey, RaterSheet
from sentinel_sql.labels.ratings import majority

TOGETHER = "together"
"""The name for the majority of the raters of a case; ties are left open."""


@dataclass(frozen=True, kw_only=True)
class JudgeAuditRow:
    """The judge compared with one rater, or with the majority of all raters."""

    rater: Annotated[str, Column("name of the rater's sheet, or `together` for all of them")]
    cases: Annotated[int, Column("cases of the audit")]
    rated: Annotated[int, Column("cases with a rating of this rater")]
    left_open: Annotated[int, Column("cases on the sheet without a rating; together: ties")]
    missing: Annotated[int, Column("cases that the sheet lacks; together: cases without a rating")]
    accuracy: Annotated[
        Interval | None,
        Column(
            "share of the judge's verdicts that the rater agrees with", unit="share", within=SHARE
        ),
    ]
    said_correct: Annotated[int, Column("rated cases that the judge called correct")]
    wrongly_correct: Annotated[int, Column("of these, how many the rater calls wrong")]
    wrongly_correct_share: Annotated[
        Interval | None,
        Column("wrongly_correct / said_correct", unit="share", within=SHARE),
    ]
    said_wrong: Annotated[int, Column("rated cases that the judge called wrong")]
    wrongly_wrong: Annotated[int, Column("of these, how many the rater calls correct")]
    wrongly_wrong_share: Annotated[
        Interval | None,
        Column("wrongly_wrong / said_wrong", unit="share", within=SHARE),
    ]


@dataclass(frozen=True, kw_only=True)
class RatersRow:
    """Two raters over the cases that both rated."""

    first: Annotated[str, Column("one rater")]
    second: Annotated[str, Column("the other rater")]
    both_rated: Annotated[int, Column("cases that both rated")]
    agreement: Annotated[
        Interval | None,
        Column("share of them with equal ratings", unit="share", within=SHARE),
    ]
    kappa: Annotated[
        float | None, Column("Cohen's κ: agreement beyond what chance gives", within="[−1, 1]")
    ]


def judge_audit(key: AuditKey, raters: Sequence[RaterSheet]) -> Exhibit[JudgeAuditRow]:
    """Compare the judge's verdicts with the ratings of each rater and of their majority.

    Raises:
        LabelsError: no case is rated, or two sheets have the same name.
    """
    names = [rater.rater for rater in raters]
    if len(set(names)) < len(names) or TOGETHER in names:
        raise LabelsError(
            "two sheets have the same name, or one is called 'together': give each rater's sheet "
            "a different name"
        )
    if not any(rater.by_case for rater in raters):
        raise LabelsError(
            "no case is rated yet: the raters write 1 or 0 into the column `correct` of their "
            "sheets"
        )
    rows = [
        _row(key, rater.rater, rater.by_case, left_open=rater.left_open, missing=rater.missing)
        for rater in raters
    ]
    if len(raters) > 1:
        agreed = _together(raters)
        rated = {case for rater in raters for case in rater.by_case}
        rows.append(
            _row(
                key,
                TOGETHER,
                agreed,
                left_open=len(rated) - len(agreed),
                missing=len(key.cases) - len(rated),
            )
        )
    return Exhibit(
        title="The judge against raters",
        note=f"A random sample of the {key.judged} verdicts by the judge itself: answers that the "
        "strict comparison didn't accept. 95 % Wilson intervals.",
        row=JudgeAuditRow,
        rows=tuple(rows),
    )


def raters_agreement(raters: Sequence[RaterSheet]) -> Exhibit[RatersRow]:
    """Compare each pair of raters over the cases that both rated."""
    rows = []
    for first, second in combinations(raters, 2):
        both = sorted(first.by_case.keys() & second.by_case.keys())
        a, b = ([rater.by_case[case] for case in both] for rater in (first, second))
        rows.append(
            RatersRow(
                first=first.rater,
                second=second.rater,
                both_rated=len(both),
                agreement=wilson_share(sum(x == y for x, y in zip(a, b, strict=True)), len(both)),
                kappa=kappa(a, b),
            )
        )
    return Exhibit(
        title="Raters among themselves",
        note="Raters can't be expected to agree with a judge more than among themselves.",
        row=RatersRow,
        rows=tuple(rows),
    )


def _together(raters: Sequence[RaterSheet]) -> Mapping[str, bool]:
    """Return the majority's rating of each case; ties are left out."""
    votes: dict[str, list[bool]] = {}
    for rater in raters:
        for case, rating in rater.by_case.items():
            votes.setdefault(case, []).append(rating)
    decided = {case: majority(cast) for case, cast in votes.items()}
    return {case: rating for case, rating in decided.items() if rating is not None}


def _row(
    key: AuditKey, rater: str, ratings: Mapping[str, bool], *, left_open: int, missing: int
) -> JudgeAuditRow:
    pairs = [(case.correct, ratings[case.case]) for case in key.cases if case.case in ratings]
    said_correct = sum(judge for judge, _ in pairs)
    wrongly_correct = sum(judge and not said for judge, said in pairs)
    wrongly_wrong = sum(said and not judge for judge, said in pairs)
    right = len(pairs) - wrongly_correct - wrongly_wrong
    return JudgeAuditRow(
        rater=rater,
        cases=len(key.cases),
        rated=len(pairs),
        left_open=left_open,
        missing=missing,
        accuracy=wilson_share(right, len(pairs)),
        said_correct=said_correct,
        wrongly_correct=wrongly_correct,
        wrongly_correct_share=wilson_share(wrongly_correct, said_correct),
        said_wrong=len(pairs) - said_correct,
        wrongly_wrong=wrongly_wrong,
        wrongly_wrong_share=wilson_share(wrongly_wrong, len(pairs) - said_correct),
    )
