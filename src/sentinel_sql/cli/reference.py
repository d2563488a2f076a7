"""Writes the command reference from the help texts: `python -m sentinel_sql.cli.reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import typer.main
import typer.testing

from sentinel_sql.cli.main import app

VERBS = (
    *(("demo",), ("start",), ("ask",), ("hospital",)),
    *(("questions", "check"), ("questions", "pools")),
    *(("audit", "export"), ("audit", "score"), ("audit", "disagreement"), ("audit", "leakage")),
    *((name,) for name in ("collect", "import", "probe", "label", "fit", "evaluate")),
    *((name,) for name in ("report", "drift", "show", "forget", "migrate")),
    *(("heads", "compare"), ("heads", "screen"), ("rivals", "collect"), ("rivals", "attach")),
    *((name,) for name in ("doctor", "bench")),
)
"""All verbs, in the order of their use; a test compares them with the existing commands."""

INTRODUCTION = """\
# The command

Made from `sentinel --help` by `make docs`; don't edit it by hand.

Every verb takes `--json`: on success it prints one JSON document on stdout, and all else on stderr.
Set `SENTINEL_DEBUG=1` to see the whole trace of a failure.
"""


def reference() -> str:
    """Return the reference as Markdown, the same on every terminal."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    runner = typer.testing.CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    for words in ((), *VERBS):
        shown = runner.invoke(app, [*words, "--help"], prog_name="sentinel", terminal_width=80)
        text = "\n".join(line.rstrip() for line in shown.output.strip().splitlines())
        yield f"## {' '.join(('sentinel', *words))}\n\n```\n{text}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(reference())
