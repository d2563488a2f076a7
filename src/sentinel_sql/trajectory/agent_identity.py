"""Reads the fingerprint of an agent, and says how two agents differ."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from sentinel_sql.trajectory.record import AgentInfo

_COMMITS = " | commit-on-error"
_SHOWN = 12
"""Characters of a prompt's hash that are shown (our choice)."""

_NOTES = {
    "prompt": "notes and examples are part of the prompt (--notes, --examples), as are the schema "
    "and the time that it states"
}


def agent_of(fingerprint: str) -> AgentInfo | None:
    """Return the agent of a fingerprint (`AgentInfo.fingerprint`), or None if it is none."""
    # A name or model may hold the separator, so the last three parts are split off from the end.
    parts = fingerprint.removesuffix(_COMMITS).rsplit(" | ", 3)
    name, between, model = parts[0].partition(" | ")
    if len(parts) != 4 or not between:
        return None
    known = {
        key: value
        for key, value in zip(
            ("model", "prompt_sha256", "max_steps", "temperature"), (model, *parts[1:]), strict=True
        )
        if value != "-"
    }
    try:
        return AgentInfo.model_validate(
            {"name": name, **known, "commit_on_error": fingerprint.endswith(_COMMITS)}
        )
    except ValidationError:
        return None


def difference(expected: str, found: str) -> str:
    """Return how an agent differs from the expected one, as text.

    Args:
        expected: fingerprint of the agent of a monitor or a store.
        found: fingerprint of the other agent.

    Returns:
        A text such as "they differ in model (qwen there, llama here)". If one of them is no
        fingerprint, the text says what a fingerprint looks like.
    """
    theirs, ours = agent_of(expected), agent_of(found)
    if theirs is None or ours is None:
        odd = expected if theirs is None else found
        return (
            f"[{odd}] is no agent's fingerprint: it is one line, as `sentinel fit` prints it and "
            "`Trajectory.agent.fingerprint` gives it"
        )
    there, here = _parts(theirs), _parts(ours)
    differ = [part for part in there if there[part] != here[part]]
    said = ", ".join(f"{part} ({there[part]} there, {here[part]} here)" for part in differ)
    notes = "".join(f"; {_NOTES[part]}" for part in differ if part in _NOTES)
    return f"they differ in {said}{notes}" if said else "they are the same"


def _parts(agent: AgentInfo) -> Mapping[str, str]:
    prompt = agent.prompt_sha256 or "-"
    return {
        "name": agent.name,
        "model": agent.model or "-",
        "prompt": prompt[:_SHOWN] if len(prompt) == 64 else prompt,
        "step cap": "-" if agent.max_steps is None else str(agent.max_steps),
        "temperature": "-" if agent.temperature is None else str(agent.temperature),
        "commit-on-error": "on" if agent.commit_on_error else "off",
    }
