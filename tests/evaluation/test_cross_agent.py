from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.options import Options
from sentinel_sql.evaluation_store import tables
from sentinel_sql.evaluation_store.folder import read, save
from sentinel_sql.pipeline.compare_agents import compare_agents
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.storage.checksums import sealed
from small_runs import fitted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("evaluated") / "one"
    save(evaluate(*fitted()), place)
    return place


def twin(folder: Path, place: Path, **changes: object) -> Path:
    """Copy an evaluation as if of another agent."""
    shutil.copytree(folder, place)
    document = json.loads((folder / "evaluation.json").read_text())
    document["monitor"]["agent"] = "react | other | - | 6 | 0.0"
    (place / "evaluation.json").write_text(json.dumps(sealed(document | changes)))
    return place


def across(*folders: Path, names: Sequence[str] | None = None) -> dict[str, Exhibit[Any]]:
    return compare_agents([read(folder) for folder in folders], names=names)


def test_agents_are_compared_by_model_and_with_the_paper(folder: Path, tmp_path: Path) -> None:
    made = across(folder, twin(folder, tmp_path / "two"))
    assert [row.agent for row in made["agents"].rows] == ["scripted", "other"]
    assert len(made["cross_agent"].rows) == 6
    assert list(made)[-1] == "paper"
    assert "weren't asked the same" not in made["agents"].note
    tables.write(tmp_path / "report", made)
    assert list(tables.read(tmp_path / "report")) == list(made)


def test_agents_of_one_model_get_different_names(folder: Path, tmp_path: Path) -> None:
    same = Path(shutil.copytree(folder, tmp_path / "again"))
    agents = [row.agent for row in across(folder, same)["agents"].rows]
    assert agents[0] != agents[1]
    assert agents[1].startswith("scripted (")
    named = across(folder, same, names=("a", "b"))
    assert [row.agent for row in named["agents"].rows] == ["a", "b"]


def test_agents_with_other_questions_are_marked(folder: Path, tmp_path: Path) -> None:
    document = json.loads((folder / "evaluation.json").read_text())
    other = twin(folder, tmp_path / "two", hashes={**document["hashes"], "pools": "0" * 64})
    for exhibit in across(folder, other).values():
        assert "weren't asked the same questions" in exhibit.note


def test_evaluations_with_other_options_are_refused_by_name(folder: Path, tmp_path: Path) -> None:
    strict = twin(folder, tmp_path / "strict", options=Options(exact_bar=True).to_json())
    with pytest.raises(InputError, match=r"one and .*strict are evaluations with different opt"):
        across(folder, strict)
    with pytest.raises(InputError, match="at least one folder"):
        compare_agents([])
    with pytest.raises(InputError, match="holds no evaluation"):
        across(tmp_path)
