"""The phrases that nothing in a query accounts for, against those that a careful person marked."""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sentinel_sql.database.coverage.cover import DatabaseGrounder, open_grounder
from sentinel_sql.database.opening import open_database
from sentinel_sql.monitor.families.accounted import AccountState
from sentinel_sql.monitor.families.step_reading import view_question, view_step
from sentinel_sql.monitor.features.keys import Keys
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Observation, Step

DATA: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("pairs.toml").read_text())
Grounders = Mapping[str, tuple[DatabaseGrounder, Surroundings]]


@pytest.fixture(scope="module")
def grounders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounders]:
    """By schema, what grounds its questions, and what a monitor knows of it."""
    folder = tmp_path_factory.mktemp("pairs")
    opened, made = [], {}
    for name, script in DATA["schemas"].items():
        file = folder / f"{name}.sqlite"
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(script)
        database = open_database(file)
        opened.append(database)
        made[name] = (open_grounder(database), Surroundings(keys=Keys(schema=database.schema)))
    yield made
    for grounder, _ in made.values():
        grounder.close()
    for database in opened:
        database.close()


def unaccounted(
    pair: Mapping[str, Any], grounder: DatabaseGrounder, around: Surroundings
) -> set[str]:
    text = pair["question"]
    question = AskedQuestion(id="q", text=text, coverage=grounder.ground(text))
    state = AccountState(view_question(question, around))
    for sql, shown in pair.get("earlier", ()):
        seen = Observation(kind="rows", rows=1, columns=2, text=shown)
        step = Step(index=1, action="sql", sql=sql, observation=seen)
        state.observe(view_step(step, None, around))
    seen = Observation(kind="rows", rows=1, columns=1, text="1 rows x 1 cols; sample [['1']]")
    step = Step(index=2, action="final_sql", sql=pair["sql"], observation=seen)
    state.observe(view_step(step, "answer", around))
    return set(state.unaccounted)


def test_at_least_36_of_40_pairs_are_marked_as_a_careful_person_marked_them(
    grounders: Grounders,
) -> None:
    assert [sum(p["right"] is right for p in DATA["pairs"]) for right in (True, False)] == [20, 20]
    differ = [
        (pair["question"], pair["marked"], sorted(found))
        for pair in DATA["pairs"]
        if (found := unaccounted(pair, *grounders[pair["schema"]])) != set(pair["marked"])
    ]
    assert len(DATA["pairs"]) - len(differ) >= 36, "\n".join(map(str, differ))
