"""Stored values of columns that identify people reach no index, no hint, no probe and no bundle."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from command_project import DRUGS, Project, made_up_questions, run_once, scripted_agent
from sentinel_sql.agent.model import Message
from sentinel_sql.testing import CLOCK, ScriptedEndpoint, tiny_database

PLANTED = (
    "Zwetschkenbaum",
    "Quittenfeld-Äpfler",
    "Marillenweg 7",
    "0664-5550199",
    "dolores.kirschholz@example.org",
    "fears her neighbour Birnbacher and asked that nobody be told",
    "Ribiselgasse",
    "kosename-Weichselin",
)
"""Made-up texts that identify people, each a word that stands nowhere else."""

TABLES = (
    """
CREATE TABLE people (id INTEGER PRIMARY KEY, last_name TEXT, "Family Name" TEXT, address TEXT,
  phone TEXT, email TEXT, remarks TEXT, called TEXT);
"""
    + "\n".join(
        "INSERT INTO people VALUES ({}, '{}', '{}', '{}', '{}', '{}', '{}', '{}');".format(
            number,
            *(text if number == 0 else f"{text} {number}" for text in PLANTED[:6]),
            f"{PLANTED[7]}-{number}",
        )
        for number in range(40)
    )
    + f"""
CREATE TABLE visits (id INTEGER PRIMARY KEY, street TEXT, ward TEXT);
INSERT INTO visits VALUES (1, '{PLANTED[6]}', 'north'), (2, '{PLANTED[6]}', 'south');
"""
    + "\n".join(
        f"INSERT INTO prescriptions VALUES ({number}, 10, '{DRUGS[number % 6]} sodium', NULL);"
        for number in range(60)
    )
)


def curious_agent(messages: Sequence[Message]) -> str:
    """Look at the people first in some runs, so that their names stand in its transcripts."""
    text = str(messages[-1]["content"])
    if "QUESTION: please tell me" in text:
        return "THOUGHT: who is there\nSQL: SELECT * FROM people LIMIT 3"
    if "QUESTION: quickly" in text:
        return "THOUGHT: where\nSQL: SELECT last_name, street FROM people, visits LIMIT 2"
    return scripted_agent(messages)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = Project(tmp_path_factory.mktemp("names"))
    with closing(sqlite3.connect(tiny_database(made.database))) as connection:
        connection.executescript(TABLES)
    asked = made_up_questions()
    asked.append(
        {
            "id": "name",
            "question": f"which orders has {PLANTED[0]}, who lives in {PLANTED[6]}, of heparin?",
            "gold_sql": "SELECT 1",
            "template": "name",
        }
    )
    Path(made.questions).write_text("".join(json.dumps(it) + "\n" for it in asked))
    over = ("--database", made.database, "--clock", CLOCK)
    with ScriptedEndpoint(curious_agent) as endpoint:
        run_once("questions", "pools", made.questions, "--out", made.pools)
        run_once(
            *("collect", "--questions", made.questions, *over, "--workers", "8", "--probes"),
            *("--base-url", endpoint.url, "--model", "scripted", "--store", made.store),
            *("--prompt", "grounded"),
        )
    run_once("label", made.store, "--questions", made.questions, *over, "--out", made.labels)
    fit_on = (made.store, "--pools", made.pools, "--labels", made.labels)
    run_once("fit", *fit_on, "--out", made.monitor)
    run_once("evaluate", *fit_on, "--monitor", made.monitor, "--out", made.folder / "evaluation")
    return made


def contents(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes in every form in which a text may hide there."""
    raw = path.read_bytes()
    yield raw
    for unpack in (gzip.decompress, zlib.decompress):
        try:
            yield unpack(raw)
        except (OSError, EOFError, zlib.error):
            continue


def spellings(text: str) -> set[bytes]:
    """Return the bytes of a text as it is, escaped as in JSON, folded, UTF-16, and in base64."""
    plain = {text, text.casefold(), json.dumps(text)[1:-1], text.split()[-1]}
    plain |= {word for word in text.casefold().split() if len(word) > 8}
    forms = {it.encode() for it in plain} | {it.encode("utf-16-le") for it in plain}
    return forms | {base64.b64encode(it.encode())[:-4] for it in plain if len(it) > 8}


def holding(folder: Path, texts: Sequence[str]) -> set[tuple[str, str]]:
    """Return the files below a folder that hold a text, each with that text."""
    return {
        (str(path.relative_to(folder)), text)
        for path in folder.rglob("*")
        if path.is_file()
        for content in contents(path)
        for text in texts
        for form in spellings(text)
        if len(form) > 5 and form in content
    }


def test_the_search_finds_what_is_there(project: Project) -> None:
    found = holding(project.folder, PLANTED)
    assert {text for name, text in found if name == "tiny.sqlite"} == set(PLANTED)
    assert {text for name, text in found if name.startswith("store/")} >= {PLANTED[0], PLANTED[6]}


def test_no_name_is_in_a_bundle(project: Project) -> None:
    assert any(Path(project.monitor).rglob("*"))
    assert holding(Path(project.monitor), PLANTED) == set()


def test_only_recorded_runs_hold_a_name(project: Project) -> None:
    found = {name for name, _ in holding(project.folder, PLANTED)}
    assert (project.folder / "tiny.sqlite.values").exists()
    assert found == {
        *("tiny.sqlite", "questions.jsonl"),  # what the user brought
        "store/trajectories.jsonl",  # what the agent itself read
        "evaluation/views.jsonl",  # runs that the report shows, on the user's own machine
    }


def test_no_hint_and_no_probe_holds_a_name_that_the_run_does_not_hold(project: Project) -> None:
    lines = Path(project.store, "trajectories.jsonl").read_text().splitlines()
    hinted = probed = 0
    for line in lines:
        run = json.loads(line)
        for step in run["steps"]:
            said = json.dumps([step.get("hints"), step["observation"].get("probes")])
            hinted += bool(step.get("hints"))
            probed += bool(step["observation"].get("probes"))
            assert not [text for text in PLANTED if text in said]
    assert hinted
    assert probed
