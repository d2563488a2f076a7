"""Learning curves: how well answers are ranked after 25, 50, 100, 200 and all labelled answers.

Each draw tests on a third of the templates and fits on answers of the others. The prior learns from
the other bundled agents alone, without the tested templates. Draws in `--out`
aren't made again.

Example:
    benchmarks/learning_curves.py --draws 30 --out curves.jsonl
    benchmarks/learning_curves.py --also mine runs/ labels.jsonl pools.json --out curves.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from landed_regime import fit_regime
from sentinel_sql.labels.file import read_labels
from sentinel_sql.monitor.head import Bools, Floats, Ints
from sentinel_sql.monitor.heads.linear import LinearHead, LinearSnapshot, balance, fit_ngrams
from sentinel_sql.monitor.heads.ridge import Prior, fit_ridge
from sentinel_sql.monitor.snapshots import read_run
from sentinel_sql.pipeline.learning.bundled_runs import read_bundled_runs
from sentinel_sql.pipeline.learning.fit_general import FAMILIES, AgentRuns
from sentinel_sql.pipeline.scoring import label_of, surroundings_of
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.store import read_trajectories

SIZES = (25, 50, 100, 200, 0)
"""Numbers of labelled answers; 0 means all."""

KIND = LinearHead(families=FAMILIES)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers of one agent: the last snapshot, all snapshots of its run, and labels."""

    dense: Floats
    runs: list[tuple[LinearSnapshot, ...]]
    templates: np.ndarray
    answerable: Bools
    correct: Bools


def read_answers(agent: AgentRuns) -> Answers:
    """Read the answers of one agent, outside of its held-out pool."""
    surroundings, kept, labels = surroundings_of(agent.header), [], []
    for run in agent.runs:
        name = run.question.id
        unread = name not in agent.labels or agent.labels[name].without_verdict
        if unread or run.outcome.kind != "answered" or agent.pools.pool_of(name) == "heldout":
            continue
        labels.append((label_of(run, agent.labels), agent.pools.template_of(name)))
        kept.append(read_run(run, head=KIND, surroundings=surroundings).training)
    return Answers(
        dense=np.array([run[-1].dense for run in kept]),
        runs=kept,
        templates=np.array([template for _, template in labels]),
        answerable=np.array([label.answerable for label, _ in labels]),
        correct=np.array([label.correct is True for label, _ in labels]),
    )


def learn_prior(others: Sequence[Answers], tested: np.ndarray, seed: int) -> Prior:
    """Learn a prior from the other agents, without the tested templates."""
    dense = np.concatenate([each.dense for each in others])
    correct = np.concatenate([each.correct for each in others])
    templates = np.concatenate([each.templates for each in others])
    on = ~np.isin(templates, tested)
    _, groups = np.unique(templates[on], return_inverse=True)
    found = fit_ridge(dense[on], correct[on], groups, balance(correct[on]), seed=seed)
    if found is None:
        raise SystemExit("the other agents have no right answer, or no wrong one")
    return Prior(
        names=KIND.features[: dense.shape[1]],
        center=found.center[1:],
        scale=found.scale[1:],
        weights=found.weights[1:],
    )


def by_landed(its: Answers, on: Ints, seed: int) -> Floats:
    """Score all answers by the head before: n-gram margin first, answerable answers alone."""
    on = on[its.answerable[on]]
    _, groups = np.unique(its.templates[on], return_inverse=True)
    sizes = [len(its.runs[i]) for i in on]
    whole, margins = fit_ngrams(
        [snapshot.counts for i in on for snapshot in its.runs[i]],
        np.repeat(its.correct[on], sizes),
        np.repeat(groups, sizes),
        seed=seed,
    )
    columns = np.column_stack([margins[np.cumsum(sizes) - 1], its.dense[on]])
    target = its.correct[on]
    regime = fit_regime(columns, target, groups, balance(target), seed=seed)
    alone = np.array([whole.margin(run[-1].counts) for run in its.runs])
    return np.array([regime.margin(row) for row in np.column_stack([alone, its.dense])])


def draw(its: Answers, others: Sequence[Answers], size: int, seed: int) -> dict[str, list[float]]:
    """Return for each way [AUROC of delivery, AUROC of correctness] on the tested templates."""
    rng = np.random.default_rng(seed)
    templates = rng.permutation(np.unique(its.templates))
    tested = templates[: len(templates) // 3]
    held = np.isin(its.templates, tested)
    pool = rng.permutation(np.flatnonzero(~held))
    on = pool[: size or len(pool)]
    target = its.correct[on]
    judged = target[its.answerable[on]]
    if size > len(pool) or not judged.any() or judged.all():
        return {}
    _, groups = np.unique(its.templates[on], return_inverse=True)
    prior = learn_prior(others, tested, seed)
    scores = {"landed": by_landed(its, on, seed)}
    for way, towards in (("no prior", None), ("prior", prior)):
        regime = fit_ridge(
            its.dense[on],
            target,
            groups,
            balance(target),
            prior=towards,
            names=prior.names,
            seed=seed,
        )
        if regime is not None:
            scores[way] = np.array([regime.margin(np.append(0.0, row)) for row in its.dense])
    known = np.where(np.isfinite(prior.scale), prior.scale, np.inf)
    standard = np.nan_to_num(np.clip((its.dense - prior.center) / known, -4.0, 4.0))
    scores["zero-shot"] = standard @ prior.weights
    both = held & its.answerable
    return {
        way: [
            float(roc_auc_score(its.correct[on_test], its_scores[on_test]))
            for on_test in (held, both)
        ]
        for way, its_scores in scores.items()
    }


def table(lines: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yield one line for each agent and size: mean AUROC of delivery / of correctness."""
    keys = sorted({(str(line["agent"]), int(str(line["size"]))) for line in lines})
    for agent, size in keys:
        found = [line["auroc"] for line in lines if (line["agent"], line["size"]) == (agent, size)]
        ways = [it for it in found if isinstance(it, dict) and it]
        if ways:
            means = {way: np.mean([it[way] for it in ways], axis=0) for way in ways[0]}
            shown = "  ".join(f"{way} {a:.3f} / {b:.3f}" for way, (a, b) in means.items())
            yield f"{agent:10} {size or 'all':>4}  {len(ways):2} draws  {shown}\n"


def main() -> int:
    """Make the draws that are missing, and print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--draws", type=int, default=30)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument(
        "--also", nargs=4, action="append", default=[], metavar=("NAME", "RUNS", "LABELS", "POOLS")
    )
    given = options.parse_args()
    agents = {name: read_answers(agent) for name, agent in read_bundled_runs().items()}
    packaged = tuple(agents)
    for name, runs, labels_file, pools in given.also:
        header, labels = read_labels(labels_file)
        agents[name] = read_answers(
            AgentRuns(
                runs=read_trajectories(runs), labels=labels, header=header, pools=Pools.read(pools)
            )
        )
    lines = [json.loads(line) for line in given.out.open()] if given.out.exists() else []
    made = {(line["agent"], line["size"], line["draw"]) for line in lines}
    with given.out.open("a") as sink:
        for seed in range(given.draws):
            for name in agents:
                for size in SIZES:
                    if (name, size, seed) in made:
                        continue
                    others = [agents[other] for other in packaged if other != name]
                    auroc = draw(agents[name], others, size, seed)
                    lines.append({"agent": name, "size": size, "draw": seed, "auroc": auroc})
                    sink.write(json.dumps(lines[-1]) + "\n")
                    sink.flush()
    sys.stdout.writelines(table(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
