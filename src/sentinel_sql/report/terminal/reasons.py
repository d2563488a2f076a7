"""Why a run is judged as it is, for the terminal: its nearest calibration cases and its weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from sentinel_sql.report.page.data import HEADS


def reasons(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reasons of one state of a view.

    `neighbours`; `contributions` by head, empty where a head can't say what weighs how much; and
    `features` where the delivery estimator weighs them beside the head.
    """
    return {name: state[name] for name in ("neighbours", "contributions", "features")}


def why_screen(why: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Show the reasons of one state."""
    yield Text(f"\nWhy, after {why['t']} steps:", style="bold")
    for near in why["neighbours"]:
        yield Text(f"  {near['words']}")
    if why["features"]:
        told = ", ".join(f"{name} {value:.3g}" for name, value in why["features"].items())
        yield Text(f"  This answer's confidence weighs the head's score beside {told}.")
    for head, weights in why["contributions"].items():
        yield Text(f"  {HEADS[head]}:")
        for weight in weights:
            style = "green" if weight["value"] >= 0 else "red"
            yield Text(f"    {weight['value']:+.2f}  {weight['name']}", style=style)
