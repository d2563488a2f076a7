"""Two targets for the monitor of open runs: how a run ends, or whether its failure is visible.

The paper's target marks every prefix of a failing run as failing. The other one marks a prefix
only from the step on at which a person could see the failure: the first step of the last unbroken
row of errors, empty results and repeated queries, or else the committed wrong answer, which no
open prefix shows. Both are fitted by the `linear` head on the answers of a bundled agent, in four
rotated splits by template, and judged by how they rank open runs by their ending.

Example:
    benchmarks/warning_targets.py guided grounded
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from sentinel_sql.monitor.head import Bools
from sentinel_sql.monitor.heads.linear import LinearHead
from sentinel_sql.monitor.snapshots import read_run
from sentinel_sql.pipeline.learning.bundled_runs import read_bundled_runs
from sentinel_sql.pipeline.learning.fit_general import AgentRuns
from sentinel_sql.pipeline.scoring import label_of, surroundings_of
from sentinel_sql.trajectory.record import Trajectory

TARGETS = ("how the run ends", "whether the failure is visible")


def visible_from(run: Trajectory) -> int:
    """Return the first t at which the failure of a failing run shows, in 1 … T."""
    seen: set[str] = set()
    poor = []
    for step in run.steps:
        words = " ".join((step.sql or "").lower().split())
        repeated = bool(words) and words in seen
        seen.add(words)
        poor.append(step.observation.kind in ("error", "refused", "empty") or repeated)
    first = len(poor)
    while first > 1 and poor[first - 2]:
        first -= 1
    return first


def fails(run: Trajectory, agent: AgentRuns) -> bool:
    """Return whether the agent alone doesn't earn +1 with this run."""
    label = label_of(run, agent.labels)
    if not label.answerable:
        return label.outcome == "answered"
    return label.correct is not True


def compare(agent: AgentRuns, *, seed: int = 7) -> list[str]:
    """Return one line for each target."""
    runs = [run for run in agent.runs if run.question.id in agent.labels and run.steps]
    head, around = LinearHead(), surroundings_of(agent.header)
    read = [read_run(run, head=head, surroundings=around) for run in runs]
    failing = np.array([fails(run, agent) for run in runs], np.bool_)
    names = [agent.pools.template_of(run.question.id) for run in runs]
    templates, group = np.unique(names, return_inverse=True)
    group = group.astype(np.int64)
    fold = np.random.default_rng(seed).permutation(len(templates))[group] % 4
    lines = []
    for target in TARGETS:
        scores: list[float] = []
        truth: list[bool] = []
        ahead: list[int] = []
        for part in range(4):
            train = np.flatnonzero(fold != part)
            snapshots = [it for i in train for it in read[i].training]
            marks: list[Bools] = []
            for i in train:
                t = np.arange(len(read[i].training))
                start = visible_from(runs[i]) if target == TARGETS[1] else 0
                marks.append(failing[i] & (t >= start))
            fitted = head.fit(
                snapshots,
                np.concatenate(marks),
                groups=np.repeat(group[train], [len(read[i].training) for i in train]),
                seed=seed,
            )
            for run in np.flatnonzero(fold == part).tolist():
                steps = len(runs[run].steps)
                for step, snapshot in enumerate(read[run].training[:steps]):
                    scores.append(fitted.margin(snapshot))
                    truth.append(bool(failing[run]))
                    ahead.append(steps - step)
        # At the strictness at which one in ten prefixes of good runs is warned, how early is it?
        margins, bad = np.array(scores), np.array(truth)
        bar = np.quantile(margins[~bad], 0.9)
        warned = bad & (margins > bar)
        lines.append(
            f"{target:32} AUROC {roc_auc_score(bad, margins):.3f}  average precision "
            f"{average_precision_score(bad, margins):.3f} (chance {bad.mean():.3f})  warned "
            f"{warned.sum() / bad.sum():.0%} of the failing prefixes, "
            f"{np.array(ahead)[warned].mean():.1f} steps ahead"
        )
    return lines


def main() -> int:
    """Print both targets for each agent."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("agents", nargs="+", metavar="NAME")
    bundled = read_bundled_runs()
    for name in options.parse_args().agents:
        sys.stdout.write(f"{name}\n" + "".join(f"  {it}\n" for it in compare(bundled[name])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
