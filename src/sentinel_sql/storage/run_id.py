"""The ids under which a run may be known: its own, and that of its question."""

from __future__ import annotations

import re

_TRIAL = re.compile(r"(.+)#\d+", re.DOTALL)


def ids_of_run(run_id: str) -> tuple[str, ...]:
    """Return a run's id and, if it is run k of a question (`id#k`), the question's id too."""
    trial = _TRIAL.fullmatch(run_id)
    return (run_id, trial[1]) if trial else (run_id,)
