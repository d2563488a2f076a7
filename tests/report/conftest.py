"""A real evaluation on disk with its sample of runs, its report, and a browser to open it in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from made_once import made_once
from report_world import Known, make_known
from sentinel_sql.evaluation_store.folder import save
from sentinel_sql.pipeline.run_views import sample
from sentinel_sql.storage.checksums import sealed


@pytest.fixture(scope="session")
def known() -> Known:
    """A monitor fitted on made-up runs, and its evaluation; some runs say sneaky things."""
    return make_known()


@pytest.fixture(scope="session")
def evaluation_folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The evaluation as `sentinel evaluate --out` writes it."""

    def make(folder: Path) -> None:
        known: Known = request.getfixturevalue("known")
        views = sample(known.evaluation, known.monitor, known.runs, known.labels)
        save(replace(known.evaluation, views=tuple(views)), folder)

    return made_once(tmp_path_factory, "first_evaluation", make)


@pytest.fixture(scope="session")
def another(evaluation_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evaluation of another agent, made of the first one's."""

    def make(folder: Path) -> None:
        shutil.copytree(evaluation_folder, folder)
        document = json.loads((folder / "evaluation.json").read_text())
        document["monitor"]["agent"] = "react | other/model | - | 6 | 0.0"
        (folder / "evaluation.json").write_text(json.dumps(sealed(document)))

    return made_once(tmp_path_factory, "second_evaluation", make)


@pytest.fixture(scope="session")
def report_folder(evaluation_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the first agent alone."""
    pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")
    from sentinel_sql.report.write import write_report

    return made_once(
        tmp_path_factory, "one_report", lambda folder: write_report([evaluation_folder], folder)
    )


@pytest.fixture(scope="session")
def both_folder(
    evaluation_folder: Path, another: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The report of both agents."""
    pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")
    from sentinel_sql.report.write import write_report

    return made_once(
        tmp_path_factory,
        "both_report",
        lambda folder: write_report([evaluation_folder, another], folder),
    )


FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The machine's own Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright isn't installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield started
        started.close()


@dataclass
class Opened:
    """A page in the browser, and what went wrong on it."""

    page: Any
    faults: list[str]
    requests: list[str]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open a file in a fresh window; at the end no fault and no request may have been seen."""
    windows = []

    def opened(file: Path, **options: Any) -> Opened:
        page = browser.new_page(**options)
        made = Opened(page=page, faults=[], requests=[])
        page.on("console", lambda said: made.faults.append(said.text))
        page.on("pageerror", lambda error: made.faults.append(str(error)))
        page.on("request", lambda request: made.requests.append(request.url))
        page.goto(file.resolve().as_uri())
        windows.append((made, file))
        return made

    yield opened
    for made, file in windows:
        made.page.close()
        assert made.faults == []
        assert made.requests == [file.resolve().as_uri()]
