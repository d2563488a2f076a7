"""Writes what the demo prints today into the pages: `python tools/renew_figures.py`.

It runs `sentinel demo` on the bundled runs and the first command that the demo ends with, and both
on the recording whose agent's own model was asked, which takes some minutes. Then it renews each
block of a page that follows `<!-- printed: NAME -->`, and each table that follows `<!-- counted
-->`. Sentences that repeat a figure are the author's.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sentinel_sql.hospital.recordings import confidences, recording
from sentinel_sql.report.page.data import of_100

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (ROOT / "README.md", ROOT / "docs" / "explanation" / "what-was-measured.md")
ASKED: Final = "guided"
"""The recording with confidences of the agent's own model."""

PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "demo": ("heldout pool:", "Operating characteristics"),
    "evaluate": ("Operating characteristics", "Rivals over all answers"),
    "rivals": ("Rivals over all answers", "Leads of the delivery estimator"),
    "leads": ("Leads of the delivery estimator", ""),
}
"""Where each part of what `sentinel evaluate` prints begins, and where it ends."""

ALONE: Final = "the agent alone"
GUARDED: Final = {
    1.0: "the guarded agent, where a wrong answer costs as much as a right one earns (λ = 1)",
    4.0: "the guarded agent, where a wrong answer costs four right ones (λ = 4)",
    9.0: "the guarded agent, where a wrong answer costs nine right ones (λ = 9)",
}
_COMMAND: Final = "from sentinel_sql.cli.main import run; run()"


def measured(folder: Path) -> tuple[dict[str, str], str]:
    """Run the demo and the evaluation in a folder; return what they print, and the counts."""
    own = {ASKED: ("--runs", str(recording(ASKED))), "demo": ()}
    asked = {ASKED: ("--confidences", str(confidences(ASKED))), "demo": ()}
    parts = {}
    for place, wanted in ((ASKED, ("rivals", "leads")), ("demo", ("demo", "evaluate"))):
        _sentinel(folder, "demo", place, "--fast", *own[place])
        printed = _sentinel(
            folder,
            *("evaluate", f"{place}/runs.jsonl.gz", "--pools", f"{place}/pools.json"),
            *("--labels", f"{place}/labels.jsonl", "--monitor", f"{place}/monitor"),
            *("--rivals", *asked[place], "--out", f"{place}/evaluation"),
        )
        lines = "\n".join(line.rstrip() for line in printed.splitlines())
        for name in wanted:
            first, last = PARTS[name]
            start = lines.index(first)
            parts[name] = lines[start : lines.index(last, start) if last else len(lines)].strip()
    return parts, counted(folder / "demo" / "evaluation")


def counted(evaluation: Path) -> str:
    """Return a table of right, wrong and no answers of 100 questions, alone and guarded."""
    with (evaluation / "tables" / "operating.csv").open(encoding="utf-8") as file:
        rows = {(row["system"], float(row["stakes"])): row for row in csv.DictReader(file)}
    shown = ["| | right answers | wrong answers | no answer |", "|---|---|---|---|"]
    wanted = [("vanilla", 1.0, ALONE), *(("full", at, words) for at, words in GUARDED.items())]
    for system, at, words in wanted:
        row = rows[system, at]
        right, wrong = int(row["right"]), int(row["wrong"])
        answered = right + wrong
        size = round(answered / float(row["coverage"])) if answered else 0
        shown.append("| " + " | ".join([words, *map(str, of_100(right, wrong, size))]) + " |")
    return "\n".join(shown)


def renewed(text: str, parts: Mapping[str, str], counts: str) -> str:
    """Return a page with its blocks and counts renewed."""
    for name, printed in parts.items():
        block = re.compile(rf"(<!-- printed: {name} -->\n+```text\n).*?(\n```)", re.DOTALL)
        text = block.sub(lambda found, said=printed: found[1] + said + found[2], text)  # type: ignore[misc]
    return re.sub(r"(<!-- counted -->\n+)(?:\|.*\n)+", lambda found: found[1] + counts + "\n", text)


def _sentinel(folder: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, "-c", _COMMAND, *arguments],
        cwd=folder,
        env={"COLUMNS": "80", "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        encoding="utf-8",
    )
    return done.stdout


def main() -> None:
    """Renew the pages."""
    with tempfile.TemporaryDirectory() as folder:
        parts, counts = measured(Path(folder))
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8"), parts, counts), encoding="utf-8")


if __name__ == "__main__":
    main()
