"""A monitor that learns from coverage records: what it gains, and what it must not use."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from run_cases import HEADER, planted_store
from sentinel_sql.coverage import Coverage, CoveredPhrase, PhraseMatch
from sentinel_sql.decision.guard import Guard
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.bundle import load, save
from sentinel_sql.monitor.heads.vocabulary import fit_vocabulary, words_of_question
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.trajectory.record import AskedQuestion, Trajectory
from sentinel_sql.trajectory.render import render_question

HELD = (PhraseMatch(kind="value", table="t", column="c"),)


def covered(*words: str, held: bool = True, readable: bool = True) -> Coverage:
    phrases = tuple(
        CoveredPhrase(text=word, start=at, words=(word,), matches=HELD if held else ())
        for at, word in enumerate(words)
    )
    return Coverage(readable=readable, why_unread=None if readable else "…", phrases=phrases)


def with_coverage(run: Trajectory, coverage: Coverage | None) -> Trajectory:
    question = run.question.model_copy(update={"text": "which one", "coverage": coverage})
    return run.model_copy(update={"question": question})


@pytest.fixture(scope="module")
def made() -> tuple[Monitor, list[Trajectory], dict[str, bool]]:
    """A monitor of runs whose wording says nothing, and whose coverage says what is answerable."""
    runs, pools, labels = planted_store(240, seed=5)
    rng = random.Random(5)
    told = [
        with_coverage(
            run,
            covered(f"word{rng.randrange(10**6)}", "dose", held=labels[run.question.id].answerable),
        )
        for run in runs
    ]
    monitor = fit(iter(told), pools, labels, HEADER)
    held = [run for run in told if pools.pool_of(run.question.id) == "heldout"]
    return monitor, held, {run.question.id: labels[run.question.id].answerable for run in held}


def test_what_nothing_holds_tells_unanswerable_before_the_first_step(
    made: tuple[Monitor, list[Trajectory], dict[str, bool]],
) -> None:
    monitor, held, answerable = made
    at_0 = [next(iter(monitor.replay(run))).p_answerable for run in held]
    assert roc_auc_score([answerable[run.question.id] for run in held], at_0) > 0.95


def test_a_saved_monitor_scores_bit_for_bit_and_keeps_no_word(
    made: tuple[Monitor, list[Trajectory], dict[str, bool]], tmp_path: Path
) -> None:
    monitor, held, _ = made
    save(monitor, tmp_path / "monitor")
    loaded = load(tmp_path / "monitor")
    for run in held[:10]:
        assert list(loaded.replay(run)) == list(monitor.replay(run))
    content = b"".join(it.read_bytes() for it in (tmp_path / "monitor").rglob("*") if it.is_file())
    assert b"word" + held[0].question.coverage.phrases[0].text[4:].encode() not in content  # type: ignore[union-attr]


def test_without_a_record_such_a_monitor_judges_nothing(
    made: tuple[Monitor, list[Trajectory], dict[str, bool]],
) -> None:
    guard = Guard.over(made[0], stakes=0.0)
    with guard.session(AskedQuestion(id="q", text="which one")) as session:
        answer = session.close()
    assert (answer.status, answer.reason) == ("unavailable", "missing-coverage")

    class Grounder:
        def ground(self, question: str) -> Coverage:
            return covered(*question.split())

    class Broken:
        def ground(self, question: str) -> Coverage:
            raise OSError(question)

    with guard.session("which one", grounder=Grounder()) as session:
        assert session.verdict.status == "judged"
        assert session.question.coverage == covered("which", "one")
    with guard.session("which one", grounder=Broken()) as session:
        assert session.close().reason == "missing-coverage"


def test_earlier_turns_reach_the_record_and_the_text(
    made: tuple[Monitor, list[Trajectory], dict[str, bool]],
) -> None:
    guard, seen = Guard.over(made[0], stakes=0.0), []

    class Grounder:
        def ground(self, question: str, history: Sequence[str] = ()) -> Coverage:
            seen.append((question, *history))
            return covered(*question.split())

    said = ["How many men got heparin?", "And in 2099?"]
    with guard.session("and women?", grounder=Grounder(), history=said) as session:
        assert session.question.history == tuple(said)
        assert render_question(session.question) == (
            "QUESTION: and women? EARLIER: And in 2099? EARLIER: How many men got heparin?"
        )
        session.close()
    assert seen == [("and women?", *said)]
    for wrong in ("one text", [3]):
        with pytest.raises(InputError, match="earlier turns"):
            guard.session("and women?", history=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_no_gate_stops_a_question_that_could_not_be_read(
    made: tuple[Monitor, list[Trajectory], dict[str, bool]], theta: float
) -> None:
    monitor = made[0]
    gate = monitor.thresholds.gate.model_copy(update={"theta": theta})
    strict = replace(monitor, thresholds=monitor.thresholds.model_copy(update={"gate": gate}))
    guard = Guard.over(strict, stakes=0.0)
    decisions = {}
    for readable in (True, False):
        coverage = covered("colour", "dog", held=False, readable=readable)
        with guard.session(AskedQuestion(id="q", text="which one", coverage=coverage)) as session:
            decisions[readable] = session.verdict.decision
    assert decisions == {True: "refuse", False: "continue"}


def test_words_of_the_own_template_are_new_and_those_of_others_known() -> None:
    asked = [words_of_question(covered("dose", held=False))] * 3
    targets, groups = np.array([False, False, True]), np.array([0, 1, 1])
    vocabulary, columns = fit_vocabulary(asked, targets, groups)
    assert columns[:, 0].tolist() == [0.0, 0.0, 0.0]  # used by template 0 and by template 1
    alone, columns = fit_vocabulary(asked[:1] + [None] * 2, targets, groups)
    assert columns[0, 0] == 1.0  # by its own template alone
    assert np.isnan(columns[1:]).all()
    assert alone.columns(asked[0])[0] == 0.0  # for a new question the template is another one
    assert vocabulary.columns(words_of_question(covered("cat", held=False)))[:2] == [1.0, 1.0]
    assert words_of_question(covered("dose", readable=False)) is None
