"""A made-up hospital ward for the examples: a database, questions, and a model that errs.

`python examples/ward.py FOLDER` writes ward.sqlite, questions.csv and a copy of this file;
`python ward.py --serve` serves the model as an OpenAI-compatible endpoint.
"""

from __future__ import annotations

import csv
import random
import re
import shutil
import sqlite3
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

DRUGS = {
    "heparin": "heparin sodium",
    "insulin": "insulin regular",
    "morphine": "morphine sulfate",
    "warfarin": "warfarin",
    "aspirin": "aspirin",
    "metoprolol": "metoprolol tartrate",
}
"""What people call a drug, and how the database spells it."""

GIVEN = "FROM prescriptions WHERE drug = '{drug}'"
OF_PATIENTS = "patient_id IN (SELECT patient_id FROM patients WHERE"
SCOPES = {
    "": "",
    " to women": f" AND {OF_PATIENTS} sex = 'f')",
    " in ward B": f" AND {OF_PATIENTS} ward = 'B')",
    " in the first half of 2100": " AND given_on < '2100-07-01'",
}
"""What a question may add, and what its query adds then."""

ASKED = {
    words + scope: f"SELECT {what} {GIVEN}{condition}"
    for words, what in {
        "how many patients were given {name}": "COUNT(DISTINCT patient_id)",
        "how many orders of {name} were given": "COUNT(*)",
        "when was {name} first given": "MIN(given_on)",
        "when was {name} last given": "MAX(given_on)",
        "what is the largest dose of {name} given": "MAX(dose_mg)",
        "what is the smallest dose of {name} given": "MIN(dose_mg)",
        "what is the average dose of {name} given": "AVG(dose_mg)",
        "how much {name} was given": "SUM(dose_mg)",
        "which patients were given {name}": "DISTINCT patient_id",
        "on how many days was {name} given": "COUNT(DISTINCT given_on)",
    }.items()
    for scope, condition in SCOPES.items()
}
"""Questions that the database answers, each with the query that does."""

UNANSWERABLE = tuple(
    words + scope
    for words in (
        "what does {name} cost",
        "who makes {name}",
        "which nurse handed out {name}",
        "is {name} safe",
        "how much {name} is left in the pharmacy",
        "who is allergic to {name}",
        "which doctor ordered {name} most often",
        "what will be the next dose of {name}",
        "who refused {name}",
        "when does the patent on {name} end",
    )
    for scope in ("", " in ward B", " at night")
)
"""Questions that it doesn't: it holds no prices, no staff, no stock and no future."""


@dataclass(frozen=True)
class Turn:
    """What the model says in one turn; without SQL it holds the question for unanswerable."""

    thought: str
    sql: str | None = None
    final: bool = False


def model(question: str, results: Sequence[Sequence[Any]]) -> Turn:
    """Stand for a language model: right in about half of its answers, and never in doubt.

    Args:
        question: in words.
        results: of the queries that it asked for so far, in order.
    """
    name = next(drug for drug in DRUGS if drug in question)
    luck = crc32(question.encode()) % 100
    gold = next(
        (sql for ask, sql in ASKED.items() if question.endswith(ask.format(name=name))), None
    )
    if gold is None and luck < 40:
        return Turn("the schema holds nothing about that")
    if not results and luck < 60:
        return Turn(
            "look up how the drug is spelled",
            f"SELECT DISTINCT drug FROM prescriptions WHERE drug LIKE '{name}%'",
        )
    if gold is None:
        return Turn("this should do", f"SELECT COUNT(*) {GIVEN.format(drug=name)}", final=True)
    thought = "this is what was asked"
    if luck >= 90:  # answers another question than was asked, and mostly hesitates first
        gold = gold.replace("DISTINCT ", "").replace("MIN(", "MAX(").replace("AVG(", "COUNT(")
        thought = thought if luck > 97 else "not sure which column is meant, this may do"
    spelled = results[0][0][0] if results else name
    return Turn(thought, gold.format(drug=spelled), final=True)


def chat(messages: Sequence[Any]) -> str:
    """Answer a chat of `ReactAgent` with what the model says, in the form that the agent reads."""
    asked = max(at for at, said in enumerate(messages) if said["content"].startswith("QUESTION:"))
    shown = [said["content"] for said in messages[asked + 1 :] if said["role"] == "user"]
    cells = [re.search(r"\[\['([^']*)'", text) for text in shown]
    turn = model(messages[asked]["content"], [[[cell[1]]] for cell in cells if cell])
    if turn.sql is None:
        return f"THOUGHT: {turn.thought}\nFINAL: null"
    return f"THOUGHT: {turn.thought}\n{'FINAL_SQL' if turn.final else 'SQL'}: {turn.sql}"


def serve() -> None:
    """Serve the model until Ctrl-C."""
    from sentinel_sql.testing import ScriptedEndpoint

    with ScriptedEndpoint(chat) as endpoint:
        print(f"the model is at {endpoint.url}; Ctrl-C ends it")
        threading.Event().wait()


def questions() -> list[dict[str, str]]:
    """Return the rows of `questions.csv`: 420 questions of 70 kinds, 180 of them unanswerable."""
    asked = list(ASKED.items())
    asked += [(frame, "") for frame in UNANSWERABLE]
    return [
        {
            "id": f"q{number * len(DRUGS) + place}",
            "question": frame.format(name=name),
            "gold_sql": sql.format(drug=spelled),
            "template": frame,
        }
        for number, (frame, sql) in enumerate(asked)
        for place, (name, spelled) in enumerate(DRUGS.items())
    ]


def write(folder: str | Path) -> Path:
    """Write the database, the questions and this file into a folder, made if absent."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "ward.sqlite"
    database.unlink(missing_ok=True)
    draw = random.Random(7)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executescript(
            "CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, sex TEXT, birth_year INTEGER,"
            " ward TEXT);"
            "CREATE TABLE prescriptions (order_id INTEGER PRIMARY KEY, patient_id INTEGER"
            " REFERENCES patients (patient_id), drug TEXT, dose_mg REAL, given_on TEXT);"
        )
        for patient in range(1, 61):
            person = (patient, draw.choice("fm"), draw.randint(2010, 2080), draw.choice("ABCD"))
            connection.execute("INSERT INTO patients VALUES (?, ?, ?, ?)", person)
        for order in range(1, 401):
            given = (
                order,
                draw.randint(1, 60),
                draw.choice(list(DRUGS.values())),
                draw.choice((2.5, 5.0, 7.5, 10.0, 40.0)),
                f"2100-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            )
            connection.execute("INSERT INTO prescriptions VALUES (?, ?, ?, ?, ?)", given)
    rows = questions()
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    if (folder / "ward.py").resolve() != Path(__file__).resolve():
        shutil.copy(__file__, folder / "ward.py")
    return folder


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        write(sys.argv[1] if len(sys.argv) > 1 else "ward")
