"""The drift test on recorded runs: false alarms without a change, and runs until it finds one.

A monitor is fitted on the agent `guided`. Its calibration and held-out runs give the numbers of
"nothing changed". They are shuffled as runs, for which the stated chance is proved, and as whole
templates, so that live questions are of other templates, for which it isn't. Then live runs are
changed in five ways: the prompt `grounded`, the prompt `plain`, a release of the schema after
which a third of the queries fail, questions of the harder templates alone, and a tool that returns
nothing.

Example:
    benchmarks/drift.py --replays 1000
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from sentinel_sql.monitor.drift.numbers import read_numbers
from sentinel_sql.monitor.drift.watch import DriftWatch, count_reference
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.learning.bundled_runs import read_bundled_runs
from sentinel_sql.trajectory.record import Observation, Trajectory

CHANCE = 0.05
AGENT = "guided"
Row = Mapping[str, float]


def alarm_after(reference: Sequence[Row], live: Sequence[Row], seed: int) -> tuple[int, str] | None:
    """Return after how many live runs the watch alarms, and the stream; None without an alarm."""
    watch = DriftWatch(count_reference(reference), chance=CHANCE, seed=seed)
    for row in live:
        alarm = watch.observe(row)
        if alarm is not None:
            return alarm.runs, alarm.stream
    return None


def broken(
    run: Trajectory, rng: np.random.Generator, share: float, seen: Observation
) -> Trajectory:
    """Return a run in which a share of the results is another one."""
    steps = [
        step.model_copy(update={"observation": seen})
        if step.sql is not None and rng.random() < share
        else step
        for step in run.steps
    ]
    return run.model_copy(update={"steps": tuple(steps)})


def main() -> int:
    """Print both."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--replays", type=int, default=200)
    replays: int = options.parse_args().replays
    agents = read_bundled_runs()
    own = agents[AGENT]
    runs, labels, pools = list(own.runs), own.labels, own.pools
    monitor = fit(runs, pools, labels, own.header)

    def rows_of(some: Iterator[Trajectory] | Sequence[Trajectory]) -> list[Row]:
        return [read_numbers(monitor, run) for run in some]

    unseen = [run for run in runs if pools.pool_of(run.question.id) != "train"]
    rows = rows_of(unseen)
    template = np.unique(
        [pools.template_of(run.question.id) for run in unseen], return_inverse=True
    )
    group, size = template[1], len(rows) // 2
    print_ = sys.stdout.write

    def shuffled_runs(rng: np.random.Generator) -> list[int]:
        return list(rng.permutation(len(rows)).tolist())

    def shuffled_templates(rng: np.random.Generator) -> list[int]:
        order = rng.permutation(group.max() + 1)[group]
        first = np.lexsort((rng.random(len(rows)), order))
        return [*first[:size].tolist(), *rng.permutation(first[size:]).tolist()]

    ways: dict[str, Callable[[np.random.Generator], list[int]]] = {
        "runs": shuffled_runs,
        "templates": shuffled_templates,
    }
    print_(f"false alarms at a stated chance of {CHANCE:.0%}, {size} reference and live runs\n")
    for name, shuffle in ways.items():
        alarms = 0
        for seed in range(replays):
            order = [rows[i] for i in shuffle(np.random.default_rng(seed))]
            alarms += alarm_after(order[:size], order[size:], seed) is not None
        print_(f"  shuffled {name:10} {alarms} of {replays}\n")
    calibration = [i for i, run in enumerate(unseen) if pools.pool_of(run.question.id) != "heldout"]
    heldout = [run for run in unseen if pools.pool_of(run.question.id) == "heldout"]
    rng = np.random.default_rng(1)
    of_template: dict[str, list[bool]] = defaultdict(list)
    for run in unseen:
        right = labels[run.question.id].correct is True if run.question.id in labels else False
        of_template[pools.template_of(run.question.id)].append(right)
    harder = [run for run in heldout if not any(of_template[pools.template_of(run.question.id)])]
    gone = Observation(kind="error", error="no such column", text="ERROR: no such column")
    nothing = Observation(kind="empty", rows=0, columns=1, text="empty (0 rows)")
    changes: dict[str, Sequence[Trajectory]] = {
        "none": heldout,
        "another prompt (grounded)": list(agents["grounded"].runs),
        "another prompt (plain)": list(agents["plain"].runs),
        "a schema release": [broken(run, rng, 1 / 3, gone) for run in heldout],
        "harder questions": harder,
        "a broken tool": [broken(run, rng, 1.0, nothing) for run in heldout],
    }
    print_("runs until the alarm, median of 20 orders (alarms); the stream that moved\n")
    for name, changed in changes.items():
        live = rows_of(changed)
        found = []
        for seed in range(20):
            mixed = np.random.default_rng(seed).permutation(len(live)).tolist()
            found.append(
                alarm_after([rows[i] for i in calibration], [live[i] for i in mixed], seed)
            )
        alarmed = [it for it in found if it is not None]
        median = f"{np.median([it[0] for it in alarmed]):.0f}" if alarmed else "–"
        streams = sorted({it[1] for it in alarmed}, key=[it[1] for it in alarmed].count)
        print_(
            f"  {name:28} {median:>4} of {len(live)} ({len(alarmed)} of 20)  "
            f"{streams[-1] if streams else ''}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
