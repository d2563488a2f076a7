"""The report in a real browser: it moves as the table says, and anyone can use it anywhere."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from report_world import SNEAKY, Known
from sentinel_sql.decision.policy import KINDS, REASONS, policy
from sentinel_sql.monitor.thresholds import Thresholds

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
WIDTHS = (380, 1600)


def stakes_table(folder: Path) -> list[dict[str, str]]:
    [file] = folder.glob("*/tables/stakes.csv")
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def move_to(page: Any, at: int) -> None:
    page.evaluate(
        "at => { const s = document.getElementById('stakes'); s.value = at;"
        " s.dispatchEvent(new Event('input', {bubbles: true})); }",
        at,
    )


def of_hundred(row: Mapping[str, str], column: str) -> int:
    """Return the count of 100 questions that a row of the stakes table gives."""
    answered = int(row["right"]) + int(row["wrong"])
    runs = round(answered / float(row["coverage"])) if answered else 0
    right, wrong = (
        round(100 * int(row[name]) / runs) if runs else 0 for name in ("right", "wrong")
    )
    return {"right": right, "wrong": wrong, "none": 100 - right - wrong}[column.split("_")[0]]


def test_slider_sets_every_figure_to_the_value_of_the_csv(
    report_folder: Path, open_page: Any
) -> None:
    rows = stakes_table(report_folder)
    page = open_page(report_folder / "report.html").page
    assert page.evaluate("document.getElementById('stakes').max") == str(len(rows) - 1)
    seen = set()
    for at in range(0, len(rows), 6):
        move_to(page, at)
        shown = page.evaluate(
            "[...document.querySelectorAll('[data-live]')].map(e => [e.dataset.live, "
            "e.dataset.value, e.textContent])"
        )
        assert shown
        for name, value, text in shown:
            column = name.split("/")[1]
            if column.endswith("_of_100"):
                assert (value, text) == (str(of_hundred(rows[at], column)), value)
                continue
            told = rows[at][column]
            assert (told == "") == (value == "")
            if told:
                assert float(value) == float(told)
                number = float(re.sub(r"[ %+]", "", text.replace("−", "-")))
                scale = 100 if "%" in text else 1
                assert number == pytest.approx(
                    scale * float(told), rel=6e-4, abs=0.51 * scale / 100
                )
            else:
                assert text == "–"
            seen.add(column)
    assert seen >= {"coverage", "accuracy", "rs_full", "bar", "rs_vanilla", "rs_abstain", "kept"}
    assert seen >= {"accuracy_counted_low", "accuracy_counted_high"}


def test_first_screen_is_equal_without_scripts(
    report_folder: Path, open_page: Any, browser: Any
) -> None:
    page = open_page(report_folder / "report.html").page
    words = "[...document.querySelectorAll('[data-live], [data-standing]')].map(e => e.textContent)"
    scripted = page.evaluate(words)
    html = (report_folder / "report.html").read_text()
    written = re.findall(r"<(?:span|strong|td) data-(?:live|standing)=[^>]*>([^<]*)<", html)
    assert written == scripted


def test_run_stops_where_the_policy_stops_it_at_every_stakes(
    report_folder: Path, open_page: Any, known: Known
) -> None:
    scores = known.evaluation.evidence.recorded
    thresholds = Thresholds.from_json(known.monitor.thresholds)
    calibration = known.monitor.calibration
    page = open_page(report_folder / "report.html").page
    data = json.loads(page.evaluate("document.getElementById('data').textContent"))
    where = {name: i for i, name in enumerate(scores.question_ids)}
    assert len(data["views"]) >= 40
    for system, early in (("full", False), ("early-stop", True)):
        page.evaluate("on => { document.getElementById('early').checked = on; }", early)
        for at in range(0, len(data["levels"]), 9):
            rules = policy(
                system, thresholds=thresholds, stakes=data["levels"][at], calibration=calibration
            )
            verdicts = rules.replay(scores)
            decided = page.evaluate(
                "([at, early]) => data.views.map(v => { const d = decide(v, data.agents[v.agent],"
                " at, early); return [d.kind, d.reason, d.t]; })",
                [at, early],
            )
            for view, (kind, reason, t) in zip(data["views"], decided, strict=True):
                i = where[view["id"]]
                assert kind == KINDS[verdicts.kinds[i]]
                assert reason == REASONS[verdicts.reasons[i]]
                assert t == int(verdicts.t[i])


def test_shown_stop_moves_with_the_slider(report_folder: Path, open_page: Any) -> None:
    page = open_page(report_folder / "report.html").page
    kinds = set()
    for at in (0, 20, 40, 60):
        move_to(page, at)
        for index in range(0, page.evaluate("data.views.length"), 7):
            page.evaluate("i => showRun(i)", index)
            shown = page.locator(".stop").get_attribute("data-kind")
            decided = page.evaluate(
                "([i, at]) => decide(data.views[i], data.agents[0], at, false).kind", [index, at]
            )
            assert shown == decided
            kinds.add(shown)
            later = page.locator(".state.later").count()
            after = page.evaluate("i => data.views[i].states.length", index)
            assert later == after - 1 - int(page.locator(".stop").get_attribute("data-t"))
    assert len(kinds) >= 2


def test_text_of_a_run_is_never_parsed_as_markup(report_folder: Path, open_page: Any) -> None:
    page = open_page(report_folder / "report.html").page
    page.evaluate("() => showRun(data.views.findIndex(v => v.states.length > 1))")
    text = page.evaluate("document.getElementById('run').textContent")
    assert SNEAKY in text
    assert page.title() == "Can this agent be believed?"
    assert page.locator("#run img, #run b").count() == 0


def test_list_can_be_filtered_by_mistakes_of_the_guard(report_folder: Path, open_page: Any) -> None:
    page = open_page(report_folder / "report.html").page
    everything = page.locator("#run-list button").count()
    page.select_option("#filter", "mistake")
    mistakes = page.locator("#run-list button")
    assert 0 < mistakes.count() < everything
    assert all("✗" in text for text in mistakes.all_inner_texts())
    assert page.locator("#run-count").inner_text() == f"{mistakes.count()} of {everything} runs"


def test_most_confident_mistake_comes_first_at_every_stakes(
    report_folder: Path, open_page: Any
) -> None:
    page = open_page(report_folder / "report.html").page
    for at in (10, 30, 50):
        move_to(page, at)
        told = page.locator("#run-list .says").all_inner_texts()
        wrong = [float(text.split("(")[1].split(")")[0]) for text in told if "✗ deliver" in text]
        assert wrong == sorted(wrong, reverse=True)
        faults = ["✗" in text for text in told]
        assert faults == sorted(faults, reverse=True)
        assert ["✗ deliver" in text for text in told[: len(wrong)]] == [True] * len(wrong)


def test_keyboard_reaches_and_moves_slider_and_runs(report_folder: Path, open_page: Any) -> None:
    page = open_page(report_folder / "report.html", viewport={"width": 1280, "height": 900}).page
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "document.activeElement.id || document.activeElement.dataset.view || "
            "document.activeElement.tagName"
        )
        reached.append(name)
        if name == "stakes":
            before = page.locator("#stakes-said").inner_text()
            page.keyboard.press("ArrowRight")
            assert page.locator("#stakes-said").inner_text() != before
        if name.isdigit() and name != page.locator("#run").get_attribute("data-shown"):
            page.keyboard.press("Enter")
            assert page.locator("#run").get_attribute("data-shown") == name
            break
    assert reached[0] == "A"  # the way past the first screen
    assert {"stakes", "early", "filter"} <= set(reached)
    assert reached[-1].isdigit()


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overflows_the_page(
    report_folder: Path, both_folder: Path, open_page: Any, width: int
) -> None:
    for folder in (report_folder, both_folder):
        page = open_page(folder / "report.html", viewport={"width": width, "height": 900}).page
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        small = page.evaluate(
            "[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect())"
            ".filter(b => b.width && (b.left < 0 || b.right > innerWidth)).length"
        )
        assert small == 0


def grave_faults(page: Any, *, contrast: bool) -> list[tuple[str, str]]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe isn't installed")
    options = {
        "resultTypes": ["violations"],
        "rules": {"color-contrast": {"enabled": contrast}},
        "elementRef": False,
    }
    found = axe.Axe().run(page, options=options).response["violations"]
    return [
        (fault["id"], fault["nodes"][0]["html"][:200])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_on_the_page_as_it_opens(
    report_folder: Path, open_page: Any, scheme: str
) -> None:
    page = open_page(report_folder / "report.html", color_scheme=scheme).page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = false; })")
    assert grave_faults(page, contrast=True) == []


def test_axe_finds_no_serious_fault_with_everything_unfolded(
    both_folder: Path, open_page: Any
) -> None:
    page = open_page(both_folder / "report.html", viewport={"width": 380, "height": 900}).page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert grave_faults(page, contrast=False) == []


def test_run_page_opens_at_its_stakes(known: Known, open_page: Any, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    from sentinel_sql.pipeline.run_views import view
    from sentinel_sql.report.page.run_page import run_page

    run = max(known.runs, key=lambda run: len(run.steps))
    file = tmp_path / "run.html"
    file.write_text(run_page(view(run, known.monitor), known.monitor, stakes=2.5, early_stop=True))
    page = open_page(file, viewport={"width": 380, "height": 800}).page
    assert "λ = 2.5" in page.locator("#stakes-said").inner_text()
    assert page.locator("#early").is_checked()
    assert page.locator(".state").count() == len(run.steps) + 1
    assert page.locator(".gauge").count() == 2 * (len(run.steps) + 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
