"""The figures of record are what the demo prints today, on the bundled runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.renew_figures import PAGES, PARTS, counted, measured, renewed

TIMED = {"rivals"}
"""Parts that hold times, which differ from run to run."""


@pytest.mark.slow
def test_the_pages_say_what_the_demo_prints(tmp_path: Path) -> None:
    parts, counts = measured(tmp_path)
    steady = {name: printed for name, printed in parts.items() if name not in TIMED}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert text == renewed(text, steady, counts), "run `python tools/renew_figures.py`"


def test_each_printed_part_and_the_counts_stand_on_a_page() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    for name in PARTS:
        assert any(f"<!-- printed: {name} -->" in text for text in texts)
    assert all("<!-- counted -->" in text for text in texts)


def test_renewing_replaces_the_marked_block_and_no_other() -> None:
    page = "<!-- printed: demo -->\n\n```text\nold\n```\n\n```text\nkept\n```\n"
    assert renewed(page, {"demo": "new"}, "") == page.replace("old", "new")


def test_counts_are_of_a_hundred_questions(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    lines = ["system,stakes,coverage,right,wrong", "vanilla,1.0,0.5,75,25"]
    lines += [f"full,{stakes},0.25,50,0" for stakes in (1.0, 4.0, 9.0)]
    (tmp_path / "tables" / "operating.csv").write_text("\n".join(lines) + "\n")
    rows = counted(tmp_path).splitlines()[2:]
    assert [row.split("|")[2:5] for row in rows] == [[" 38 ", " 12 ", " 50 "]] + [
        [" 25 ", " 0 ", " 75 "]
    ] * 3
