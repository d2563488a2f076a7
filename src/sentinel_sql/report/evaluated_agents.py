"""The evaluated agents of a report, each read from the folder of its evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.exhibits.stakes_sweep import StakesRow
from sentinel_sql.evaluation_store.folder import StoredEvaluation, read
from sentinel_sql.evaluation_store.tables import Table
from sentinel_sql.pipeline.compare_agents import agent_names


@dataclass(frozen=True, kw_only=True)
class ReportedAgent:
    """One evaluated agent.

    Attributes:
        evaluation: its evaluation on disk.
        name: a name for people, unique in a report.
        slug: the name for files and ids, unique in a report.
    """

    evaluation: StoredEvaluation
    name: str
    slug: str

    @property
    def folder(self) -> Path:
        """The folder of the evaluation."""
        return self.evaluation.folder

    @property
    def document(self) -> Mapping[str, Any]:
        """The content of `evaluation.json`."""
        return self.evaluation.document

    @property
    def tables(self) -> Mapping[str, Table]:
        """Every table of the evaluation, by name."""
        return self.evaluation.tables

    @property
    def rows(self) -> Mapping[str, Sequence[Any]]:
        """The typed rows of the tables that figures and sentences use, by name."""
        return self.evaluation.rows

    @property
    def runs(self) -> int:
        """The number of evaluated runs."""
        return int(self.document["counts"]["runs"])

    @property
    def stakes(self) -> Sequence[StakesRow]:
        """The rows of the stakes table by ascending λ; empty without the table."""
        return self.rows.get("stakes", ())

    @property
    def theta(self) -> float | None:
        """The gate's threshold."""
        theta = self.document["thresholds"]["gate"]["theta"]
        return None if theta is None else float(theta)

    @property
    def served(self) -> float | None:
        """The highest λ that its monitor serves; None where an older evaluation doesn't say."""
        served = self.document["thresholds"].get("served")
        return None if served is None else float(served["limit"])


def read_agents(folders: Iterable[Path]) -> tuple[ReportedAgent, ...]:
    """Read evaluations that `sentinel evaluate … --out` wrote.

    Raises:
        InputError: no folder is named, one is named twice, or one holds no intact evaluation.
    """
    places: list[Path] = []
    for folder in folders:
        if folder.resolve() in [place.resolve() for place in places]:
            raise InputError(f"{folder} was named twice: name each evaluation once")
        places.append(folder)
    if not places:
        raise InputError("no evaluation to report on: name at least one folder")
    stored = [read(folder) for folder in places]
    return tuple(
        ReportedAgent(evaluation=evaluation, name=name, slug=_slug(name, number))
        for number, (name, evaluation) in enumerate(zip(agent_names(stored), stored, strict=True))
    )


def _slug(name: str, number: int) -> str:
    safe = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    return f"a{number + 1}-{safe}" if safe else f"a{number + 1}"
