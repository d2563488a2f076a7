"""Measures seed variance: fits a monitor again with other seeds, and evaluates each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sentinel_sql.errors import InputError, SentinelError
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.studies.seed_variance import seed_figures, seed_variance
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.record import Trajectory


def seed_exhibits(
    monitor: Monitor,
    evaluation: Evaluation,
    trajectories: Sequence[Trajectory],
    pools: Pools,
    labels: Mapping[str, Label],
    header: LabelsHeader,
    *,
    seeds: int,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> dict[str, Exhibit[Any]]:
    """Return the exhibits `seeds` and `seed_figures`.

    The monitors of other seeds are evaluated and dropped. None of them is chosen, so they don't
    spend the held-out pool again.

    Args:
        monitor: the evaluated monitor.
        evaluation: the evaluation of that monitor.
        trajectories: all runs of the store.
        pools: the pool manifest.
        labels: labels by run id.
        header: header of the labels file.
        seeds: number of seeds, including the monitor's own; at least 2.
        on_progress: called with (monitors evaluated, all monitors).

    Raises:
        InputError: there are fewer than 2 seeds.
        SentinelError: the error of fitting or evaluating a seed's monitor, of the same type, with
            the seed in its message.
    """
    if seeds < 2:
        raise InputError(f"{seeds} seed has no variance: give --seeds 2 or more")
    own = int(monitor.facts["seed"])
    evidence = evaluation.evidence
    by_seed: dict[int, Evidence] = {own: evidence}
    on_progress(1, seeds)
    for number in range(1, seeds):
        seed = own + number
        try:
            other = fit(
                trajectories,
                pools,
                labels,
                header,
                head=monitor.estimators.head,
                seed=seed,
                stakes=evidence.stakes,
            )
            by_seed[seed] = evaluate(
                other,
                trajectories,
                pools,
                labels,
                stakes=evidence.stakes,
                pool=evaluation.pool,
                options=evidence.options,
            ).evidence
        except SentinelError as error:
            raise type(error)(
                f"no seed variance, because the monitor of seed {seed} can't be fitted: {error}. "
                "The evaluation of the monitor itself is valid; leave out --seeds, or give more "
                "runs"
            ) from error
        on_progress(number + 1, seeds)
    return {"seeds": seed_variance(by_seed), "seed_figures": seed_figures(by_seed)}
