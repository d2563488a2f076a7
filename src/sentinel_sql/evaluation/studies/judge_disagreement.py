"""The disagreement of judges: labels of the same runs by strict modes, rules and LLM, in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

from sentinel_sql.errors import LabelsError
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.rater_agreement import kappa
from sentinel_sql.labels.record import Label, LabelsHeader

LabelsByJudge = Mapping[str, Mapping[str, Label]]
"""Judges' names in order, each with its labels by run id."""


@dataclass(frozen=True, kw_only=True)
class DisagreementRow:
    """Two judges over the answers to answerable questions on which both gave a verdict."""

    first: Annotated[str, Column("one judge: its name, equivalence mode and model")]
    second: Annotated[str, Column("the other judge")]
    answers: Annotated[int, Column("answers on which both gave a verdict")]
    both_correct: Annotated[int, Column("answers that both call correct")]
    only_first: Annotated[int, Column("answers that only the first calls correct")]
    only_second: Annotated[int, Column("answers that only the second calls correct")]
    both_wrong: Annotated[int, Column("answers that both call wrong")]
    agreement: Annotated[
        float | None, Column("share of the answers with equal verdicts", unit="share", within=SHARE)
    ]
    kappa: Annotated[
        float | None, Column("Cohen's κ: agreement beyond what chance gives", within="[−1, 1]")
    ]
    without_verdict: Annotated[
        int, Column("answers that at least one of the two left without a verdict")
    ]


@dataclass(frozen=True, kw_only=True)
class DisagreementReasonRow:
    """Why two judges disagree: the pairs of reasons they gave, the most frequent first."""

    first: Annotated[str, Column("the judge that calls these answers correct")]
    first_reason: Annotated[str, Column("its reason, a code of docs/reference/labels.md")]
    second: Annotated[str, Column("the judge that calls them wrong")]
    second_reason: Annotated[str, Column("its reason, a code of docs/reference/labels.md")]
    answers: Annotated[int, Column("how many answers")]
    example: Annotated[str, Column("id of one such run, the first by name")]


def disagreement(labels: LabelsByJudge) -> Exhibit[DisagreementRow]:
    """Compare each pair of judges over the answers that both judged."""
    return Exhibit(
        title="Where judges disagree",
        note="Answers to answerable questions on which both judges gave a verdict.",
        row=DisagreementRow,
        rows=tuple(
            _compare(first, labels[first], second, labels[second])
            for first, second in combinations(labels, 2)
        ),
    )


def disagreement_reasons(labels: LabelsByJudge) -> Exhibit[DisagreementReasonRow]:
    """Count the reasons of each pair of judges where their verdicts differ."""
    rows = []
    for pair in combinations(labels, 2):
        for yes, no in (pair, pair[::-1]):
            found: Counter[tuple[str, str]] = Counter()
            example: dict[tuple[str, str], str] = {}
            for run_id in sorted(_judged_by_both(labels[yes], labels[no])):
                a, b = labels[yes][run_id], labels[no][run_id]
                if a.correct and not b.correct:
                    found[a.reason, b.reason] += 1
                    example.setdefault((a.reason, b.reason), run_id)
            rows += [
                DisagreementReasonRow(
                    first=yes,
                    first_reason=reasons[0],
                    second=no,
                    second_reason=reasons[1],
                    answers=count,
                    example=example[reasons],
                )
                for reasons, count in found.most_common()
            ]
    return Exhibit(
        title="Why judges disagree",
        note="Reasons of the judge that calls an answer correct and of the one that doesn't.",
        row=DisagreementReasonRow,
        rows=tuple(rows),
    )


def judges_in(
    files: Sequence[tuple[LabelsHeader, Mapping[str, Label]]],
) -> dict[str, dict[str, Label]]:
    """Return the judges of some labels files by name, in the order of the files.

    Every file also has the verdicts of the strict comparison, which count as a further judge.

    Raises:
        LabelsError: the files are of different databases, share no run, give different outcomes
            of a run, or hold different verdicts of one judge. Clocks may differ: see
            `clocks_note`.
    """
    first = files[0][0]
    judges: dict[str, dict[str, Label]] = {}
    for header, labels in files:
        if header.database != first.database:
            raise LabelsError(
                f"the labels are of {first.database} and of {header.database}: compare labels of "
                "the same runs"
            )
        for run in labels.keys() & files[0][1].keys():
            if labels[run].outcome != files[0][1][run].outcome:
                raise LabelsError(
                    f"run {run} ended as {files[0][1][run].outcome} in one of the labels files and "
                    f"as {labels[run].outcome} in another: compare labels of the same runs"
                )
        found: dict[str, dict[str, Label]] = {}
        if header.judge != "ratings":  # nobody compared a rated answer with a gold one
            strict = {run: _strict(label) for run, label in labels.items()}
            found[f"strict/{header.mode}"] = strict
        if header.judge != "strict":
            mode = None if header.judge == "ratings" else header.mode
            name = "/".join(filter(None, (header.judge, mode, header.model)))
            found[name] = dict(labels)
        for name, verdicts in found.items():
            if judges.setdefault(name, verdicts) != verdicts:
                raise LabelsError(
                    f"two of the labels files hold the judge {name}, and they differ: "
                    + (
                        "name one of them, or label the same store"
                        if header.clock == first.clock
                        else "they were made at different clocks, so label both with one `--clock`"
                    )
                )
    if not set.intersection(*(set(labels) for _, labels in files)):
        raise LabelsError("the labels files share no run: compare labels of the same runs")
    return judges


def clocks_note(headers: Iterable[LabelsHeader]) -> str | None:
    """Return a note if labels were made at different clocks, else None.

    A database without its own clock is labelled at the machine's time, which changes between two
    labellings. Only answers that use the current time can differ for that reason.
    """
    clocks = sorted({header.clock for header in headers})
    if len(clocks) < 2:
        return None
    return (
        f"the labels were made at different clocks ({', '.join(clocks)}): on queries that use the "
        "current time, judges may differ for that reason alone; label all with one `--clock`"
    )


def _strict(label: Label) -> Label:
    if label.strict is None:
        return label
    failed = label.reason in ("answer-error", "answer-refused")
    reason = "strict-match" if label.strict else label.reason if failed else "strict-mismatch"
    return label.model_copy(
        update={"correct": label.strict, "reason": reason, "model": None, "prompt_sha256": None}
    )


def _compare(
    first: str, theirs: Mapping[str, Label], second: str, others: Mapping[str, Label]
) -> DisagreementRow:
    both = sorted(_judged_by_both(theirs, others))
    verdicts = Counter((theirs[run].correct, others[run].correct) for run in both)
    wanted = {
        run
        for labels in (theirs, others)
        for run, label in labels.items()
        if label.answerable and label.outcome == "answered"
    }
    agreeing = verdicts[True, True] + verdicts[False, False]
    return DisagreementRow(
        first=first,
        second=second,
        answers=len(both),
        both_correct=verdicts[True, True],
        only_first=verdicts[True, False],
        only_second=verdicts[False, True],
        both_wrong=verdicts[False, False],
        agreement=agreeing / len(both) if both else None,
        kappa=kappa(
            [theirs[run].correct is True for run in both],
            [others[run].correct is True for run in both],
        ),
        without_verdict=len(wanted) - len(both),
    )


def _judged_by_both(a: Mapping[str, Label], b: Mapping[str, Label]) -> set[str]:
    return {
        run
        for run in a.keys() & b.keys()
        if all(
            label.answerable and label.outcome == "answered" and label.correct is not None
            for label in (a[run], b[run])
        )
    }
