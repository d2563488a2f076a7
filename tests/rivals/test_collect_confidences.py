from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asking import COUNT, OTHER, SAME, Listening, asker, lines, recorded
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.agent.self_report import HOW_SURE, IS_IT_TRUE
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import EndpointError, StoreError
from sentinel_sql.rivals.ask_confidences import answers_of, ask_confidences
from sentinel_sql.rivals.ask_costs import costs
from sentinel_sql.rivals.confidences import (
    METHODS,
    Confidence,
    ConfidencesManifest,
    ConfidenceStore,
    by_method,
    read_confidences,
)
from sentinel_sql.testing import CLOCK, ScriptedModel, make_trajectory, tiny_database
from sentinel_sql.trajectory.record import AgentInfo


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteDatabase]:
    file = tiny_database(tmp_path_factory.mktemp("rivals") / "tiny.sqlite")
    with SqliteDatabase.open(file, clock=CLOCK) as opened:
        yield opened


def test_asking_goes_on_from_the_very_chat_that_the_agent_answered_in(
    database: SqliteDatabase,
) -> None:
    agent, _ = recorded(database)
    heard = Listening(agent.model.complete)  # type: ignore[attr-defined]
    run = replace(agent, model=heard).run(make_trajectory("q0", "how many?").question)
    asking = asker(agent)
    for method in METHODS:
        asking.ask(run, method)
    at_the_answer = heard.heard[-1]
    for model, ask in ((asking.word, IS_IT_TRUE), (asking.number, HOW_SURE)):
        (chat,) = model.heard  # type: ignore[attr-defined]
        assert chat[: len(at_the_answer)] == at_the_answer
        assert chat[len(at_the_answer) :] == [
            {"role": "assistant", "content": f"THOUGHT: so\nFINAL_SQL: {COUNT}"},
            {"role": "user", "content": f"RESULT: 1 rows x 1 cols; sample [['3']]\n{ask}"},
        ]
    for sampler in asking.samplers:
        single_turn, whole_run = sampler.heard  # type: ignore[attr-defined]
        assert single_turn == at_the_answer
        assert whole_run == heard.heard[0]


def test_sample_agrees_if_its_result_does_in_any_spelling(database: SqliteDatabase) -> None:
    agent, runs = recorded(database)
    for method in ("single-turn", "self-consistency"):
        found = asker(agent).ask(runs[0], method)
        assert found.verdicts == ("same", "same", "other", "none")
        assert (found.score, found.calls, found.prompt_tokens) == (0.5, 4, 400)
        assert (found.temperature, found.mode, found.seconds) == (0.7, "sentinel-1", 1.0)


def test_a_sampled_look_of_one_turn_counts_by_its_result_too(database: SqliteDatabase) -> None:
    agent, runs = recorded(database)
    looking = replace(
        asker(agent), samplers=[Listening(f"SQL: {SAME}"), Listening(f"SQL: {OTHER}")]
    )
    assert looking.ask(runs[0], "single-turn").verdicts == ("same", "other")


def test_a_sampled_run_may_look_first_and_costs_all_its_turns(database: SqliteDatabase) -> None:
    agent, runs = recorded(database)
    sampler = ScriptedModel(["SQL: SELECT 1", "SQL: SELECT 2", f"FINAL_SQL: {SAME}"], latency=0.01)
    found = replace(asker(agent), samplers=[sampler]).ask(runs[0], "self-consistency")
    assert (found.verdicts, found.calls) == (("same",), 3)
    assert found.seconds == pytest.approx(0.03)


def test_what_was_asked_is_kept_and_never_asked_again(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    agent, runs = recorded(database)
    asking = asker(agent)
    told: list[tuple[int, int]] = []
    first = ask_confidences(
        runs,
        asking,
        METHODS,
        store=tmp_path / "c",
        workers=2,
        on_progress=lambda done, total: told.append((done, total)),
    )
    assert dict(first.done) == dict.fromkeys(METHODS, 3)
    assert (first.missing, first.already_there, told[-1]) == (0, 0, (12, 12))
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "c").iterdir()}
    assert set(files.values()) == {0o600}
    again = ask_confidences(runs, asking, METHODS, store=tmp_path / "c")
    assert (dict(again.done), again.already_there, again.calls) == ({}, 12, 0)
    assert len(asking.word.heard) == 3  # type: ignore[attr-defined]
    manifest, records = read_confidences(tmp_path / "c")
    assert manifest.agent.fingerprint == agent.info.fingerprint
    scores = {m: {r.score for r in found.values()} for m, found in by_method(records).items()}
    assert scores["verbalized"] == {0.85}
    assert scores["single-turn"] == {0.5}


def test_a_limit_bounds_the_answers_of_one_time(database: SqliteDatabase, tmp_path: Path) -> None:
    agent, runs = recorded(database)
    for left in (2, 1, 0):
        found = ask_confidences(runs, asker(agent), ["p-true"], store=tmp_path / "c", limit=1)
        assert found.missing == left
    assert [record["run"] for record in lines(tmp_path / "c")] == ["q0", "q1", "q2"]


def test_one_failing_answer_stops_nothing_and_is_asked_again(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    agent, runs = recorded(database)

    def failing(messages: Any) -> str:
        if any(message["content"] == "QUESTION: how many? 1" for message in messages):
            raise EndpointError("the server hiccups")
        return "70"

    broken = replace(asker(agent), number=Listening(failing))
    found = ask_confidences(runs, broken, ["verbalized"], store=tmp_path / "c")
    assert (dict(found.done), found.missing) == ({"verbalized": 2}, 1)
    assert dict(found.failed) == {"the server hiccups": 1}
    mended = ask_confidences(runs, asker(agent), ["verbalized"], store=tmp_path / "c")
    assert (dict(mended.done), mended.missing) == ({"verbalized": 1}, 0)


def test_an_endpoint_that_is_gone_ends_it_and_what_was_recorded_stays(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    agent, runs = recorded(database, count=30)
    calls: list[int] = []

    def dying(messages: Any) -> str:
        calls.append(1)
        if len(calls) > 4:
            raise EndpointError("gone")
        return "70"

    with pytest.raises(EndpointError, match="4 new records are kept"):
        ask_confidences(
            runs, replace(asker(agent), number=Listening(dying)), ["verbalized"], store=tmp_path
        )
    assert len(lines(tmp_path)) == 4
    assert len(calls) == 14


@settings(max_examples=25)
@given(cut=st.integers(0, 10**6))
def test_a_store_cut_by_its_dying_writer_keeps_all_whole_records_and_goes_on(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    manifest = ConfidencesManifest(agent=AgentInfo(name="react"))
    made = [
        Confidence(run=f"q{n}", answer="x", method="p-true", score=n / 10, calls=1, seconds=0.0)
        for n in range(4)
    ]
    with ConfidenceStore.open(folder, manifest=manifest) as store:
        for record in made:
            store.append(record)
    file = folder / "confidences.jsonl"
    data = file.read_bytes()
    cut %= len(data) + 1
    file.write_bytes(data[:cut])
    if lost := 4 - sum(end <= cut + 1 for end in _ends(data)):
        with pytest.raises(StoreError, match=f"cut short, {lost} lines? (is|are) missing"):
            read_confidences(folder)
    (folder / "confidences.jsonl.count").unlink()  # as if none had been acknowledged
    # A record without its newline is all there.
    whole = sum(end <= cut + 1 for end in _ends(data))
    assert len(read_confidences(folder)[1]) == whole
    with ConfidenceStore.open(folder, manifest=manifest) as store:
        assert list(store.held.values()) == made[:whole]
        for record in made[whole:]:
            store.append(record)
    assert read_confidences(folder)[1] == made
    assert file.read_bytes() == data


def _ends(data: bytes) -> list[int]:
    return [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]


def test_another_agent_s_store_and_other_settings_are_refused(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    agent, runs = recorded(database)
    ask_confidences(runs, asker(agent), ["single-turn"], store=tmp_path)
    before = lines(tmp_path)
    for wrong in (asker(agent, samples=(COUNT,)), asker(agent, mode="ehrsql-2024")):
        with pytest.raises(StoreError, match="holds single-turn of 4 samples"):
            ask_confidences(runs, wrong, ["single-turn"], store=tmp_path)
    other = replace(agent, max_steps=5)
    with pytest.raises(StoreError, match="another folder for each agent"):
        ask_confidences(runs, asker(other), ["p-true"], store=tmp_path)
    changed = [
        run.model_copy(update={"outcome": run.outcome.model_copy(update={"final_sql": "S"})})
        for run in runs
    ]
    with pytest.raises(StoreError, match="another answer of run q0"):
        ask_confidences(changed, asker(agent), ["p-true"], store=tmp_path)
    with (
        ConfidenceStore.open(tmp_path, manifest=ConfidencesManifest(agent=agent.info)),
        pytest.raises(StoreError, match="is writing to it"),
    ):
        ask_confidences(runs, asker(agent), ["p-true"], store=tmp_path)
    assert lines(tmp_path) == before


def test_only_the_agent_that_answered_can_be_asked(database: SqliteDatabase) -> None:
    agent, runs = recorded(database)
    assert answers_of(runs, agent) == runs
    with pytest.raises(StoreError, match="give the model, prompt, notes, examples"):
        answers_of(runs, replace(agent, max_steps=4))
    with pytest.raises(StoreError, match="none of these ended in an answer"):
        answers_of([], agent)


def test_damaged_stores_are_refused_by_their_line_and_never_quoted(tmp_path: Path) -> None:
    manifest = ConfidencesManifest(agent=AgentInfo(name="react"))
    with pytest.raises(StoreError, match="no confidences here"):
        read_confidences(tmp_path / "nowhere")
    record = Confidence(run="q", answer="x", method="p-true", score=1.0, calls=1, seconds=0.0)
    with ConfidenceStore.open(tmp_path, manifest=manifest) as store:
        store.append(record)
    file = tmp_path / "confidences.jsonl"
    line = file.read_text()
    file.write_text(line + '{"run": "secret patient"}\n' + line)
    with pytest.raises(StoreError, match="line 2") as caught:
        read_confidences(tmp_path)
    assert "secret" not in str(caught.value)
    file.write_text(line + line)
    with pytest.raises(StoreError, match="line 2: out of place, it was written as line 1"):
        read_confidences(tmp_path)
    file.write_text((record.model_dump_json() + "\n") * 2)
    with pytest.raises(StoreError, match="p-true twice"):
        read_confidences(tmp_path)
    (tmp_path / "confidences.json").write_text("{}")
    with pytest.raises(StoreError, match="not a sentinel-confidences/1 manifest"):
        read_confidences(tmp_path)
    (tmp_path / "confidences.json").unlink()
    with pytest.raises(StoreError, match="so the agent of these answers is unknown"):
        ConfidenceStore.open(tmp_path, manifest=manifest)


def test_estimated_number_of_calls_is_the_number_made(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    agent, runs = recorded(database)
    asking = asker(agent, samples=(COUNT,) * 4)
    told = {cost.method: cost for cost in costs(runs, METHODS, samples=4)}
    found = ask_confidences(runs, asking, METHODS, store=tmp_path)
    made = by_method(read_confidences(tmp_path)[1])
    for method in ("p-true", "verbalized", "single-turn"):
        assert told[method].calls == sum(record.calls for record in made[method].values())
    # A sampled run may take fewer turns than the recorded one, whose two are the estimate.
    assert told["self-consistency"].calls == 2 * 4 * 3
    last = [run.steps[-1].usage for run in runs]
    assert told["single-turn"].prompt_tokens == 4 * sum(usage.prompt_tokens for usage in last)  # type: ignore[union-attr]
    held = {(run.question.id, method) for run in runs for method in METHODS}
    assert {cost.calls for cost in costs(runs, METHODS, samples=4, held=held)} == {0}
    assert found.calls == sum(record["calls"] for record in lines(tmp_path))


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interruption_keeps_what_was_recorded_and_says_what_is_left(
    database: SqliteDatabase, tmp_path: Path, workers: int
) -> None:
    agent, runs = recorded(database, count=6)

    def stop(done: int, _total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    found = ask_confidences(
        runs,
        asker(agent),
        ["p-true", "verbalized"],
        store=tmp_path,
        workers=workers,
        on_progress=stop,
    )
    assert found.interrupted
    # What the other workers have ready by then is kept, too.
    done = sum(found.done.values())
    assert 4 <= done < 4 + workers
    assert (len(lines(tmp_path)), found.missing) == (done, 12 - done)
    rest = ask_confidences(runs, asker(agent), ["p-true", "verbalized"], store=tmp_path)
    assert (sum(rest.done.values()), rest.missing, rest.interrupted) == (12 - done, 0, False)
