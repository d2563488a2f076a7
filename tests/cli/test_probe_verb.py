"""`sentinel collect --probes` and `sentinel probe` bring the same probes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from command_project import Project, Sentinel, scripted_agent
from sentinel_sql.database.probes import probe as probes_module
from sentinel_sql.database.probes.probe import PROBE_LIMITS, Prober
from sentinel_sql.testing import CLOCK, ScriptedEndpoint
from sentinel_sql.trajectory.record import Probes
from sentinel_sql.trajectory.store import read_trajectories


def probes(store: Path) -> dict[str, list[Probes | None]]:
    return {
        run.question.id: [step.observation.probes for step in run.steps]
        for run in read_trajectories(store)
    }


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give probes time enough on any machine, so that what they find doesn't hang on it."""
    monkeypatch.setattr(probes_module, "PROBE_LIMITS", replace(PROBE_LIMITS, seconds=60.0))
    monkeypatch.setitem(Prober.__init__.__kwdefaults__, "seconds", 600.0)


def test_probing_at_once_or_later_finds_the_same(
    project: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    with ScriptedEndpoint(scripted_agent) as endpoint:
        for store, more in ((tmp_path / "plain", ()), (tmp_path / "probed", ("--probes",))):
            call = sentinel(
                *("collect", "--questions", project.questions, "--database", project.database),
                *("--base-url", endpoint.url, "--model", "scripted", "--store", store),
                *("--limit", 30, "--workers", 4, "--clock", CLOCK, "--json", *more),
            )
            assert call.code == 0, call.err
    arguments = ("probe", tmp_path / "plain", "--database", project.database)
    later = sentinel(*arguments, "--store", tmp_path / "later", "--json")
    assert later.code == 0, later.err
    assert later.document["probed"] == 30
    assert probes(tmp_path / "later") == probes(tmp_path / "probed")
    assert not any(any(found) for found in probes(tmp_path / "plain").values())
    shown = sentinel(*arguments, "--store", tmp_path / "later")
    assert "there before" in shown.out
    same = sentinel(*arguments, "--store", tmp_path / "plain")
    assert (same.code, "give a new store" in same.err) == (2, True)


def test_a_monitor_fitted_on_probed_runs_has_its_live_queries_probed(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    probed = tmp_path / "probed"
    sentinel("probe", fitted.store, "--database", fitted.database, "--store", probed)
    made = sentinel(
        *("fit", probed, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--out", tmp_path / "monitor"),
    )
    assert (made.code, "probes of the database" in made.out) == (0, True), made.err
    with ScriptedEndpoint(scripted_agent) as endpoint:
        call = sentinel(
            *("ask", "how many stays had heparin", "--database", fitted.database),
            *("--monitor", tmp_path / "monitor", "--base-url", endpoint.url),
            *("--model", "scripted", "--json"),
        )
    assert call.code == 0, call.err
    answer = call.document["answer"]
    assert answer["status"] == "judged", answer
    evaluated = (
        "--pools",
        fitted.pools,
        "--labels",
        fitted.labels,
        "--monitor",
        tmp_path / "monitor",
    )
    assert sentinel("evaluate", probed, *evaluated).code == 0
    without = sentinel("evaluate", fitted.store, *evaluated)
    assert (without.code, "add them with `sentinel probe`" in without.err) == (2, True)
