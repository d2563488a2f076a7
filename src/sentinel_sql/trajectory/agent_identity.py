"""Says in which part two agents differ, from their fingerprints."""

from __future__ import annotations

from collections.abc import Mapping

_COMMITS = " | commit-on-error"
_SHOWN = 12
"""Characters of a prompt's hash that are shown: enough to tell prompts apart, ours."""

_NOTES = {
    "prompt": "notes and examples are part of the prompt (--notes, --examples), as are the schema "
    "and the time that it states"
}


def parts_of(fingerprint: str) -> Mapping[str, str] | None:
    """Take a fingerprint apart, or return None where it is none (`AgentInfo.fingerprint`)."""
    commits = fingerprint.endswith(_COMMITS)
    # A name or model may hold the separator, so the three behind them are taken from the end.
    parts = fingerprint.removesuffix(_COMMITS).rsplit(" | ", 3)
    name, between, model = parts[0].partition(" | ")
    if len(parts) != 4 or not between:
        return None
    prompt, cap, temperature = parts[1:]
    return {
        "name": name,
        "model": model,
        "prompt": prompt[:_SHOWN] if len(prompt) == 64 else prompt,
        "step cap": cap,
        "temperature": temperature,
        "commit-on-error": "on" if commits else "off",
    }


def told_apart(its: str, this: str) -> str:
    """Say what differs between the agent that was expected and the one that is here.

    Args:
        its: fingerprint of the agent that a monitor or a store is of.
        this: fingerprint of the other one.

    Returns:
        Such as "they differ in model (qwen there, llama here)"; where one of them isn't a
        fingerprint, what one looks like.
    """
    theirs, ours = parts_of(its), parts_of(this)
    if theirs is None or ours is None:
        odd = its if theirs is None else this
        return (
            f"[{odd}] is no agent's fingerprint: it is one line, as `sentinel fit` prints it and "
            "`Trajectory.agent.fingerprint` gives it"
        )
    apart = [part for part in theirs if theirs[part] != ours[part]]
    said = ", ".join(f"{part} ({theirs[part]} there, {ours[part]} here)" for part in apart)
    notes = "".join(f"; {_NOTES[part]}" for part in apart if part in _NOTES)
    return f"they differ in {said}{notes}" if said else "they are the same"
