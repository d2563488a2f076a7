"""The reference of the command is what its help says today."""

from __future__ import annotations

from pathlib import Path

import typer.main

from sentinel_sql.cli.main import app
from sentinel_sql.cli.reference import VERBS, reference


def test_the_reference_is_up_to_date() -> None:
    written = Path(__file__).parents[2] / "docs" / "reference" / "command.md"
    assert written.read_text() == reference(), "run `make docs`"


def test_the_reference_names_every_verb_and_each_has_an_example() -> None:
    group = typer.main.get_command(app)
    found = set()
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found |= {(name, verb) for verb in inner} if inner else {(name,)}
    assert found == set(VERBS)
    assert reference().count("Example: sentinel") == len(VERBS)
