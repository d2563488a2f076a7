"""How long the value index takes to look up a word, and to find the hints of a question.

    python benchmarks/value_index.py [DATABASE QUESTIONS]

DATABASE is a path or an address, QUESTIONS a question file; by default the benchmark hospital and
its questions. Printed are medians and maxima in milliseconds, the index warm.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sentinel_sql.database.coverage.cover import DatabaseGrounder
from sentinel_sql.database.executor import Database
from sentinel_sql.database.opening import open_database
from sentinel_sql.database.value_index.hints import find_hints
from sentinel_sql.database.value_index.index import ValueIndex
from sentinel_sql.database.value_index.opening import open_value_index
from sentinel_sql.database.value_index.words import words_of
from sentinel_sql.hospital.benchmark import benchmark_questions
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.questions.read import read_questions

MOST_QUESTIONS = 200


def milliseconds(call: Callable[[str], Any], inputs: Iterable[str]) -> dict[str, float]:
    """Time one call for each input, after one round of warming up."""
    inputs = list(inputs)
    for each in inputs:
        call(each)
    spent = []
    for each in inputs:
        began = time.perf_counter()
        call(each)
        spent.append(1000 * (time.perf_counter() - began))
    return {"median": round(statistics.median(spent), 3), "max": round(max(spent), 3)}


def measure(address: str, texts: list[str], folder: Path) -> dict[str, Any]:
    """Measure over one database; its index is made in a folder."""
    words = [word for text in texts for word in words_of(text) if len(word) > 3]
    with open_database(address) as database:
        began = time.perf_counter()
        with open_value_index(database, file=folder / "benchmark.values") as index:
            made = time.perf_counter() - began
            return {
                "texts": index.size,
                "seconds_to_make": round(made, 2),
                "by_word": milliseconds(lambda word: index.with_words([word]), words),
                "by_prefix": milliseconds(lambda word: index.completions(word[:4]), words),
                "by_likeness": milliseconds(lambda word: index.alike(word, least=0.7), words),
                "hints_of_a_question": milliseconds(lambda text: find_hints(text, index), texts),
                "coverage_of_a_question": _coverage(database, index, texts),
            }


def _coverage(database: Database, index: ValueIndex, texts: list[str]) -> dict[str, float]:
    grounder = DatabaseGrounder(database, index)
    grounder.ground(texts[0])  # reads the span of the stored times once
    spent = []
    for text in texts[1:]:
        began = time.perf_counter()
        grounder.ground(text)
        spent.append(1000 * (time.perf_counter() - began))
    return {"median": round(statistics.median(spent), 3), "max": round(max(spent), 3)}


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if len(sys.argv) == 3:
            address, questions = sys.argv[1], list(read_questions(sys.argv[2]))
        else:
            hospital = HospitalFolder.write(folder / "hospital")
            address, questions = str(hospital.database), benchmark_questions(hospital.database)
        texts = [question.text for question in questions][:MOST_QUESTIONS]
        print(json.dumps(measure(address, texts, folder), indent=2))


if __name__ == "__main__":
    main()
