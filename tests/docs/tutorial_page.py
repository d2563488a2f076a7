"""Runs a tutorial as a reader would: saves its files, calls its commands, in the page's order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_SETS_UP = ("python3 -m venv", ". .venv", "pip install", "make ")
_IN_THIS_CODE = "from sentinel_sql.cli.main import run; run()"


@dataclass(frozen=True, kw_only=True)
class Fence:
    """A block of code of a page: `title` is the file to save it as, or None."""

    language: str
    title: str | None
    text: str


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What the commands of a block printed, and what the page says that they print."""

    commands: str
    printed: str
    on_page: str | None


def fences(page: Path) -> list[Fence]:
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [Fence(language=word, title=title or None, text=text) for word, title, text in found]


def run_page(
    page: Path, folder: Path, *, replaced: Mapping[str, str] | None = None
) -> Iterator[Printed]:
    """Run all blocks in order, beginning in the checkout's copy `folder`; yield what is printed.

    Args:
        page: of Markdown.
        folder: a folder to work in; `examples/…` of the checkout is found from there.
        replaced: texts of the page that stand for something that a test has to provide.
    """
    place = folder
    (folder / "examples").symlink_to(ROOT / "examples")
    blocks = fences(page)
    for number, fence in enumerate(blocks):
        text = fence.text
        for old, new in (replaced or {}).items():
            text = text.replace(old, new)
        if fence.title:
            (place / fence.title).write_text(text, encoding="utf-8")
        elif fence.language == "sh":
            printed = ""
            for command in _commands(text):
                if command.startswith("cd "):
                    place /= command.removeprefix("cd ")
                elif not command.startswith(_SETS_UP):
                    printed += _call(command, place)
            after = blocks[number + 1] if number + 1 < len(blocks) else None
            expected = after.text if after is not None and after.language == "text" else None
            yield Printed(commands=text, printed=printed, on_page=expected)


def without_figures(text: str) -> str:
    """Mask numbers and blanks: a page holds the form of what is printed, figures may move."""
    return " ".join(re.sub(r"[-+]?\d[\d.,]*|\d+(?= )", "#", text).split())


def _commands(text: str) -> list[str]:
    return [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def _call(command: str, place: Path) -> str:
    environment = {
        **os.environ,
        "COLUMNS": "80",
        "PYTHONPATH": str(ROOT / "src"),
        "SENTINEL_PYTHON": sys.executable,
    }
    shell = (
        f'sentinel() {{ "$SENTINEL_PYTHON" -c "{_IN_THIS_CODE}" "$@"; }}\n'
        'python() { "$SENTINEL_PYTHON" "$@"; }\n'
        f"{command}\n"
    )
    done = subprocess.run(
        ["sh", "-c", shell], cwd=place, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
