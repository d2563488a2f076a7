from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from sklearn.metrics import roc_auc_score

from run_cases import HEADER, planted_store
from sentinel_sql.errors import CannotFitError, InputError, MissingExtraError, StoreError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.head import Arrays, Bools, Floats, Ints
from sentinel_sql.monitor.heads.ngram_head import NgramHead
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.questions.pools import Pools
from sentinel_sql.report.terminal.candidates import candidate_tables
from sentinel_sql.rivals.candidates import (
    ADOPT_FROM,
    CandidateScores,
    ComparedRuns,
    candidates,
)
from sentinel_sql.rivals.compare_heads import compare_heads
from sentinel_sql.rivals.kinds import RIVALS
from sentinel_sql.trajectory.record import AskedQuestion, Step, Trajectory
from sentinel_sql.trajectory.render import Commitment


@dataclass(frozen=True)
class Remembering:
    """A head that knows by heart the questions that it was fitted on, and guesses at others."""

    name: str = "remembering"

    def read(self, question: AskedQuestion, surroundings: Surroundings) -> Recall:
        return Recall(question.id)

    def fit(self, inputs: Sequence[str], targets: Bools, *, groups: Ints, seed: int) -> Remembered:
        return Remembered(dict(zip(inputs, targets.tolist(), strict=True)))

    def restore(self, arrays: Arrays, files: Mapping[str, Path]) -> Remembered:
        raise AssertionError("a comparison saves no head, so it restores none")


@dataclass(frozen=True)
class Recall:
    question: str

    def observe(self, step: Step, committed: Commitment | None) -> None:
        pass

    def snapshot(self, limit: int) -> str:
        return self.question


@dataclass(frozen=True)
class Remembered:
    known: Mapping[str, bool]

    def score(self, inputs: Sequence[str]) -> Floats:
        return np.array([float(self.known.get(name, 0.5)) for name in inputs])

    def arrays(self) -> Arrays:
        return {}

    def files(self) -> Mapping[str, Path]:
        return {}

    def facts(self) -> Mapping[str, Any]:
        return {}


class Extra(Remembering):
    """A head whose extra isn't installed."""

    def fit(self, inputs: Sequence[str], targets: Bools, *, groups: Ints, seed: int) -> Remembered:
        raise MissingExtraError("such heads need: pip install 'sentinel-sql[such]'")


def planted() -> tuple[list[Trajectory], Pools, Mapping[str, Label]]:
    return planted_store(260, seed=5)


def compared(**how: Any) -> Exhibit[Any]:
    runs, pools, labels = planted()
    labels = how.pop("labels", labels)
    heads = how.pop("heads", {"remembering": Remembering(), "ngrams": NgramHead()})
    return compare_heads(
        how.pop("runs", runs),
        pools,
        labels,
        HEADER,
        heads=heads,
        default=how.pop("default", "ngrams"),
        seeds=how.pop("seeds", (1, 2)),
        **how,
    )


@pytest.fixture(scope="module")
def found() -> Exhibit[Any]:
    return compared()


def row(made: Exhibit[Any], name: str) -> Any:
    return next(each for each in made.rows if each.candidate == name)


def test_a_head_is_never_scored_on_what_it_was_fitted_on(found: Exhibit[Any]) -> None:
    remembering = row(found, "remembering")
    assert remembering.auroc.estimate == 0.5
    assert remembering.answerable.estimate == 0.5


def test_a_head_that_finds_the_planted_signal_replaces_one_that_doesn_t(
    found: Exhibit[Any],
) -> None:
    ngrams = row(found, "ngrams")
    assert ngrams.auroc.estimate > 0.95
    assert ngrams.lowest <= ngrams.auroc.estimate <= ngrams.highest
    assert ngrams.lead is None
    assert row(found, "remembering").lead.high < 0
    assert row(found, "remembering").verdict == "simplest"
    assert ngrams.verdict.startswith("adopted: +0.")
    assert found.note.endswith("the default should be ngrams.")
    assert ngrams.seconds_a_step > 0


def test_rivals_stand_beside_the_heads_under_the_same_folds(found: Exhibit[Any]) -> None:
    assert [each.candidate for each in found.rows[2:]] == list(RIVALS)
    assert row(found, "transcript TF-IDF").auroc.estimate > 0.95
    assert row(found, "executed, not empty").auroc.estimate == 0.5
    assert {each.verdict for each in found.rows[2:]} == {"a rival"}
    assert len(compared(with_rivals=False).rows) == 2


def test_labels_of_other_pools_than_those_compared_on_change_nothing(found: Exhibit[Any]) -> None:
    _, pools, labels = planted()
    only_train = {n: label for n, label in labels.items() if pools.pool_of(n) == "train"}
    again = compared(labels=only_train)
    for first, second in zip(found.rows, again.rows, strict=True):
        assert (first.auroc, first.quiet, first.answerable) == (
            second.auroc,
            second.quiet,
            second.answerable,
        )
    assert f"over {len(only_train)} runs" in found.note
    both = compared(among=("train", "calibration"), with_rivals=False)
    in_both = [n for n in labels if pools.pool_of(n) in ("train", "calibration")]
    assert f"over {len(in_both)} runs" in both.note


def test_a_head_that_lacks_an_extra_is_listed_with_the_way_to_get_it() -> None:
    made = compared(heads={"ngrams": NgramHead(), "extra": Extra()}, with_rivals=False)
    extra = row(made, "extra")
    assert extra.verdict == "not tried: such heads need: pip install 'sentinel-sql[such]'"
    assert (extra.auroc, extra.seconds_a_step, extra.lowest) == (None, None, None)
    assert row(made, "ngrams").verdict == "simplest"


def test_what_can_t_be_compared_is_refused() -> None:
    _, _, labels = planted()
    with pytest.raises(StoreError, match="no labelled run of the pools train"):
        compared(runs=[])
    with pytest.raises(InputError, match="no seed"):
        compared(seeds=())
    no_gap = {
        name: label.model_copy(update={"answerable": True, "correct": label.outcome == "answered"})
        for name, label in labels.items()
    }
    with pytest.raises(CannotFitError, match=r"\(0 unanswerable, .* 0 wrongly answered; 5 of each"):
        compared(labels=no_gap)


def columns(rng: np.random.Generator, correct: Bools, strength: float) -> tuple[Floats, ...]:
    return tuple(rng.random(len(correct)) + strength * correct for _ in range(2))


def some_runs(n: int = 300) -> ComparedRuns:
    rng = np.random.default_rng(0)
    answerable = rng.random(n) < 0.8
    return ComparedRuns(
        templates=tuple(f"t{i % 40}" for i in range(n)),
        answered=np.ones(n, np.bool_),
        answerable=answerable,
        correct=answerable & (rng.random(n) < 0.5),
        clean=rng.random(n) < 0.8,
    )


def test_the_rule_asks_two_hundredths_over_the_simpler_head_adopted_so_far() -> None:
    runs = some_runs()
    rng = np.random.default_rng(1)
    base = columns(rng, runs.correct, 0.4)
    slightly = tuple(column + 0.01 * runs.correct for column in base)
    clearly = tuple(column + 0.4 * runs.correct for column in base)
    scored = [
        CandidateScores(name=name, kind="head", correct=its, seconds=0.1)
        for name, its in (("a", base), ("b", slightly), ("c", clearly), ("d", clearly))
    ]
    made = candidates(runs, scored, default="b", seed=1)
    reply_of = {each.candidate: each.verdict for each in made.rows}
    assert reply_of["a"] == "simplest"
    assert reply_of["b"].startswith("no: +0.0")
    assert reply_of["b"].endswith(f"over a, +{ADOPT_FROM} needed")
    assert reply_of["c"].startswith("adopted: +0.")
    assert reply_of["c"].endswith("over a")
    assert reply_of["d"] == "no: +0.000 over c, +0.02 needed"
    where = runs.answered & runs.answerable
    for each, its in zip(made.rows, (base, slightly, clearly, clearly), strict=True):
        by_seed = [roc_auc_score(runs.correct[where], column[where]) for column in its]
        assert each.auroc.estimate == pytest.approx(np.mean(by_seed))
        assert (each.lowest, each.highest) == pytest.approx((min(by_seed), max(by_seed)))
        if each.candidate != "b":
            theirs = [roc_auc_score(runs.correct[where], column[where]) for column in slightly]
            assert each.lead.estimate == pytest.approx(np.mean(by_seed) - np.mean(theirs))


def test_adopted_head_with_an_uncertain_gain_is_marked() -> None:
    runs = some_runs(40)
    rng = np.random.default_rng(4)
    base = columns(rng, runs.correct, 0.3)
    luck = columns(rng, runs.correct, 0.35)
    scored = [
        CandidateScores(name="a", kind="head", correct=base),
        CandidateScores(name="b", kind="head", correct=luck),
    ]
    verdict = candidates(runs, scored, default="a", seed=1).rows[1].verdict
    assert verdict.startswith("adopted: +0.0")
    assert verdict.endswith("over a, but its interval holds 0")


def test_the_tables_fit_80_columns_and_are_plain_json(found: Exhibit[Any]) -> None:
    made = compared(
        heads={"ngrams": NgramHead(), "embedding": Extra()}, with_rivals=False, seeds=(1,)
    )
    for exhibit in (found, made):
        document = json.loads(json.dumps(exhibit.to_json(), allow_nan=False))
        console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
        with console.file:
            for part in candidate_tables(document):
                console.print(part)
        lines = console.export_text().splitlines()
        assert max(cell_len(line) for line in lines) <= 80
        assert not any(line.rstrip().endswith("…") for line in lines)
        assert not any("…  " in line.replace(" … ", "") for line in lines)
