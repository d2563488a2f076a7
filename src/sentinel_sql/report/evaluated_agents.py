"""Evaluations on disk as a report reads them: one folder, one agent."""

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
        evaluation: what is reported.
        name: for people; no two agents of a report share one.
        slug: the same for files and ids.
    """

    evaluation: StoredEvaluation
    name: str
    slug: str

    @property
    def folder(self) -> Path:
        """Where the evaluation is."""
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
        """The rows of the tables that figures and sentences are made of, by name."""
        return self.evaluation.rows

    @property
    def runs(self) -> int:
        """How many runs of the pool were evaluated."""
        return int(self.document["counts"]["runs"])

    @property
    def stakes(self) -> Sequence[StakesRow]:
        """The rows of the stakes table, by rising λ; empty where there is none."""
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
        InputError: there is no evaluation, a damaged one, or the same folder twice.
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
