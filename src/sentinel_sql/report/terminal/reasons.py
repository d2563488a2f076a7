"""The reasons of a run's scores: its nearest calibration cases and its strongest terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from sentinel_sql.report.page.data import HEADS
from sentinel_sql.report.terminal.gauges import unaccounted_sentence

_PARTS: Final = ("unaccounted", "neighbours", "contributions", "features")


def reasons(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reasons of one state of a view.

    They are `unaccounted`; `neighbours`; `contributions` by head, empty if a head can't give any;
    and `features` if the delivery estimator reads them.
    """
    return {name: state[name] for name in _PARTS}


def why_screen(why: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Show the reasons of one state."""
    yield Text(f"\nWhy, after {why['t']} steps:", style="bold")
    if why["unaccounted"]:
        yield Text(f"  {unaccounted_sentence(why['unaccounted'])}")
    for near in why["neighbours"]:
        yield Text(f"  {near['words']}")
    if why["features"]:
        features = ", ".join(f"{name} {value:.3g}" for name, value in why["features"].items())
        yield Text(f"  The confidence of this answer also depends on {features}.")
    for head, weights in why["contributions"].items():
        yield Text(f"  {HEADS[head]}:")
        for weight in weights:
            style = "green" if weight["value"] >= 0 else "red"
            yield Text(f"    {weight['value']:+.2f}  {weight['name']}", style=style)
