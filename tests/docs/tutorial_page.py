"""Runs a tutorial as a reader would: saves its files, calls its commands, in the page's order."""

from __future__ import annotations

import contextlib
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import sentinel_sql.pipeline.evaluate
import sentinel_sql.pipeline.fit
import sentinel_sql.report.write  # noqa: F401 (each command would import it again)
from sentinel_sql.cli.main import run

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_SETS_UP = ("python3 -m venv", ". .venv", "pip install", "make ")
_SECONDS = 300


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


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a command ended."""

    code: int
    printed: str
    errors: str


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
    name, *arguments = shlex.split(command)
    ended = call(name, arguments, place)
    assert ended.code == 0, f"{command}\n{ended.printed}\n{ended.errors}"
    return ended.printed


def call(name: str, arguments: Sequence[str], place: Path) -> Ended:
    """Call `sentinel`, `python` or a command of the system in a folder."""
    with TemporaryFile("w+") as printed, TemporaryFile("w+") as errors:
        if name in ("sentinel", "python"):
            code = _fork(name, arguments, place, (printed.fileno(), errors.fileno()))
        else:
            code = subprocess.run(
                [name, *arguments], cwd=place, stdout=printed, stderr=errors, timeout=_SECONDS
            ).returncode
        printed.seek(0)
        errors.seek(0)
        return Ended(code=code, printed=printed.read(), errors=errors.read())


def _fork(name: str, arguments: Sequence[str], place: Path, sinks: tuple[int, int]) -> int:
    """Run the command or a script in a copy of this process, which has imported most already."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(_SECONDS)
            for standard, sink in enumerate(sinks, start=1):
                os.dup2(sink, standard)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
            os.chdir(place)
            os.environ["COLUMNS"] = "80"
            code = _run(name, arguments)
        finally:
            with contextlib.suppress(ValueError):
                sys.stdout.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(name: str, arguments: Sequence[str]) -> int:
    try:
        if name == "sentinel":
            sys.argv = [name, *arguments]
            run()
        else:
            script, *_ = sys.argv = list(arguments)
            sys.path.insert(0, str(Path(script).resolve().parent))
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
