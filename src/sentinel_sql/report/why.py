"""Why a run is judged as it is, for the terminal: its nearest calibration cases and its weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from sentinel_sql.report.page_data import HEADS


def reasons(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reasons of one state of a view: `neighbours`, and `contributions` by head.

    A head that can't say what weighs how much has no contributions.
    """
    return {
        "neighbours": state["neighbours"],
        "contributions": state.get("contributions", {}),
    }


def why_screen(why: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Show the reasons of one state."""
    yield Text(f"\nWhy, after {why['t']} steps:", style="bold")
    for near in why["neighbours"]:
        yield Text(f"  {near['words']}")
    for head, weights in why["contributions"].items():
        yield Text(f"  {HEADS[head]}:")
        for weight in weights:
            style = "green" if weight["value"] >= 0 else "red"
            yield Text(f"    {weight['value']:+.2f}  {weight['name']}", style=style)
