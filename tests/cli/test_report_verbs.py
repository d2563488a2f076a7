"""`sentinel report`, and `sentinel show` with its reasons and its page."""

from __future__ import annotations

import json
import re
import stat
import sys
from pathlib import Path

import pytest

from command_project import Project, Sentinel

pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")
pytest.importorskip("jinja2", reason="the report needs the extra 'report'")


def test_a_project_goes_from_runs_to_a_page(
    sentinel: Sentinel, evaluated: Path, tmp_path: Path
) -> None:
    assert stat.S_IMODE((evaluated / "views.jsonl").stat().st_mode) == 0o600
    done = sentinel("report", evaluated, "--out", tmp_path / "report", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert 0 < told["runs"] <= told["evaluated"]
    assert Path(told["page"]).read_text().startswith("<!doctype html>")
    done = sentinel("report", evaluated, "--out", tmp_path / "bare", "--no-runs", "--json")
    assert json.loads(done.out)["runs"] == 0
    done = sentinel("report", evaluated, "--out", tmp_path / "bare", "--no-runs")
    assert done.out.index("Open ") > done.out.index("bytes")
    assert f"0 of {told['evaluated']} shown one by one" in done.out
    page = tmp_path / "bare" / "report.html"
    assert f"Open{page}inabrowser." in "".join(done.out.split())


def test_a_folder_that_holds_no_evaluation_is_named(sentinel: Sentinel, tmp_path: Path) -> None:
    done = sentinel("report", tmp_path, "--out", tmp_path / "report")
    assert done.code == 2
    assert str(tmp_path) in done.err
    assert "sentinel evaluate" in done.err


@pytest.mark.parametrize("library", ["matplotlib", "jinja2"])
def test_without_its_extra_the_report_names_what_to_install(
    sentinel: Sentinel,
    evaluated: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
) -> None:
    from sentinel_sql.report.page import templating

    templating._environment.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)
    done = sentinel("report", evaluated, "--out", tmp_path / "report")
    assert done.code == 2
    assert re.search(r"extra report: (uv )?pip install .*\[report\]", done.err)


def test_a_run_is_shown_with_its_reasons_and_as_a_page(
    sentinel: Sentinel, fitted: Project, tmp_path: Path
) -> None:
    listed = json.loads(sentinel("show", fitted.store, "--json").out)["runs"]
    name = listed[0]["id"]
    page = tmp_path / "run.html"
    arguments = ("show", fitted.store, name, "--monitor", fitted.monitor, "--stakes", "4", "--why")
    told = json.loads(sentinel(*arguments, "--html", page, "--labels", fitted.labels, "--json").out)
    assert told["page"] == str(page)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    stop = next(state["t"] for state in told["states"] if state["decision"] != "continue")
    assert told["why"]["t"] == stop
    assert {near["asked"] for near in told["why"]["neighbours"]} >= {"answerable", "ends-correct"}
    assert set(told["why"]["contributions"]) == {"answerability", "correctness"}
    shown = sentinel(*arguments).out
    assert max(map(len, shown.splitlines())) <= 80
    for near in told["why"]["neighbours"]:
        assert " ".join(near["words"].split()) in " ".join(shown.split())


def test_a_page_that_cannot_be_written_is_one_line(
    sentinel: Sentinel, fitted: Project, tmp_path: Path
) -> None:
    name = json.loads(sentinel("show", fitted.store, "--json").out)["runs"][0]["id"]
    done = sentinel(
        *("show", fitted.store, name, "--monitor", fitted.monitor),
        *("--html", tmp_path / "absent" / "run.html"),
    )
    assert done.code == 2
    assert "can't be written" in done.err
