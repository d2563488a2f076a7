"""How every verb speaks: one JSON document or tables on stdout, everything else on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from sentinel_sql.address import without_secrets

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout; all else on stderr.")
]
Advance = Callable[[int, int], None]
"""Told `(done, total)` as work goes on."""


def emit(
    document: Mapping[str, Any],
    *,
    as_json: bool,
    tables: Callable[[], Iterable[RenderableType]],
) -> None:
    """Print the outcome of a verb: the document, or the tables made for people."""
    if as_json:
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        try:
            text.encode(sys.stdout.encoding or "utf-8")
        except UnicodeEncodeError:
            text = json.dumps(document, indent=2, allow_nan=False)
        sys.stdout.write(_CONTROLS.sub(lambda it: f"\\u{ord(it[0]):04x}", text) + "\n")
        sys.stdout.flush()  # what can't be written shows now, while it can be told
        return
    console = terminal()
    for table in tables():
        # A text that may not be wrapped, such as a command to paste, runs over the terminal's edge.
        console.print(table, soft_wrap=getattr(table, "no_wrap", None) is True)


def terminal(*, stderr: bool = False) -> Console:
    """Open the terminal so that text is shown as it is written.

    Questions, ids, agents and messages are data: `[red]` or `:smile:` in them is no markup, and
    what would clear the screen, name the window or turn the reading direction doesn't reach the
    terminal. What is to have a style is a `Text`.
    """
    from rich import console as of_rich
    from rich.segment import Segment

    class Console(of_rich.Console):
        # Here every text passes, after its width, to which such characters add nothing, is taken.
        def render(
            self, renderable: RenderableType, options: of_rich.ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(shown(part.text), part.style)

    return Console(stderr=stderr, markup=False, emoji=False)


_CONTROLS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
"""Characters that move a terminal's cursor or turn its reading direction; a line's end is none."""


def shown(text: str) -> str:
    """Return a text without the characters that a terminal obeys instead of showing them."""
    return _CONTROLS.sub("", text)


def facts(title: str, rows: Mapping[str, object]) -> RenderableType:
    """Make a two-column table of named facts; rows whose value is None are left out."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, _told(value))
    return table


def _told(value: object) -> str:
    if isinstance(value, Mapping):
        inner = [
            f"{name} ({_told(part)})" if isinstance(part, Mapping) else f"{name} {_told(part)}"
            for name, part in value.items()
        ]
        return ", ".join(inner) or "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_told, value)) or "none"
    return str(value)


def say(text: str) -> None:
    """Tell people something beside the outcome, on stderr."""
    sys.stderr.write(without_secrets(shown(text)) + "\n")


def fail_if_all_failed(what: str, *, done: int, failed: Mapping[str, int]) -> None:
    """Let no success be told where every call failed; some failures beside some work are one.

    Called once the outcome is kept and shown.

    Args:
        what: what was to be made, in the plural.
        done: how many were made this time.
        failed: reason → how many failed for it.

    Raises:
        EndpointError: nothing was made, and something failed.
    """
    from sentinel_sql.errors import EndpointError

    if done or not failed:
        return
    reason, count = max(failed.items(), key=lambda item: item[1])
    total = sum(failed.values())
    times = "" if count == total else f" ({count} times)"
    raise EndpointError(
        f"no {what} came of this: all {total} that were tried failed: {reason}{times}; once "
        "that is mended, the same command goes on from there"
    )


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write records as JSON Lines, readable by their owner only.

    Raises:
        InputError: the file can't be written.
    """
    from sentinel_sql.errors import InputError
    from sentinel_sql.storage.whole_file import write_whole

    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    try:
        write_whole(path, "".join(lines))
    except OSError as error:
        raise InputError(
            f"{path} can't be written ({error.strerror}): name another place"
        ) from error


class Bar(Protocol):
    """A progress bar."""

    def __call__(self, done: int, total: int) -> None:
        """Say how far the whole is."""
        ...

    def part(self, what: str, done: int, total: int) -> None:
        """Say how far one long part of it is."""
        ...


@contextmanager
def progress(description: str) -> Iterator[Bar]:
    """Show a progress bar on stderr; silent where stderr is no terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = terminal(stderr=True)
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as bar:
        whole = bar.add_task(description, total=None)
        part = bar.add_task("", total=None, visible=False)

        class Shown:
            def __call__(self, done: int, total: int) -> None:
                bar.update(whole, completed=done, total=total)

            def part(self, what: str, done: int, total: int) -> None:
                shown = done < total
                bar.update(part, description=what, completed=done, total=total, visible=shown)

        yield Shown()
