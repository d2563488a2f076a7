"""Verbs that keep tables in one folder don't take one another's away in silence."""

from __future__ import annotations

from pathlib import Path

from command_project import Project, Sentinel
from sentinel_sql.evaluation_store import tables
from sentinel_sql.testing import CLOCK


def test_an_evaluation_keeps_tables_of_its_labels_and_tells_of_others(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    out, other, third = tmp_path / "evaluation", tmp_path / "other", tmp_path / "third"
    where = (fitted.store, "--questions", fitted.questions, "--database", fitted.database)
    for file, how in ((other, ("--judge", "strict")), (third, ("--mode", "ehrsql-v1"))):
        assert sentinel("label", *where, "--clock", CLOCK, "--out", file, *how).code == 0

    def evaluated(labels: object) -> str:
        call = sentinel(
            *("evaluate", fitted.store, "--pools", fitted.pools, "--labels", labels, "--no-runs"),
            *("--monitor", fitted.monitor, "--pool", "calibration", "--out", out, "--json"),
        )
        assert call.code == 0, call.err
        return " ".join(call.err.split())

    def compared(*labels: object) -> tuple[int, str]:
        call = sentinel("audit", "disagreement", *labels, "--out", out, "--json")
        return call.code, call.err

    assert "no longer holds" not in evaluated(fitted.labels)
    assert compared(fitted.labels, other)[0] == 0
    assert "no longer holds" not in evaluated(fitted.labels)
    assert "disagreement" in tables.read(out)
    told = evaluated(third)
    assert f"{out} no longer holds disagreement, disagreement_reasons" in told
    assert "sentinel audit disagreement" in told
    assert "disagreement" not in tables.read(out)
    code, told = compared(fitted.labels, other)
    assert (code, "evaluation of another labels file" in told) == (2, True)
