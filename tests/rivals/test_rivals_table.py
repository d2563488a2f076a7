from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from run_cases import HEADER, planted_store
from sentinel_sql.errors import InputError, StoreError
from sentinel_sql.evaluation.bootstrap import LEVEL, Resampling
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.metrics import risk_coverage
from sentinel_sql.evaluation.options import Options
from sentinel_sql.evaluation.replay import replay
from sentinel_sql.evaluation_store import tables
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.questions.pools import Pools
from sentinel_sql.report.terminal.rivals import rival_tables
from sentinel_sql.rivals.comparison import rivals
from sentinel_sql.rivals.confidences import Confidence, ConfidencesManifest, answer_hash
from sentinel_sql.rivals.exhibits import rival_exhibits, rival_scores
from sentinel_sql.rivals.kinds import RIVALS
from sentinel_sql.rivals.resampled_aurc import resampled_aurc
from sentinel_sql.rivals.score_rivals import score_rivals
from sentinel_sql.rivals.scores import (
    DELIVERY,
    RivalScores,
    calibrated,
    covered_by_all,
    own_scores,
)
from sentinel_sql.trajectory.record import AgentInfo, Trajectory
from sentinel_sql.trajectory.render import render
from small_runs import fitted

UNTIMED = {"seconds_a_step": None}


@cache
def evaluated() -> Evaluation:
    monitor, runs, pools, labels = fitted()
    return evaluate(monitor, runs, pools, labels)


def scored(**how: Any) -> tuple[Evidence, PrefixScores, Sequence[RivalScores]]:
    monitor, runs, pools, labels = fitted()
    evaluation = how.pop("evaluation", None) or evaluated()
    calibration, scores = score_rivals(
        how.pop("monitor", monitor),
        evaluation,
        how.pop("runs", runs),
        how.pop("pools", pools),
        how.pop("labels", labels),
        **how,
    )
    return evaluation.evidence, calibration, scores


def exhibits(**how: Any) -> Mapping[str, Exhibit[Any]]:
    return rival_exhibits(*scored(**how))


def untimed(made: Mapping[str, Exhibit[Any]]) -> dict[str, Any]:
    documents = {name: exhibit.to_json() for name, exhibit in made.items()}
    for document in documents.values():
        document["rows"] = [row | UNTIMED for row in document["rows"]]
    return documents


def by_name(exhibit: Exhibit[Any]) -> dict[str, Any]:
    return {row.rival: row for row in exhibit.rows}


def raw_frame() -> pd.DataFrame:
    """Return one line a run, made of the stored JSON and the labels alone."""
    _, runs, pools, labels = fitted()
    lines = []
    for run in runs:
        stored = json.loads(run.model_dump_json())
        label = labels[stored["question"]["id"]]
        tokens = [step["telemetry"] or {} for step in stored["steps"]]
        last = stored["steps"][-1] if stored["steps"] else {"observation": {"kind": "none"}}
        lines.append(
            {
                "id": stored["question"]["id"],
                "pool": pools.pool_of(stored["question"]["id"]),
                "question": stored["question"]["text"],
                "transcript": render(run.prefix(len(run.steps))),
                "answered": stored["outcome"]["kind"] == "answered",
                "answerable": label.answerable,
                "correct": bool(label.correct) and label.answerable,
                "clean": last["observation"]["kind"] == "rows",
                "steps": len(stored["steps"]),
                "entropy": max((e for t in tokens for e in t.get("entropies", ())), default=np.nan),
                "logprob": np.mean([x for t in tokens for x in t.get("logprobs", ())] or [np.nan]),
            }
        )
    return pd.DataFrame(lines).set_index("id")


def fitted_text(frame: pd.DataFrame, column: str) -> pd.Series:
    """Score texts by a TF-IDF regression of the answers of the train pool, as a library does."""
    train = frame[(frame.pool == "train") & frame.answered]
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    model = LogisticRegression(class_weight="balanced", max_iter=2000)
    model.fit(vectorizer.fit_transform(train[column]), train.correct)
    return pd.Series(model.decision_function(vectorizer.transform(frame[column])), frame.index)


def confidences(frozen: pd.DataFrame, asked: pd.DataFrame) -> Any:
    """Scikit-learn's isotonic fit, its blocks shrunk to (k+1)/(n+2) and pooled until they rise."""
    isotonic = IsotonicRegression(y_min=0, y_max=1).fit(frozen.score, frozen.correct)
    blocks = (
        frozen.assign(level=isotonic.predict(frozen.score).round(12))
        .groupby("level")
        .agg(
            low=("score", "min"), high=("score", "max"), k=("correct", "sum"), n=("correct", "size")
        )
        .reset_index(drop=True)
    )
    while (flat := np.flatnonzero(np.diff((blocks.k + 1) / (blocks.n + 2)) <= 0)).size:
        names = blocks.index.to_series()
        names.iloc[flat[0] + 1] = names.iloc[flat[0]]
        blocks = (
            blocks.groupby(names.to_numpy())
            .agg({"low": "min", "high": "max", "k": "sum", "n": "sum"})
            .reset_index(drop=True)
        )
    level = (blocks.k + 1) / (blocks.n + 2)
    knots = pd.DataFrame({"at": [*blocks.low, *blocks.high], "level": [*level, *level]})
    knots = knots.drop_duplicates("at").sort_values("at")
    return np.interp(asked.score, knots["at"], knots["level"])


@pytest.fixture(scope="module")
def again() -> dict[str, pd.DataFrame]:
    """The rivals' figures made again with pandas and scikit-learn, without our code."""
    frame = raw_frame()
    scores = {
        "executed, not empty": frame.clean.astype(float),
        "step count": -frame.steps.astype(float),
        "max token entropy": -frame.entropy,
        "mean log-probability": frame.logprob,
        "question TF-IDF": fitted_text(frame, "question"),
        "transcript TF-IDF": fitted_text(frame, "transcript"),
    }
    made = {}
    for name, score in scores.items():
        told = frame.assign(score=score)
        frozen = told[(told.pool == "calibration") & told.answered]
        made[name] = told.assign(confidence=confidences(frozen, told)).query("pool == 'heldout'")
    return made


def test_every_figure_is_what_pandas_and_scikit_learn_make_of_the_stored_runs(
    again: dict[str, pd.DataFrame],
) -> None:
    made = exhibits()
    rows = by_name(made["rivals"])
    earned = {(row.rival, row.stakes): row for row in made["rival_payoffs"].rows}
    for name, told in again.items():
        row, answers = rows[name], told[told.answered]
        clean = answers[answers.clean]
        askable = answers[answers.answerable]
        assert (row.n, row.unscored) == (len(answers), 0)
        for found, over in ((row.auroc, answers), (row.answerable, askable)):
            assert found.estimate == pytest.approx(roc_auc_score(over.correct, over.score))
        assert (row.quiet is None) == (clean.correct.nunique() < 2)
        if row.quiet is not None:
            assert row.quiet.estimate == pytest.approx(roc_auc_score(clean.correct, clean.score))
        bins = (answers.confidence * 10).astype(int).clip(upper=9)
        gaps = (answers.confidence - answers.correct).groupby(bins).sum().abs()
        assert row.ece.estimate == pytest.approx(gaps.sum() / len(answers))
        for stakes in (1.0, 4.0, 9.0):
            delivered = told.answered & (told.confidence >= stakes / (1 + stakes))
            payoff = np.where(
                delivered,
                np.where(told.correct, 1.0, -stakes),
                np.where(told.answerable, 0.0, 1.0),
            )
            assert earned[name, stakes].rs.estimate == pytest.approx(payoff.mean())
            assert earned[name, stakes].coverage == pytest.approx(delivered.mean())


def test_the_monitor_s_row_is_the_monitor_that_was_evaluated() -> None:
    made, found = exhibits(), evaluated()
    row = by_name(made["rivals"])[DELIVERY]
    heads = {head.name: head for head in found.exhibits["heads"].rows}
    assert row.auroc == heads["delivery"].auroc
    assert row.quiet == heads["quiet failure, delivery"].auroc
    head = by_name(made["rivals"])["correctness head"]
    assert head.answerable == heads["correctness"].auroc
    earned = {(r.rival, r.stakes): r.rs for r in made["rival_payoffs"].rows}
    systems = {(r.system, r.stakes): r.rs for r in found.exhibits["ladder"].rows}
    unlimited = found.thresholds.model_copy(update={"served": None})  # rivals have no such limit
    for stakes in (1.0, 4.0, 9.0):
        chow = replay(found.scores, "chow", thresholds=unlimited, stakes=stakes)
        assert earned[DELIVERY, stakes].estimate == pytest.approx(chow.rs, abs=1e-12)
        for rival, system in (
            ("deliver all", "vanilla"),
            ("withhold all", "always-abstain"),
        ):
            mine, theirs = earned[rival, stakes], systems[system, stakes]
            assert mine.estimate == pytest.approx(theirs.estimate, abs=1e-12)
            assert (mine.low, mine.high) == (theirs.low, theirs.high)


def test_the_same_map_calibrates_the_monitor_and_its_rivals() -> None:
    found = evaluated()
    calibration = found.evidence.frozen_on
    assert calibration is not None
    own = own_scores(found.evidence, calibration, None)[0]
    confidence = calibrated(calibration, own)
    assert confidence is not None
    np.testing.assert_allclose(confidence, found.scores.delivery, rtol=0, atol=1e-12)


def test_labels_of_other_pools_than_train_reach_no_rival() -> None:
    _, _, pools, labels = fitted()
    planted = {
        name: (
            label
            if pools.pool_of(name) == "train"
            else label.model_copy(update={"correct": not label.correct, "answerable": True})
        )
        for name, label in labels.items()
    }
    only_train = {n: label for n, label in labels.items() if pools.pool_of(n) == "train"}
    expected = untimed(exhibits())
    assert untimed(exhibits(labels=planted)) == expected
    assert untimed(exhibits(labels=only_train)) == expected


def test_runs_of_other_pools_than_train_are_never_fitted_on() -> None:
    """A word that only held-out answers hold, right ones alone, moves no score."""
    _, runs, pools, labels = fitted()

    def marked(run: Trajectory) -> Trajectory:
        name = run.question.id
        if pools.pool_of(name) != "heldout" or not labels[name].correct or not run.steps:
            return run
        steps = (*run.steps[:-1], run.steps[-1].model_copy(update={"thought": "zzqx zzqx"}))
        return run.model_copy(update={"steps": steps})

    def blank(run: Trajectory) -> Trajectory:
        name = run.question.id
        if pools.pool_of(name) != "heldout" or not labels[name].correct or not run.steps:
            return run
        steps = (*run.steps[:-1], run.steps[-1].model_copy(update={"thought": "vvkw vvkw"}))
        return run.model_copy(update={"steps": steps})

    first, second = (
        by_name(exhibits(runs=[change(run) for run in runs])["rivals"])["transcript TF-IDF"]
        for change in (marked, blank)
    )
    assert first.auroc == second.auroc


@cache
def planted() -> tuple[list[Trajectory], Pools, Mapping[str, Label], Any, Evaluation]:
    runs, pools, labels = planted_store(320, seed=3)
    monitor = fit(runs, pools, labels, HEADER, head="ngrams")
    return runs, pools, labels, monitor, evaluate(monitor, runs, pools, labels)


def test_a_rival_learns_what_stands_where_it_reads_and_nothing_else() -> None:
    runs, pools, labels, monitor, found = planted()
    made = exhibits(monitor=monitor, evaluation=found, runs=runs, pools=pools, labels=labels)
    rows = by_name(made["rivals"])
    # The planted word tells right from wrong in the thoughts of answers to answerable questions.
    assert rows["transcript TF-IDF"].answerable.estimate > 0.95
    assert rows["correctness head"].answerable.estimate > 0.95
    for blind in ("question TF-IDF", "ending only", "token dynamics", "step count"):
        assert rows[blind].answerable.low < 0.55
    assert rows["executed, not empty"].auroc.estimate == 0.5


def test_without_telemetry_its_rivals_say_nothing_and_say_why() -> None:
    _, runs, _, _ = fitted()
    bare = [
        run.model_copy(
            update={"steps": tuple(s.model_copy(update={"telemetry": None}) for s in run.steps)}
        )
        for run in runs
    ]
    rows = by_name(exhibits(runs=bare)["rivals"])
    for name, rival in RIVALS.items():
        row = rows[name]
        if rival.kind != "telemetry":
            assert row.auroc is not None
            continue
        assert (row.n, row.unscored) == (0, rows[DELIVERY].n)
        assert (row.auroc, row.lead, row.quiet, row.aurc, row.ece) == (None,) * 5
        assert row.missing == "no token telemetry was recorded"
    assert "rivals_covered" not in exhibits(runs=bare)
    earned = exhibits(runs=bare)["rival_payoffs"].rows
    assert {
        r.rs for r in earned if RIVALS.get(r.rival, RIVALS["step count"]).kind == "telemetry"
    } == {None}


def test_a_train_pool_with_one_kind_of_answer_fits_no_rival() -> None:
    _, _, pools, labels = fitted()
    all_right = {
        name: label.model_copy(update={"correct": True, "answerable": True})
        if pools.pool_of(name) == "train"
        else label
        for name, label in labels.items()
    }
    rows = by_name(exhibits(labels=all_right)["rivals"])
    for name, rival in RIVALS.items():
        if rival.fit is not None:
            assert rows[name].auroc is None
            assert rows[name].missing == "only 0 answers of a kind in the train pool, 5 are needed"
        else:
            assert rows[name].auroc is not None


def test_one_class_in_the_pool_gives_no_auroc_but_what_it_earns() -> None:
    found = evaluated()
    scores = replace(found.scores, correct=np.zeros(len(found.scores), np.bool_))
    evidence = replace(found.evidence, scores=scores)
    calibration = found.evidence.frozen_on
    assert calibration is not None
    made = rivals(evidence, calibration, own_scores(evidence, calibration, None))
    for row in made.rows:
        assert (row.auroc, row.quiet, row.lead) == (None, None, None)
        assert row.aurc is not None
        assert row.aurc.estimate == 1.0


def asked(
    runs: Sequence[Trajectory], *, every: int = 1, agent: AgentInfo | None = None
) -> tuple[ConfidencesManifest, list[Confidence]]:
    answered = [run for run in runs if run.outcome.kind == "answered"]
    records = [
        Confidence(
            run=run.question.id,
            answer=answer_hash(run),
            method=method,
            score=(number * 7 % 11) / 10,
            calls=1,
            prompt_tokens=90,
            completion_tokens=10,
            seconds=2.0,
        )
        for number, run in enumerate(answered)
        for method in ("p-true", "verbalized")
        if method == "verbalized" or number % every == 0
    ]
    return ConfidencesManifest(agent=agent or runs[0].agent), records


def test_collected_confidences_stand_beside_the_rest_with_what_they_cost() -> None:
    _, runs, _, _ = fitted()
    made = exhibits(confidences=asked(runs))
    rows = by_name(made["rivals"])
    assert "rivals_covered" not in made
    assert {"P(True)", "verbalized"} <= rows.keys()
    scores = evaluated().scores
    steps = scores.steps[scores.answered].sum() / scores.answered.sum()
    for name in ("P(True)", "verbalized"):
        assert rows[name].unscored == 0
        assert rows[name].seconds_a_step == pytest.approx(2.0 / steps)
        assert rows[name].tokens_a_step == pytest.approx(100 / steps)
    assert not {"P(True)", "verbalized"} & by_name(exhibits()["rivals"]).keys()


def test_confidences_of_some_answers_are_compared_on_these_answers_alone() -> None:
    _, runs, _, _ = fitted()
    made = exhibits(confidences=asked(runs, every=2))
    everywhere, covered = by_name(made["rivals"]), by_name(made["rivals_covered"])
    part = everywhere["P(True)"].n
    assert 0 < part < everywhere[DELIVERY].n
    assert everywhere["P(True)"].missing == "not asked, or the reply held none"
    assert {row.n for row in covered.values()} == {part}
    assert covered["P(True)"].auroc == everywhere["P(True)"].auroc
    assert covered[DELIVERY].auroc != everywhere[DELIVERY].auroc
    # Of answers that it wasn't asked about nobody knows what it would have done.
    assert {r.rs for r in made["rival_payoffs"].rows if r.rival == "P(True)"} == {None}
    assert None not in {r.rs for r in made["rival_payoffs_covered"].rows if r.rival == "P(True)"}


def test_confidences_about_others_are_refused() -> None:
    _, runs, _, _ = fitted()
    stranger = AgentInfo(name="another")
    with pytest.raises(StoreError, match="confidences are of the agent"):
        exhibits(confidences=asked(runs, agent=stranger))
    manifest, records = asked(runs)
    wrong = [record.model_copy(update={"answer": "other"}) for record in records]
    with pytest.raises(StoreError, match="about another answer of run"):
        exhibits(confidences=(manifest, wrong))


def test_what_can_t_be_compared_is_refused() -> None:
    monitor, runs, pools, labels = fitted()
    few = [run for run in runs if pools.pool_of(run.question.id) != "calibration"]
    with pytest.raises(StoreError, match="runs on which the monitor was frozen"):
        exhibits(runs=few)
    blind = evaluate(monitor, runs, pools, labels, options=Options(question_only=True))
    with pytest.raises(InputError, match="--question-only reads no run"):
        exhibits(evaluation=blind)


def test_tables_fit_80_columns_say_what_is_missing_and_can_be_kept(tmp_path: Path) -> None:
    _, runs, _, _ = fitted()
    made = exhibits(confidences=asked(runs, every=2))
    documents = {name: exhibit.to_json() for name, exhibit in made.items()}
    json.dumps(documents, allow_nan=False)
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        for part in rival_tables(documents):
            console.print(part)
    lines = console.export_text().splitlines()
    assert max(cell_len(line) for line in lines) <= 80
    assert not any(line.rstrip().endswith("…") for line in lines)
    assert "P(True): not asked, or the reply held none" in [line.strip() for line in lines]
    assert list(rival_tables({})) == []
    tables.write(tmp_path, made)
    frame = pd.read_csv(tmp_path / "tables" / "rivals.csv")
    assert frame.rival.tolist() == [row.rival for row in made["rivals"].rows]
    assert frame.auroc.tolist() == [row.auroc.estimate for row in made["rivals"].rows]


def test_every_figure_can_be_had_again_from_the_listed_scores_alone(tmp_path: Path) -> None:
    _, runs, _, _ = fitted()
    evidence, calibration, scores = scored(confidences=asked(runs, every=2))
    rows = by_name(rival_exhibits(evidence, calibration, scores)["rivals"])
    tables.write(tmp_path, {"rival_scores": rival_scores(evidence, calibration, scores)})
    listed = pd.read_csv(tmp_path / "tables" / "rival_scores.csv")
    assert set(listed.rival) == set(rows)
    for name, told in listed.dropna(subset="score").groupby("rival"):
        frozen, answers = (told[told.pool == pool] for pool in ("calibration", "evaluated"))
        row = rows[str(name)]
        assert (row.n, row.calibrated_on) == (len(answers), len(frozen))
        assert row.auroc.estimate == pytest.approx(roc_auc_score(answers.correct, answers.score))
        np.testing.assert_allclose(answers.confidence, confidences(frozen, answers), atol=1e-9)
        # Rank by rank, ties in their mean order: independent of the product's closed form.
        risks = [
            np.mean(np.cumsum(~shuffled.correct.to_numpy()) / np.arange(1, len(shuffled) + 1))
            for seed in range(60)
            for shuffled in [
                answers.sample(frac=1, random_state=seed).sort_values(
                    "score", ascending=False, kind="stable"
                )
            ]
        ]
        assert row.aurc.estimate == pytest.approx(np.mean(risks), abs=0.03)


@given(seed=st.integers(0, 10**6), runs=st.integers(2, 30), grid=st.booleans())
def test_resampled_aurc_is_that_of_resampling_row_by_row(seed: int, runs: int, grid: bool) -> None:
    rng = np.random.default_rng(seed)
    target = rng.random(runs) < 0.5
    score = rng.integers(0, 4, runs).astype(float) if grid else rng.random(runs)
    where = rng.random(runs) < 0.7
    resampling = Resampling.over([f"t{n}" for n in rng.integers(0, 6, runs)], resamples=40, seed=1)
    found = resampled_aurc(resampling, target, score, where)
    if not where.any():
        assert found is None
        return
    assert found is not None
    whole = risk_coverage(target[where], score[where])
    assert whole is not None
    assert found.estimate == pytest.approx(whole.aurc, abs=1e-12)
    drawn = []
    for counts in resampling.counts.astype(int):
        rows = np.repeat(np.arange(runs), np.where(where, counts[resampling.cluster], 0))
        curve = risk_coverage(target[rows], score[rows])
        if curve is not None:
            drawn.append(curve.aurc)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(drawn, LEVEL)), abs=1e-12)


def test_nothing_is_set_apart_where_every_rival_covers_all_answers_or_none() -> None:
    found = evaluated()
    scores = found.scores
    full = np.where(scores.answered, 0.5, np.nan)
    silent = np.full(len(scores), np.nan)
    calibration = found.evidence.frozen_on
    assert isinstance(calibration, PrefixScores)
    nothing = np.full(len(calibration), np.nan)

    def saying(pool: np.ndarray) -> RivalScores:
        return RivalScores(name="r", kind="rule", calibration=nothing, pool=pool)

    evidence: Evidence = found.evidence
    assert covered_by_all(evidence, [saying(full), saying(silent)]) is None
    part = full.copy()
    part[np.flatnonzero(scores.answered)[0]] = np.nan
    covered = covered_by_all(evidence, [saying(full), saying(part)])
    assert covered is not None
    assert (~covered).sum() == 1
