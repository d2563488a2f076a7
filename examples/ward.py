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
    "furosemide": "furosemide",
    "metoprolol": "metoprolol tartrate",
    "digoxin": "digoxin",
}
"""What people call a drug, and how the database spells it."""

GIVEN = "FROM prescriptions WHERE drug = '{drug}'"
OF_PATIENTS = f"FROM patients WHERE patient_id IN (SELECT patient_id {GIVEN}"
ASKED = {
    "how many patients got {name}": f"SELECT COUNT(DISTINCT patient_id) {GIVEN}",
    "how many orders of {name} are there": f"SELECT COUNT(*) {GIVEN}",
    "when was {name} first given": f"SELECT MIN(given_on) {GIVEN}",
    "when was {name} last given": f"SELECT MAX(given_on) {GIVEN}",
    "what is the largest dose of {name}": f"SELECT MAX(dose_mg) {GIVEN}",
    "what is the smallest dose of {name}": f"SELECT MIN(dose_mg) {GIVEN}",
    "what is the average dose of {name}": f"SELECT AVG(dose_mg) {GIVEN}",
    "how much {name} was given in all": f"SELECT SUM(dose_mg) {GIVEN}",
    "which patients got {name}": f"SELECT DISTINCT patient_id {GIVEN}",
    "on how many days was {name} given": f"SELECT COUNT(DISTINCT given_on) {GIVEN}",
    "how many women got {name}": f"SELECT COUNT(*) {OF_PATIENTS}) AND sex = 'f'",
    "how many men got {name}": f"SELECT COUNT(*) {OF_PATIENTS}) AND sex = 'm'",
    "how old is the oldest patient with {name}": (f"SELECT 2100 - MIN(birth_year) {OF_PATIENTS})"),
    "how old is the youngest patient with {name}": (
        f"SELECT 2100 - MAX(birth_year) {OF_PATIENTS})"
    ),
    "which wards used {name}": f"SELECT DISTINCT ward {OF_PATIENTS})",
    "how many wards used {name}": f"SELECT COUNT(DISTINCT ward) {OF_PATIENTS})",
}
UNANSWERABLE = (
    "what does {name} cost",
    "who makes {name}",
    "which nurse gave {name} last",
    "is {name} safe in pregnancy",
    "how much {name} is left in the pharmacy",
    "which patients are allergic to {name}",
    "which doctor ordered {name} most often",
    "what will be the next dose of {name}",
    "how many patients got {name} in the other hospital",
    "when does the patent on {name} end",
)


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
    luck = crc32(question.encode()) % 10
    gold = next((sql for frame, sql in ASKED.items() if frame.format(name=name) in question), None)
    if gold is None and luck < 4:
        return Turn("the schema holds nothing about that")
    if not results and luck < 6:
        return Turn(
            "look up how the drug is spelled",
            f"SELECT DISTINCT drug FROM prescriptions WHERE drug LIKE '{name}%'",
        )
    if gold is None:
        return Turn("this should do", f"SELECT COUNT(*) {GIVEN.format(drug=name)}", final=True)
    spelled = results[0][0][0] if results else name
    if luck in (5, 9):  # answers another question than was asked
        gold = gold.replace("DISTINCT ", "").replace("MIN(", "MAX(").replace("AVG(", "COUNT(")
    return Turn("this is what was asked", gold.format(drug=spelled), final=True)


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
    """Return the rows of `questions.csv`: 208 questions of 26 kinds, 80 of them unanswerable."""
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
