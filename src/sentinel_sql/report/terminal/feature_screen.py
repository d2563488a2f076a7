"""The tables of the feature screen: the gain from each feature, the loss without each family."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from sentinel_sql.report.terminal.table import (
    Json,
    Layout,
    bold_if,
    column,
    estimate,
    lead,
    lead_of,
)


def screen_tables(document: Json) -> Iterator[RenderableType]:
    """Yield the screen and the knock-outs.

    Args:
        document: `feature_screen`, `survivor_matrix` and `family_knockouts` as JSON.
    """
    survivors = {row["feature"] for row in document["survivor_matrix"]["rows"] if row["survives"]}
    rows = [
        {**row, "name": f"{row['name']} ✓" if row["name"] in survivors else row["name"]}
        for row in document["feature_screen"]["rows"]
    ]
    yield SCREEN.show({"rows": rows})
    yield Text(document["feature_screen"]["note"], style="dim")
    yield Text()
    yield KNOCKOUTS.show(document["family_knockouts"])
    yield Text(document["family_knockouts"]["note"], style="dim")


def _gain(row: Json) -> Text:
    return Text("not recorded", style="dim") if row["auroc"] is None else lead(row["gain"])


SCREEN = Layout(
    title="What each adds to the n-grams",
    columns=(
        column("", bold_if("name", lambda row: row["group"] != "paper feature")),
        column("AUROC", estimate("auroc", ".3f")),
        column("gain, 95 %", _gain),
        column("quiet", estimate("quiet", ".3f")),
        column("gain, 95 %", lead_of("quiet_gain")),
    ),
    gap=1,
)
KNOCKOUTS = Layout(
    title="What the linear head loses without a family",
    columns=(
        column("", bold_if("family")),
        column("AUROC", estimate("auroc", ".3f")),
        column("loss, 95 %", lead_of("loss")),
        column("quiet loss, 95 %", lead_of("quiet_loss")),
    ),
    gap=1,
)
