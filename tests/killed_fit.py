"""Two fits in one work folder, the second killed in its middle; run by a test as a process."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from run_cases import planted_store
from sentinel_sql.monitor.encoders.run import silent
from sentinel_sql.monitor.encoders.text import Text
from sentinel_sql.monitor.heads.encoder import EncoderHead, FittedEncoderHead
from sentinel_sql.monitor.snapshots import read_run

KILLED_AT = 9
"""Of 14 steps, 7 an epoch, with a checkpoint every 4."""


def cases() -> tuple[list[Text], np.ndarray, np.ndarray]:
    made, _, labels = planted_store(60, seed=9)
    read = [read_run(run, head=EncoderHead()) for run in made]
    targets = np.array([not labels[run.question.id].answerable for run in made])
    return [run.training[-1] for run in read], targets, np.arange(60)


def fit(encoder: str, work: Path | None, seed: int, on_progress: Any = silent) -> FittedEncoderHead:
    head = EncoderHead(
        encoder=encoder,
        work=work,
        epochs=2,
        batch=8,
        learning_rate=2e-3,
        on_progress=on_progress,
    )
    texts, targets, groups = cases()
    return head.fit(texts, targets, groups=groups, seed=seed)


def killed(what: str, done: int, total: int) -> None:
    if what.startswith("training") and done == KILLED_AT:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    fit(sys.argv[1], Path(sys.argv[2]), seed=1)
    fit(sys.argv[1], Path(sys.argv[2]), seed=2, on_progress=killed)
