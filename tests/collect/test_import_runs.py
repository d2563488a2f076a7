from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sentinel_sql.errors import InputError, StoreError
from sentinel_sql.pipeline.import_runs import import_runs, questions_in
from sentinel_sql.questions.own import own_question
from sentinel_sql.trajectory.store import read_manifest, read_trajectories


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
    with pytest.raises(StoreError, match=r"one.*two.*store of its own"):
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
    with pytest.raises(StoreError, match=r"gpt\.jsonl: no run in it \(no list of messages\)"):
        import_runs([log(tmp_path / "gpt.jsonl", {})], store=tmp_path / "s")
    with pytest.raises(InputError, match="openai-messages"):
        import_runs([], store=tmp_path / "s", format="klingon")
    with pytest.raises(InputError, match=r"none\.json: No such file"):
        import_runs([tmp_path / "none.json"], store=tmp_path / "s")


def test_questions_with_gold_are_told_once_an_id(tmp_path: Path) -> None:
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
