"""`docs/architecture.md` is held to the tree: each room has its row, each row its room."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sentinel_sql"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("| room |")[2].partition("\n\n")[0].splitlines()[2:]
]
MOST_ENTRIES = 22
"""More than this is a drawer, not a room; the command's verbs are a list by nature."""
VAGUE = {"utils", "helpers", "common", "misc", "base", "core", "told", "telling", "carried"}


def rooms() -> set[str]:
    folders = {
        str(folder.relative_to(SOURCE))
        for folder in SOURCE.rglob("*")
        if (folder / "__init__.py").is_file()
    }
    modules = {path.stem for path in SOURCE.glob("*.py") if path.stem != "__init__"}
    return folders | modules


def named() -> list[str]:
    return [name for row in ROWS for name in re.findall(r"`([\w/]+)`", row[0])]


def test_every_room_has_one_row() -> None:
    described = set(named()) | set(re.findall(r"`(\w+)/`", " ".join(row[1] for row in ROWS)))
    nested = {room for room in rooms() if room.rpartition("/")[2] in described}
    assert sorted(rooms() - set(named()) - nested) == []


def test_every_row_is_a_room_with_the_files_it_points_at() -> None:
    assert len(named()) == len(set(named()))
    assert sorted(set(named()) - rooms()) == []
    for row in ROWS:
        folder = SOURCE / re.findall(r"`([\w/]+)`", row[0])[0]
        for file in re.findall(r"`([\w.]+\.py)`", row[2]):
            assert (folder / file).is_file() or (SOURCE / file).is_file(), (row[0], file)


def test_the_layers_on_the_page_are_the_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    block = PAGE.partition("1. **Layers.**")[2].partition("```\n")[2].partition("```")[0]
    drawn = [line.strip() for line in block.splitlines() if line.strip()]
    assert drawn == [layer.replace("sentinel_sql.", "") for layer in layers]


def test_no_room_is_a_drawer() -> None:
    for room in sorted(rooms()):
        folder = SOURCE / room
        if folder.is_dir() and room != "cli":
            entries = [p for p in folder.iterdir() if p.name not in {"__pycache__", "__init__.py"}]
            assert len(entries) <= MOST_ENTRIES, (room, len(entries))


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert sorted(p.stem for p in SOURCE.rglob("*.py") if p.stem in VAGUE) == []
