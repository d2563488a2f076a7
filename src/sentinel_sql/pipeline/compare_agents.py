"""Several evaluated agents side by side: reads their folders, makes the cross-agent exhibits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.studies.cross_agent import cross_agent_exhibits
from sentinel_sql.evaluation_store.folder import StoredEvaluation, read

Document = Mapping[str, Any]

_ALIKE: Mapping[str, Callable[[Document], Any]] = {
    "pools": lambda document: document["pool"],
    "stakes": lambda document: document["stakes"],
    "options": lambda document: document["options"],
}


def across(
    folders: Iterable[str | Path], *, names: Sequence[str] | None = None
) -> dict[str, Exhibit[Any]]:
    """Return the exhibits over the agents of several evaluation folders, by name.

    Where the agents weren't asked the same questions, each note says so.

    Args:
        folders: one for each agent.
        names: of the agents, in the same order; made of their fingerprints if None.

    Raises:
        InputError: no folder, one that holds no evaluation, or evaluations that can't stand in
            one table: of another pool, other stakes or other options.
    """
    places = [Path(folder) for folder in folders]
    stored = [read(folder) for folder in places]
    if not stored:
        raise InputError("no evaluation to compare: name at least one folder")
    first = stored[0].document
    for what, told in _ALIKE.items():
        for folder, other in zip(places, stored, strict=True):
            if told(first) != told(other.document):
                raise InputError(
                    f"{places[0]} and {folder} are evaluations with different {what}, so their "
                    "figures can't stand in one table: evaluate the agents alike"
                )
    names = names or agent_names(stored, places)
    exhibits = cross_agent_exhibits(
        {name: it.evidence for name, it in zip(names, stored, strict=True)}
    )
    if len({it.document["hashes"]["pools"] for it in stored}) > 1:
        exhibits = {
            name: replace(it, note=f"{it.note} The agents weren't asked the same questions.")
            for name, it in exhibits.items()
        }
    return exhibits


def agent_names(stored: Sequence[StoredEvaluation], folders: Sequence[Path]) -> tuple[str, ...]:
    """Return a name for the agent of each evaluation: the shortest that tells them all apart.

    That is the model, or all that is known of the agent, or the folder.
    """
    agents = [str(it.document["monitor"]["agent"]) for it in stored]
    models = [_model(agent) for agent in agents]
    for names in (models, agents, [folder.name for folder in folders]):
        if max(Counter(names).values(), default=1) == 1:
            return tuple(names)
    return tuple(map(str, folders))


def _model(agent: str) -> str:
    name, model, *_ = (*agent.split(" | "), "-")
    return name if model == "-" else model
