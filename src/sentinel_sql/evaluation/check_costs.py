"""Notes on checks that cost more than they earn, and on stakes that a monitor can't serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

CHECKS = (
    ("the delivery bar", "vanilla", "chow", "raise the stakes, or fit on more runs"),
    ("the gate", "chow", "full", "leave it out with `--no-gate`, or fit on more runs"),
    ("the early stop", "full", "early-stop", "leave it out"),
)
"""Each check, the system without it, the system with it, and the remedy if it costs."""


def costly_checks(ladder: Iterable[tuple[str, float, float]]) -> tuple[str, ...]:
    """Return one line for each check that costs more than it earns at some λ.

    Args:
        ladder: (system, λ, RS(λ)) of each row of the system ladder.
    """
    earned = {(system, stakes): score for system, stakes, score in ladder}
    lines = []
    for check, without, with_it, remedy in CHECKS:
        losses = {
            stakes: earned[without, stakes] - gain
            for (system, stakes), gain in earned.items()
            if system == with_it and gain < earned[without, stakes]
        }
        if losses:
            stakes, loss = max(losses.items(), key=lambda item: item[1])
            lines.append(
                f"{check} costs more than it earns: {with_it} earns {loss:.3f} less than {without} "
                f"at λ = {stakes:g}; {remedy}"
            )
    return tuple(lines)


def stakes_note(thresholds: Mapping[str, Any], stakes: Sequence[float]) -> str | None:
    """Return a note on those stakes that a monitor can't serve; None without such stakes.

    Args:
        thresholds: the monitor's thresholds, JSON-ready.
        stakes: the λ of the evaluation.
    """
    served = thresholds.get("served")
    if served is None:
        return None
    beyond = [level for level in stakes if level > served["limit"]]
    if not beyond:
        return None
    return (
        f"this monitor can serve stakes up to λ = {served['limit']:.3g}: at "
        f"{', '.join(f'{level:g}' for level in beyond)} every system with a delivery bar refuses "
        "everything"
    )
