"""Writes the reference of every column of every table: `python tools/column_reference.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, get_args, get_type_hints

from sentinel_sql.evaluation.column_meaning import FlatColumn, columns_of
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation.paper_numbers import PaperRow
from sentinel_sql.evaluation.studies.cross_agent import AgentRow, CrossAgentRow
from sentinel_sql.evaluation.studies.feature_screen import KnockoutRow, ScreenRow, SurvivorRow
from sentinel_sql.evaluation.studies.judge_audit import JudgeAuditRow, RatersRow
from sentinel_sql.evaluation.studies.judge_disagreement import (
    DisagreementReasonRow,
    DisagreementRow,
)
from sentinel_sql.evaluation.studies.leakage import ControlRow, CopiesRow, ReaderRow
from sentinel_sql.evaluation.studies.seed_variance import SeedFigureRow, SeedRow
from sentinel_sql.rivals.candidates import CandidateRow
from sentinel_sql.rivals.comparison import RivalRow
from sentinel_sql.rivals.exhibits import RivalScoreRow
from sentinel_sql.rivals.payoffs import RivalPayoffRow

TABLES: Final[Mapping[str, Mapping[str, type]]] = MappingProxyType(
    {
        "sentinel evaluate": {
            name: get_args(get_type_hints(make)["return"])[0] for name, make in EXHIBITS.items()
        },
        "sentinel evaluate --seeds": {"seeds": SeedRow, "seed_figures": SeedFigureRow},
        "sentinel evaluate --rivals": {
            "rivals": RivalRow,
            "rival_payoffs": RivalPayoffRow,
            "rival_scores": RivalScoreRow,
        },
        "sentinel heads compare": {"candidates": CandidateRow},
        "sentinel heads screen": {
            "feature_screen": ScreenRow,
            "survivor_matrix": SurvivorRow,
            "family_knockouts": KnockoutRow,
        },
        "sentinel audit leakage": {
            "leakage": ReaderRow,
            "leakage_controls": ControlRow,
            "leakage_copies": CopiesRow,
        },
        "sentinel audit disagreement": {
            "disagreement": DisagreementRow,
            "disagreement_reasons": DisagreementReasonRow,
        },
        "sentinel audit score": {"judge_audit": JudgeAuditRow, "raters": RatersRow},
        "sentinel report": {"agents": AgentRow, "cross_agent": CrossAgentRow, "paper": PaperRow},
    }
)
"""Which command writes which tables, and the type of their rows."""

INTRODUCTION = """\
# Every column of every table

Made from the code by `make docs`; don't edit it by hand.

Each number that a command prints is a cell of one of these tables. `--out FOLDER` writes them as
`tables/NAME.csv`, and `tables/dictionary.csv` repeats this page for the tables that are there.
"± interval" means that two more columns, `NAME_low` and `NAME_high`, hold the ends of the 95 %
interval. "May be empty" means that some rows can't say it, for instance because there was no case.
"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    for command, tables in TABLES.items():
        yield f"## Tables of `{command}`\n"
        for name, row in tables.items():
            yield f"### {name}\n"
            yield "| column | type | unit | range | meaning |\n|---|---|---|---|---|"
            yield from _lines(columns_of(row))
            yield ""


def _lines(columns: tuple[FlatColumn, ...]) -> Iterator[str]:
    names = {column.name for column in columns}
    for column in columns:
        of, _, end = column.name.rpartition("_")
        if end in ("low", "high") and {of, f"{of}_low", f"{of}_high"} <= names:
            continue
        about: list[Any] = [
            f"`{column.name}`" + (" ± interval" if f"{column.name}_low" in names else ""),
            column.kind,
            column.column.unit,
            column.column.within,
            column.column.meaning + ("; may be empty" if column.optional else ""),
        ]
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in about) + " |"


if __name__ == "__main__":
    sys.stdout.write(page())
