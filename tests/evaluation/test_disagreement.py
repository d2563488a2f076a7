from __future__ import annotations

import pytest

from sentinel_sql.errors import LabelsError
from sentinel_sql.evaluation.studies.judge_disagreement import (
    disagreement,
    disagreement_reasons,
    judges_in,
)
from sentinel_sql.labels.record import JudgeName, Label, LabelsHeader
from sentinel_sql.schema import Schema


def header(judge: JudgeName, mode: str = "ehrsql-2024", **more: str) -> LabelsHeader:
    told = {"database": "ward", "clock": "2100-12-31 23:59:00"} | more
    return LabelsHeader(judge=judge, mode=mode, schema=Schema(tables={}), **told)  # type: ignore[arg-type]


def labels(strict: str, correct: str, reason: str) -> dict[str, Label]:
    told = {"1": True, "0": False, "?": None}
    found = {}
    for n, (s, c) in enumerate(zip(strict, correct, strict=True)):
        found[f"q{n}"] = Label(
            question_id=f"q{n}", answerable=True, outcome="answered", strict=told[s],
            correct=told[c], reason="strict-match" if s == "1" else reason,
        )  # fmt: skip
    found["cap"] = Label(question_id="cap", answerable=True, outcome="cap", reason="cap")
    return found


RULES = (header("rules"), labels("1100000", "1111000", "extra-columns"))
LLM = (header("llm", model="m"), labels("1100000", "11001?0", "judged"))


def test_every_pair_of_judges_is_compared_with_the_strict_mode_as_a_judge() -> None:
    judges = judges_in([RULES, LLM])
    assert list(judges) == ["strict/ehrsql-2024", "rules/ehrsql-2024", "llm/ehrsql-2024/m"]
    rows = {(row.first, row.second): row for row in disagreement(judges).rows}
    assert len(rows) == 3
    row = rows["rules/ehrsql-2024", "llm/ehrsql-2024/m"]
    assert (row.answers, row.without_verdict) == (6, 1)
    assert (row.both_correct, row.only_first, row.only_second, row.both_wrong) == (2, 2, 1, 1)
    assert row.agreement == 0.5
    assert row.kappa == pytest.approx(0.0)
    strict = rows["strict/ehrsql-2024", "rules/ehrsql-2024"]
    assert (strict.answers, strict.only_first, strict.only_second) == (7, 0, 2)


def test_disagreement_has_reasons_and_an_example() -> None:
    rows = disagreement_reasons(judges_in([RULES, LLM])).rows
    found = {
        (r.first, r.first_reason, r.second, r.second_reason, r.answers, r.example) for r in rows
    }
    assert ("rules/ehrsql-2024", "extra-columns", "llm/ehrsql-2024/m", "judged", 2, "q2") in found
    assert ("llm/ehrsql-2024/m", "judged", "rules/ehrsql-2024", "extra-columns", 1, "q4") in found
    assert (
        "rules/ehrsql-2024", "extra-columns", "strict/ehrsql-2024", "strict-mismatch", 2, "q2"
    ) in found  # fmt: skip
    assert sum(r.answers for r in rows) == 2 + 1 + 2 + 1


def test_single_labels_file_is_compared_with_its_strict_mode() -> None:
    assert len(disagreement(judges_in([RULES])).rows) == 1
    assert list(judges_in([(header("strict"), RULES[1])])) == ["strict/ehrsql-2024"]


def test_labels_of_other_runs_are_refused() -> None:
    with pytest.raises(LabelsError, match="compare labels of the same runs"):
        judges_in([RULES, (header("llm", database="other"), LLM[1])])
    with pytest.raises(LabelsError, match="share no run"):
        judges_in([RULES, (header("llm", mode="ehrsql-v1"), {"x": LLM[1]["q0"]})])
    with pytest.raises(LabelsError, match="hold the judge strict/ehrsql-2024, and they differ"):
        judges_in([RULES, (header("rules"), labels("0000000", "0000000", "?"))])
