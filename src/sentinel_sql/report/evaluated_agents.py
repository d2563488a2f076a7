"""Evaluations on disk as a report reads them: one folder, one agent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation_store import tables as disk
from sentinel_sql.evaluation_store.document import Document, View, loaded, require
from sentinel_sql.evaluation_store.folder import VIEWS
from sentinel_sql.evaluation_store.tables import Table
from sentinel_sql.pipeline.run_views import FORMAT as VIEW_FORMAT
from sentinel_sql.report.read_tables import required

DOCUMENT: Final = "evaluation.json"


@dataclass(frozen=True, kw_only=True)
class ReportedAgent:
    """One evaluated agent.

    Attributes:
        folder: its evaluation.
        name: for people; no two agents of a report share one.
        slug: the same for files and ids.
        document: `evaluation.json`.
        tables: every table of the folder, by name.
        has_views: the folder holds a sample of runs.
    """

    folder: Path
    name: str
    slug: str
    document: Mapping[str, Any]
    tables: Mapping[str, Table]
    has_views: bool

    @property
    def runs(self) -> int:
        """How many runs of the pool were evaluated."""
        return int(self.document["counts"]["runs"])

    @property
    def stakes(self) -> Sequence[Mapping[str, Any]]:
        """The rows of the stakes table, by rising λ; empty where there is none."""
        return self.tables["stakes"].rows if "stakes" in self.tables else ()

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
    agents: list[ReportedAgent] = []
    places: list[Path] = []
    for folder in folders:
        if folder.resolve() in [place.resolve() for place in places]:
            raise InputError(f"{folder} was named twice: name each evaluation once")
        places.append(folder)
    documents = [_document(folder) for folder in places]
    names = _told_apart([_name(*each) for each in zip(documents, places, strict=True)], places)
    for name, folder, document in zip(names, places, documents, strict=True):
        agents.append(
            ReportedAgent(
                folder=folder,
                name=name,
                slug=_slug(name, len(agents)),
                document=document,
                tables=required(disk.read(folder), folder),
                has_views=(folder / VIEWS).exists(),
            )
        )
    if not agents:
        raise InputError("no evaluation to report on: name at least one folder")
    return tuple(agents)


def read_views(agent: ReportedAgent, *, most: int, size: int) -> list[dict[str, Any]]:
    """Read the first runs of an agent's sample, the most telling first.

    Args:
        agent: whose.
        most: runs to read.
        size: bytes that they may take on the page; a run that doesn't fit ends the reading.

    Raises:
        InputError: the file is damaged.
    """
    if not agent.has_views:
        return []
    path = agent.folder / VIEWS
    views: list[dict[str, Any]] = []
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                # In a script element these three marks take six bytes each.
                size -= len(line.encode()) + 5 * sum(line.count(mark) for mark in "<>&")
                if len(views) == most or size < 0:
                    break
                view = loaded(line)
                if view["format"] != VIEW_FORMAT:
                    raise ValueError("another format")
                require(View, view)
                views.append(view)
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}): check its rights") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is damaged: make it again with `sentinel evaluate … --out`"
        ) from error
    return views


def _document(folder: Path) -> Mapping[str, Any]:
    path = folder / DOCUMENT
    try:
        document = loaded(path.read_bytes())
        if not str(document["format"]).startswith("sentinel-evaluation/"):
            raise ValueError("another format")
        require(Document, document)
    except OSError as error:
        raise InputError(
            f"{folder} holds no evaluation ({path.name}: {error.strerror}): make one with "
            "`sentinel evaluate … --out FOLDER`"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is damaged: make it again with `sentinel evaluate … --out FOLDER`"
        ) from error
    return dict(document)


def _name(document: Mapping[str, Any], folder: Path) -> str:
    """Return the model behind the agent, or else its own name; both stand in its fingerprint."""
    parts = [part.strip() for part in str(document["monitor"]["agent"]).split("|")]
    named = [part for part in (parts[1:2] or []) + parts[:1] if part not in ("", "-")]
    return Path(named[0]).name[:60] if named else folder.name


def _told_apart(names: Sequence[str], places: Sequence[Path]) -> list[str]:
    """Add to each name that stands twice where its folder's path differs from the others'."""
    paths = [place.resolve().parts for place in places]
    while len(paths) > 1 and len({path[-1:] for path in paths}) == 1:
        paths = [path[:-1] for path in paths]
    several = {name for name in names if names.count(name) > 1}
    told: list[str] = []
    for number, (name, path) in enumerate(zip(names, paths, strict=True), 1):
        unique = f"{name} ({path[-1]})" if name in several and path else name
        told.append(unique if unique not in told else f"{unique} {number}")
    return told


def _slug(name: str, number: int) -> str:
    safe = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    return f"a{number + 1}-{safe}" if safe else f"a{number + 1}"
