"""Output of every verb: one JSON document or tables on stdout, everything else on stderr."""

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
"""Called with `(done, total)` as the work proceeds."""


def emit(
    document: Mapping[str, Any],
    *,
    as_json: bool,
    tables: Callable[[], Iterable[RenderableType]],
) -> None:
    """Print the result of a verb: the JSON document, or tables for people."""
    if as_json:
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        try:
            text.encode(sys.stdout.encoding or "utf-8")
        except UnicodeEncodeError:
            text = json.dumps(document, indent=2, allow_nan=False)
        sys.stdout.write(_CONTROLS.sub(lambda it: f"\\u{ord(it[0]):04x}", text) + "\n")
        sys.stdout.flush()  # a write error shows here, where it can still be reported
        return
    console = terminal()
    for table in tables():
        # A text that must not be wrapped, such as a command to paste, may exceed the terminal.
        console.print(table, soft_wrap=getattr(table, "no_wrap", None) is True)


def terminal(*, stderr: bool = False) -> Console:
    """Open the terminal so that all text is shown literally.

    Questions, ids, agents and messages are data: `[red]` or `:smile:` in them is no markup.
    Characters that clear the screen, name the window or turn the reading direction are removed.
    Styled text is a `Text`.
    """
    from rich import console as of_rich
    from rich.segment import Segment

    class Console(of_rich.Console):
        # Every text passes here, after layout. Control characters have no width there.
        def render(
            self, renderable: RenderableType, options: of_rich.ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(shown(part.text), part.style)

    return Console(stderr=stderr, markup=False, emoji=False)


_CONTROLS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
"""Characters that move a terminal's cursor or turn its reading direction, except a newline."""


def shown(text: str) -> str:
    """Return a text without the characters that control a terminal."""
    return _CONTROLS.sub("", text)


def facts(title: str, rows: Mapping[str, object]) -> RenderableType:
    """Make a table of names and values; rows with None are left out."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, _format_value(value))
    return table


def _format_value(value: object) -> str:
    if isinstance(value, Mapping):
        inner = [
            f"{name} ({_format_value(part)})"
            if isinstance(part, Mapping)
            else f"{name} {_format_value(part)}"
            for name, part in value.items()
        ]
        return ", ".join(inner) or "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_value, value)) or "none"
    return str(value)


def say(text: str) -> None:
    """Print a message for people on stderr."""
    sys.stderr.write(without_secrets(shown(text)) + "\n")


def fail_if_all_failed(what: str, *, done: int, failed: Mapping[str, int]) -> None:
    """Fail if every call failed; some failures beside some successes are no error.

    Call it after the result is saved and shown.

    Args:
        what: name of the things to make, in the plural.
        done: how many were made by this command.
        failed: reason → number of failures.

    Raises:
        EndpointError: nothing was made, and at least one call failed.
    """
    from sentinel_sql.errors import EndpointError

    if done or not failed:
        return
    reason, count = max(failed.items(), key=lambda item: item[1])
    total = sum(failed.values())
    times = "" if count == total else f" ({count} times)"
    raise EndpointError(
        f"no {what} were made: all {total} calls failed: {reason}{times}; mend that, then give the "
        "same command again to resume"
    )


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write records as JSON Lines, readable by their owner only.

    Raises:
        InputError: the file can't be written.
    """
    write_text(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def write_text(path: Path, text: str) -> None:
    """Write a file, readable by its owner only.

    Raises:
        InputError: the file can't be written.
    """
    from sentinel_sql.errors import InputError
    from sentinel_sql.storage.whole_file import write_whole

    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(
            f"{path} can't be written ({error.strerror}): name another place"
        ) from error


class Bar(Protocol):
    """A progress bar."""

    def __call__(self, done: int, total: int) -> None:
        """Show the progress of the whole work."""
        ...

    def part(self, what: str, done: int, total: int) -> None:
        """Show the progress of one long part of it."""
        ...


@contextmanager
def progress(description: str) -> Iterator[Bar]:
    """Show a progress bar on stderr, or nothing if stderr is no terminal."""
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
