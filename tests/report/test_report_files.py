"""What a report writes: numbers of the CSV beside it, and what can't be said is said to be so."""

from __future__ import annotations

import csv
import json
import re
import shutil
import stat
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from report_world import SNEAKY, Known
from score_cases import random_scores
from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation_store.folder import save
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.tables import write
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.report.page.sections import SECTIONS

pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")
pytest.importorskip("jinja2", reason="the report needs the extra 'report'")


class Grids(HTMLParser):
    """Reads every table of a page: its caption, then its rows of texts."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._caption: list[str] = []
        self._rows: list[list[str]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self._caption, self._rows = [], []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td", "caption"):
            self._cell = []

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self._caption, self._cell = self._cell or [], None
        elif tag in ("th", "td"):
            self._rows[-1].append("".join(self._cell or []).strip())
            self._cell = None
        elif tag == "table":
            self.tables["".join(self._caption)] = self._rows


def grids(folder: Path) -> dict[str, list[list[str]]]:
    reader = Grids()
    reader.feed((folder / "report.html").read_text())
    return reader.tables


def numbers(text: str) -> list[float]:
    scale = 0.01 if "%" in text else 1.0
    found = re.findall(r"[+−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", text)
    return [scale * float(each.replace("−", "-").replace(",", "")) for each in found]


@pytest.mark.parametrize("table", ["ladder", "operating", "heads", "step_economics", "reliability"])
def test_page_table_equals_its_csv(report_folder: Path, table: str) -> None:
    [file] = report_folder.glob(f"a1*/tables/{table}.csv")
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    [contents] = report_folder.glob("a1*/tables/contents.csv")
    with contents.open(newline="") as lines:
        [title] = [row["title"] for row in csv.DictReader(lines) if row["table"] == table]
    [shown] = [grid for caption, grid in grids(report_folder).items() if caption.startswith(title)]
    columns = [name for name in rows[0] if not re.search(r"_(low|high)$", name)]
    assert len(shown) == len(rows) + 1
    assert len(shown[0]) == len(columns)
    checked = 0
    for row, cells in zip(rows, shown[1:], strict=True):
        for column, cell in zip(columns, cells, strict=True):
            told = [row[column]]
            if row.get(f"{column}_low"):
                told += [row[f"{column}_low"], row[f"{column}_high"]]
            if told == [""]:
                assert cell == "–"
                continue
            try:
                values = [float(each) for each in told]
            except ValueError:
                assert cell in (told[0], {"true": "yes", "false": "no"}.get(told[0]))
                continue
            assert numbers(cell) == pytest.approx(values, abs=6e-4, rel=6e-4)
            checked += 1
    assert checked > len(rows)


def test_report_folder_is_complete_and_private(
    report_folder: Path,
) -> None:
    assert stat.S_IMODE((report_folder / "report.html").stat().st_mode) == 0o600
    figures = {path.name for path in (report_folder / "figures").iterdir()}
    for kind in ("svg", "png"):
        assert sum(name.endswith(f"-stakes.{kind}") for name in figures) == 1
        assert sum(name.endswith(f"-risk_coverage.{kind}") for name in figures) == 1
    html = (report_folder / "report.html").read_text()
    for link in set(re.findall(r'href="([^"#]+)"', html)):
        assert (report_folder / link).is_file()
    assert len(list(report_folder.glob("a*/tables/*.csv"))) >= 8
    assert len(html.encode()) < 5_000_000


def test_page_names_no_other_host_or_folder(both_folder: Path) -> None:
    html = (both_folder / "report.html").read_text()
    outside = set(
        re.findall(r"(?:src|href|action|url)\s*[=(]\s*[\"']?(?:https?:)?//[^\"')\s]+", html)
    )
    assert outside == set()
    assert "default-src 'none'" in html
    assert not re.search(r"\son\w+=", re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL))


def test_equal_evaluations_give_equal_reports(
    report_folder: Path, evaluation_folder: Path, tmp_path: Path
) -> None:
    from sentinel_sql.report.write import write_report

    write_report([evaluation_folder], tmp_path / "again")
    for path in sorted(report_folder.rglob("*")):
        if path.is_file():
            again = tmp_path / "again" / path.relative_to(report_folder)
            assert again.read_bytes() == path.read_bytes(), path.name


def test_report_without_runs_holds_no_text_of_runs(
    known: Known, evaluation_folder: Path, report_folder: Path, tmp_path: Path
) -> None:
    from sentinel_sql.report.write import write_report

    written = write_report([evaluation_folder], tmp_path, runs=False)
    html = written.page.read_text()
    said = {run.question.text for run in known.runs} | {
        step.sql for run in known.runs for step in run.steps if step.sql
    }
    assert written.runs == 0
    assert not any(text in html for text in said)
    assert SNEAKY[10:30] not in html
    assert "This report was made without single runs" in html
    assert any(text in (report_folder / "report.html").read_text() for text in said)


def test_unmeasured_section_names_its_command(report_folder: Path, evaluation_folder: Path) -> None:
    html = (report_folder / "report.html").read_text()
    there = {path.stem for path in (evaluation_folder / "tables").glob("*.csv")}
    missing = [section for section in SECTIONS if not there & set(section.tables)]
    assert {"rivals", "leakage", "features", "seeds", "labels"} <= {
        section.name for section in missing
    }
    for section in missing:
        assert f"{section.title} (<code>{section.command}</code>)" in html
        assert f'id="{section.name}"' not in html  # one line, no section
    assert html.count("Not measured</h2>") == 1


def test_table_added_by_another_command_is_shown(
    evaluation_folder: Path, known: Known, tmp_path: Path
) -> None:
    from sentinel_sql.report.write import write_report

    folder = tmp_path / "evaluation"
    shutil.copytree(evaluation_folder, folder)
    made = known.evaluation.exhibits["heads"]
    write(folder, {"rivals": replace(made, title="Rivals, made up"), "novelty": replace(made)})
    write_report([folder], tmp_path / "report")
    html = (tmp_path / "report" / "report.html").read_text()
    assert "Rivals, made up" in html
    assert "More tables" in html
    assert "sentinel evaluate … --rivals" not in html


def test_paper_agents_are_shown_and_marked(both_folder: Path) -> None:
    tables = grids(both_folder)
    [across] = [grid for caption, grid in tables.items() if caption.startswith("Across agents")]
    assert "Comparison of the agents" in (both_folder / "report.html").read_text()
    names = [row[0] for row in across[1:]]
    assert {"scripted", "model"} <= set(names)
    theirs = [name for name in names if name not in ("scripted", "model")]
    assert len(theirs) == 15
    assert all(name.endswith("(paper)") for name in theirs)
    [row] = [row for row in across if row[:2] == ["GPT-4o-mini (paper)", "4"]]
    assert "−1.340" in row
    assert "+0.080" in row


def test_single_agent_is_compared_with_the_paper_only(report_folder: Path) -> None:
    html = (report_folder / "report.html").read_text()
    assert "Comparison of the agents" not in html
    assert "the paper&#39;s agents for orientation" in html


def test_page_says_runs_if_it_counts_runs(report_folder: Path, known: Known) -> None:
    html = (report_folder / "report.html").read_text()
    runs = len(known.evaluation.evidence.scores.question_ids)
    assert f"pool: {runs} runs" in html
    assert f"{runs} questions" not in html


def changed(known: Known, scores: PrefixScores) -> Evaluation:
    before = known.evaluation
    evidence = Evidence.gather(scores, before.thresholds, calibration=before.evidence.calibration)
    exhibits: dict[str, Exhibit[Any]] = {name: make(evidence) for name, make in EXHIBITS.items()}
    return replace(before, evidence=evidence, exhibits=exhibits)


def degenerate(kind: str) -> PrefixScores:
    scores = random_scores(11, 40)
    nobody, everybody = np.zeros(40, np.bool_), np.ones(40, np.bool_)
    unknown = np.full(40, np.nan)
    silent = {"correct": nobody, "clean": nobody, "answered": nobody}
    silent |= dict.fromkeys(("delivery", "delivery_score", "p_unanswerable"), unknown)
    return replace(
        scores,
        **{
            "right": {"correct": scores.answered, "answerable": everybody},
            "wrong": {"correct": nobody}
            | dict.fromkeys(("tokens", "seconds"), np.full(len(scores.tokens), np.nan)),
            "answerable": {"answerable": everybody},
            "silent": silent,
        }[kind],
    )


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("right", "Every answer was right, so it isn&#39;t known"),
        ("wrong", "No answer was right, so it isn&#39;t known"),
        (
            "answerable",
            "No question here is unanswerable, so the effect of refusing isn&#39;t known",
        ),
        ("silent", "The agent answered nothing, so the quality of its answers isn&#39;t known."),
    ],
)
def test_report_of_a_poor_pool_states_what_is_not_known(
    known: Known, tmp_path: Path, kind: str, said: str
) -> None:
    from sentinel_sql.report.write import write_report

    save(changed(known, degenerate(kind)), tmp_path / "evaluation")
    written = write_report([tmp_path / "evaluation"], tmp_path / "report")
    html = written.page.read_text()
    assert said in html
    assert "40 runs are few" in html
    assert "holds no single runs" in html
    told_tokens = "The agent reported no token counts, so no costs in tokens are known."
    assert (told_tokens in html) == (kind == "wrong")
    body = re.sub(r"<(svg|style|script).*?</\1>", "", html, flags=re.DOTALL)
    assert not re.search(r">\s*(nan|None|null|inf)\s*<", body, re.IGNORECASE)


@pytest.mark.parametrize("what", ["nothing", "json", "format", "views", "twice"])
def test_unreadable_evaluation_is_named_in_one_line(
    evaluation_folder: Path, tmp_path: Path, what: str
) -> None:
    from sentinel_sql.report.write import write_report

    folder = tmp_path / "evaluation"
    if what == "nothing":
        folder.mkdir()
    else:
        shutil.copytree(evaluation_folder, folder)
    if what == "json":
        (folder / "evaluation.json").write_text("{")
    if what == "format":
        (folder / "evaluation.json").write_text(json.dumps({"format": "other"}))
    if what == "views":
        (folder / "views.jsonl").write_text('{"format": "other"}\n')
    folders = [folder, folder] if what == "twice" else [folder]
    with pytest.raises(InputError) as caught:
        write_report(folders, tmp_path / "report")
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_tables_of_one_command_are_in_one_section() -> None:
    together = {"feature_screen", "survivor_matrix", "family_knockouts"}
    (features,) = [section for section in SECTIONS if section.name == "features"]
    assert set(features.tables) == together


@pytest.mark.parametrize(
    ("places", "told"),
    [
        (("demo/evaluation", "demo-plain/evaluation"), ("demo", "demo-plain")),
        (("one/guided", "one/plain"), ("guided", "plain")),
        (("a/b/evaluation", "b/evaluation", "c/evaluation"), ("a/b", "b", "c")),
    ],
)
def test_agents_of_one_model_are_named_by_their_folders(
    evaluation_folder: Path, tmp_path: Path, places: tuple[str, ...], told: tuple[str, ...]
) -> None:
    from sentinel_sql.report.evaluated_agents import read_agents

    folders = [shutil.copytree(evaluation_folder, tmp_path / place) for place in places]
    names = [agent.name for agent in read_agents(folders)]
    assert len(set(names)) == len(names)
    for name, place in zip(names, told, strict=True):
        assert place.rpartition("/")[2] in name
