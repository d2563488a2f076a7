"""What a report is made of: a monitor over made-up runs that say sneaky things, evaluated."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.questions.pools import Pools, make_pools
from sentinel_sql.trajectory.record import Trajectory
from small_runs import world

SNEAKY = "</script><img src=x onerror='document.title=1'> & <b>bold</b> \u2028 {{ 7 * 7 }}"
"""What a run may say; it must be shown as it is written and never be run."""


def make_older(folder: Path) -> None:
    """Take every checksum from an evaluation, as older versions wrote none."""
    document = json.loads((folder / "evaluation.json").read_text())
    del document["sha256"]
    document["files"].pop("views.jsonl", None)
    (folder / "evaluation.json").write_text(json.dumps(document))
    (folder / "tables" / "checksums.json").unlink()


@dataclass(frozen=True, kw_only=True)
class Known:
    """All that an evaluation is made of."""

    monitor: Monitor
    runs: list[Trajectory]
    pools: Pools
    labels: dict[str, Label]
    evaluation: Evaluation


def make_known(size: int = 240) -> Known:
    """Fit on made-up runs and evaluate; each run's first thought is a sneaky one."""
    runs, questions, labels, header = world(size=size, telling=True)
    pools = make_pools(questions, seed=42)
    monitor = fit(runs, pools, labels, header, head="ngrams")
    runs = [_sneaky(run) for run in runs]
    return Known(
        monitor=monitor,
        runs=runs,
        pools=pools,
        labels=labels,
        evaluation=evaluate(monitor, runs, pools, labels),
    )


def _sneaky(run: Trajectory) -> Trajectory:
    first = run.steps[0].model_copy(update={"thought": SNEAKY})
    return run.model_copy(update={"steps": (first, *run.steps[1:])})
