"""The table of the seed variance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from sentinel_sql.report.terminal.table import Json, Layout, column, figure, value


def seed_tables(exhibits: Mapping[str, Json]) -> Iterator[RenderableType]:
    """Yield the table of the exhibit `seeds`, given as JSON, if there is one."""
    if "seeds" in exhibits:
        rows = exhibits["seeds"]["rows"]
        yield Text()
        yield SEEDS.show({"title": f"Seed variance, {rows[0]['seeds']} seeds", "rows": rows})


def _stakes(row: Json) -> str:
    return "" if row["stakes"] is None else f"{row['stakes']:g}"


SEEDS = Layout(
    title=None,
    columns=(
        column("figure", value("figure")),
        column("λ", _stakes),
        column("of record", figure("of_record", ".3f")),
        *(column(name, figure(name, ".3f")) for name in ("mean", "sd", "lowest", "highest")),
    ),
    caption="Differences below this spread may be chance.",
)
