"""What probes add to the linear head: out of fold, same folds, with and without their family.

    python benchmarks/probes.py STORE LABELS POOLS

STORE carries probes (`sentinel collect --probes` or `sentinel probe`). Only runs of the train and
calibration pools are read. Printed are AUROCs of correctness, over all answers to answerable
questions and among clean ones, means over five seeds, and the lead that probes give with its 95 %
bootstrap interval over templates.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.labels.file import read_labels
from sentinel_sql.monitor.families.table import ALL_FAMILIES, PROBES
from sentinel_sql.monitor.heads.linear import LinearHead
from sentinel_sql.questions.pools import Pools
from sentinel_sql.rivals.compare_heads import compare_heads
from sentinel_sql.trajectory.store import read_trajectories

SEEDS = (1, 2, 3, 4, 5)


def compare(store: str, labels: str, pools: str, families: Sequence[str], name: str) -> None:
    without = tuple(family for family in families if family != PROBES)
    header, labelled = read_labels(Path(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare_heads(
            read_trajectories(store),
            Pools.read(Path(pools)),
            labelled,
            header,
            heads={
                "without": LinearHead(families=without),
                "with": LinearHead(families=tuple(families)),
            },
            default="without",
            seeds=SEEDS,
            among=("train", "calibration"),
            with_rivals=False,
        )
    for row in found.rows:
        print(
            f"{name:12} {row.candidate:8} all {told(row.auroc)} lead {told(row.lead)}   "
            f"clean {told(row.quiet)} lead {told(row.quiet_lead)}",
            flush=True,
        )


def told(value: Interval | None) -> str:
    return "–" if value is None else f"{value.estimate:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python benchmarks/probes.py STORE LABELS POOLS")
    place = (sys.argv[1], sys.argv[2], sys.argv[3])
    compare(*place, ALL_FAMILIES, "all families")
    compare(*place, (PROBES,), "n-grams")
