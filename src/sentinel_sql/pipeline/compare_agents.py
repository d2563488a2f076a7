"""Compares several evaluated agents: their names, and the cross-agent exhibits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.studies.cross_agent import cross_agent_exhibits
from sentinel_sql.evaluation_store.folder import StoredEvaluation
from sentinel_sql.trajectory.agent_identity import agent_of

Document = Mapping[str, Any]

_ALIKE: Mapping[str, Callable[[Document], Any]] = {
    "pools": lambda document: document["pool"],
    "stakes": lambda document: document["stakes"],
    "options": lambda document: document["options"],
}


def compare_agents(
    evaluations: Sequence[StoredEvaluation], *, names: Sequence[str] | None = None
) -> dict[str, Exhibit[Any]]:
    """Return the exhibits over the agents of several evaluations, by name.

    If the agents weren't asked the same questions, each note says so.

    Args:
        evaluations: one for each agent.
        names: names of the agents, in the same order; None for `agent_names`.

    Raises:
        InputError: there is no evaluation, or they differ in pool, stakes or options, so that
            they can't stand in one table.
    """
    if not evaluations:
        raise InputError("no evaluation to compare: name at least one folder")
    first = evaluations[0]
    for what, value_of in _ALIKE.items():
        for other in evaluations:
            if value_of(first.document) != value_of(other.document):
                raise InputError(
                    f"{first.folder} and {other.folder} are evaluations with different {what}, so "
                    "their figures can't stand in one table: evaluate the agents alike"
                )
    names = names or agent_names(evaluations)
    exhibits = cross_agent_exhibits(
        {name: it.evidence for name, it in zip(names, evaluations, strict=True)}
    )
    if len({it.document["hashes"]["pools"] for it in evaluations}) > 1:
        exhibits = {
            name: replace(it, note=f"{it.note} The agents weren't asked the same questions.")
            for name, it in exhibits.items()
        }
    return exhibits


def agent_names(evaluations: Sequence[StoredEvaluation]) -> tuple[str, ...]:
    """Return a distinct name for the agent of each evaluation.

    It is the model, or else the agent's own name. Equal names get the part of the folder's path
    in which they differ, or a number if that is equal too.
    """
    names = [_short_name(it) for it in evaluations]
    paths = [it.folder.resolve().parts for it in evaluations]
    while len(paths) > 1 and len({path[-1:] for path in paths}) == 1:
        paths = [path[:-1] for path in paths]
    unique: list[str] = []
    for number, (name, path) in enumerate(zip(names, paths, strict=True), 1):
        longer = f"{name} ({path[-1]})" if names.count(name) > 1 and path else name
        unique.append(longer if longer not in unique else f"{longer} {number}")
    return tuple(unique)


def _short_name(evaluation: StoredEvaluation) -> str:
    agent = agent_of(str(evaluation.document["monitor"]["agent"]))
    name = "" if agent is None else (agent.model or agent.name)
    return Path(name).name[:60] or evaluation.folder.name
