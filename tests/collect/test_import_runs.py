from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from message_forms import FORM_NAMES, Told, Turn
from sentinel_sql.errors import InputError, StoreError
from sentinel_sql.pipeline.import_runs import import_runs, questions_in
from sentinel_sql.questions.own import own_question
from sentinel_sql.trajectory.manifest import StoreManifest, read_manifest
from sentinel_sql.trajectory.record import Probes
from sentinel_sql.trajectory.store import TrajectoryStore, read_trajectories


def run(text: str = "How many?", **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "No idea."}]
    return {"messages": messages, **fields}


def log(path: Path, *records: Any) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n")
    return path


def test_runs_come_into_a_store_under_the_files_name(tmp_path: Path) -> None:
    file = log(tmp_path / "gpt-5.log.jsonl", run(id="a"), run(id="b"), {"messages": 5}, [])
    seen: list[tuple[int, int]] = []
    summary = import_runs(
        [file], store=tmp_path / "s", on_progress=lambda at, of: seen.append((at, of))
    )
    assert (summary.imported, summary.already_there) == (2, 0)
    assert summary.failed == {"no list of messages": 1, "no user message, so no question": 1}
    assert seen == [(1, 2), (2, 2)]
    manifest = read_manifest(tmp_path / "s")
    assert manifest is not None
    assert manifest.agent.model == "gpt-5.log"
    assert [one.question.id for one in read_trajectories(tmp_path / "s")] == ["a", "b"]


def test_what_is_there_is_skipped(tmp_path: Path) -> None:
    file = log(tmp_path / "gpt.jsonl", run(id="a"))
    import_runs([file], store=tmp_path / "s")
    log(file, run(id="a"), run(id="b"))
    summary = import_runs([file], store=tmp_path / "s")
    assert (summary.imported, summary.already_there) == (1, 1)


def test_two_agents_are_not_mixed_and_nothing_is_written(tmp_path: Path) -> None:
    one, two = log(tmp_path / "one.jsonl", run(id="a")), log(tmp_path / "two.jsonl", run(id="b"))
    with pytest.raises(StoreError, match=r"one.*two.*its own store"):
        import_runs([one, two], store=tmp_path / "s")
    assert not (tmp_path / "s").exists()
    assert import_runs([one, two], store=tmp_path / "s", model="same").imported == 2
    with pytest.raises(StoreError, match=r"same.*other"):
        import_runs([one], store=tmp_path / "s", model="other")


def test_two_runs_with_one_id_are_refused(tmp_path: Path) -> None:
    file = log(tmp_path / "gpt.jsonl", run(id="a"), run(id="a"))
    with pytest.raises(StoreError, match="two runs have the id a"):
        import_runs([file], store=tmp_path / "s")
    file = log(tmp_path / "gpt.jsonl", run(id="a", trial=1), run(id="a", trial=2))
    assert import_runs([file], store=tmp_path / "s").imported == 2


def test_a_file_without_runs_and_a_format_that_is_not_known_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        StoreError, match=r"gpt\.jsonl: the file holds no run \(no list of messages\)"
    ):
        import_runs([log(tmp_path / "gpt.jsonl", {})], store=tmp_path / "s")
    with pytest.raises(InputError, match="openai-messages"):
        import_runs([], store=tmp_path / "s", format="klingon")
    with pytest.raises(InputError, match=r"none\.json: No such file"):
        import_runs([tmp_path / "none.json"], store=tmp_path / "s")


def test_questions_with_gold_are_listed_once_for_each_id(tmp_path: Path) -> None:
    trials = [run(id="a", trial=at, gold_sql="SELECT 1") for at in (1, 2)]
    file = log(tmp_path / "gpt.jsonl", *trials, run(id="b"))
    found = questions_in([file])
    assert [own_question(one, "here").gold_sql for one in found] == ["SELECT 1"]
    log(file, *trials, run(id="a", gold_sql="SELECT 2"))
    with pytest.raises(InputError, match="two different gold queries"):
        questions_in([file])


def test_real_logs_come_in_with_their_ten_questions(shared_data: Path, tmp_path: Path) -> None:
    files = sorted((shared_data / "logs" / "openai_messages").glob("*.json.gz"))
    assert len(files) == 2
    for file in files:
        summary = import_runs([file], store=tmp_path / file.name)
        assert (summary.imported, summary.failed) == (40, {})
    assert {one["id"] for one in questions_in(files)} == {str(at) for at in range(10)}


def told(sql: str = "SELECT 1", *, closing: str = "One.", question: str = "How many?") -> Told:
    turn = Turn(said="", tool="run_sql", arguments={"query": sql}, result="[(1,)]")
    return Told(question=question, turns=(turn,), closing=closing)


@pytest.mark.parametrize("form", FORM_NAMES)
@pytest.mark.parametrize("stated", [True, False])
def test_logs_of_each_form_come_in(form: str, stated: bool, tmp_path: Path) -> None:
    refused = told(closing="This can't be answered.").messages(form)
    # A run of words alone has no mark of its form, and belongs to the same agent.
    plain = [told().messages(form)[0], {"role": "assistant", "content": "No such data."}]
    records = [{"id": "a", "messages": told().messages(form)}, {"id": "b", "messages": refused}]
    records += [{"id": "c", "messages": plain}] if form != "langchain" else []
    file = log(tmp_path / "m.jsonl", *records)
    summary = import_runs([file], store=tmp_path / "s", format=form if stated else "auto")
    assert summary.imported == len(records)
    assert summary.failed == {}
    assert summary.endings["closing-words"] == 1
    assert summary.endings["declined-after-query"] == 1
    assert {run.agent.name for run in read_trajectories(tmp_path / "s")} == {form}


@pytest.mark.parametrize("form", FORM_NAMES)
def test_bare_list_of_items_is_one_run(form: str, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps(told().messages(form)))
    assert import_runs([file], store=tmp_path / "s").endings == {"closing-words": 1}


def test_react_text_that_is_no_json_is_a_run(tmp_path: Path) -> None:
    file = tmp_path / "console.txt"
    file.write_text("Question: q?\nAction: sql\nAction Input: SELECT 1\nObservation: [(1,)]\n")
    assert import_runs([file], store=tmp_path / "s", format="react").imported == 1
    with pytest.raises(InputError, match="not JSON"):
        import_runs([file], store=tmp_path / "t")


@pytest.mark.parametrize(
    "other",
    [
        {"messages": told("SELECT 2").messages("anthropic")},
        {"messages": told(closing="This can't be answered.").messages("anthropic")},
        {"messages": told(closing="").messages("anthropic")},
        {"messages": told(question="Which?").messages("anthropic")},
    ],
)
def test_other_runs_under_the_same_ids_are_a_conflict(tmp_path: Path, other: Any) -> None:
    ids = ["a", "b", "c"]
    first = [{"id": at, "messages": told().messages("anthropic")} for at in ids]
    file = log(tmp_path / "m.jsonl", *first)
    import_runs([file], store=tmp_path / "s")
    before = list(read_trajectories(tmp_path / "s"))
    log(file, {"id": "new", "messages": first[0]["messages"]}, first[0], {"id": "b", **other})
    with pytest.raises(StoreError, match=r"other runs under 1 of these ids, such as b.*another"):
        import_runs([file], store=tmp_path / "s")
    assert list(read_trajectories(tmp_path / "s")) == before


def test_probes_that_were_added_later_are_no_conflict(tmp_path: Path) -> None:
    file = log(tmp_path / "m.jsonl", {"id": "a", "messages": told().messages("anthropic")})
    import_runs([file], store=tmp_path / "s")
    (run,) = read_trajectories(tmp_path / "s")
    seen = run.steps[0].observation.model_copy(update={"probes": Probes(lookups=0)})
    step = run.steps[0].model_copy(update={"observation": seen})
    probed = run.model_copy(update={"steps": (step,)})
    with TrajectoryStore.open(tmp_path / "t", manifest=StoreManifest(agent=run.agent)) as store:
        store.append(probed)
    assert import_runs([file], store=tmp_path / "t").already_there == 1


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    strange = {"type": "sql_execution", "sql": "SELECT a FROM t"}
    whole = told().messages("openai-responses")
    file = log(
        tmp_path / "m.jsonl",
        {"id": "a", "messages": whole},
        {"id": "b", "messages": [*whole, strange]},
        {"id": "c", "messages": [*whole, {"type": "reasoning", "summary": []}]},
        {"id": "d", "messages": [*whole, {"type": "web_search_call"}]},
        {"id": "e", "messages": whole[1:]},
    )
    summary = import_runs([file], store=tmp_path / "s")
    assert summary.imported == 3
    assert summary.unread == {"sql_execution": 1, "reasoning": 1, "web_search_call": 1}
    assert summary.failed == {
        "holds SQL in items that aren't read (sql_execution); check --format": 1,
        "no user message, so no question": 1,
    }


def test_log_of_a_form_that_is_not_the_stated_one_is_refused_with_its_reason(
    tmp_path: Path,
) -> None:
    file = log(tmp_path / "m.jsonl", {"messages": told().messages("openai-responses")})
    with pytest.raises(StoreError, match=r"function_call\).*--format"):
        import_runs([file], store=tmp_path / "s", format="openai-messages")


def test_clinics_log_is_read(shared_data: Path, tmp_path: Path) -> None:
    file = shared_data.parent / "cases" / "small_clinic" / "openai_agents_input_list.json"
    import_runs([file], store=tmp_path / "s")
    (run,) = read_trajectories(tmp_path / "s")
    assert [step.action for step in run.steps] == ["sql", "final_sql"]
    assert run.steps[0].thought == "look at the values"
    assert run.outcome.final_sql == "SELECT COUNT(*) FROM appointment WHERE status='completed'"
