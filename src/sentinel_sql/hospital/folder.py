"""The hospital as a folder: database, questions, and what an agent is told of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.hospital.benchmark import benchmark_questions, build_hospital, write_questions
from sentinel_sql.hospital.briefing import EXAMPLES, NOTES
from sentinel_sql.storage.whole_file import write_whole


@dataclass(frozen=True, kw_only=True, slots=True)
class HospitalFolder:
    """Where the parts of a hospital lie; `write` makes them.

    Attributes:
        folder: holds all of them.
        database: the SQLite file.
        questions: the benchmark, as JSON Lines.
        notes: for `sentinel collect --notes`.
        examples: for `sentinel collect --examples`.
    """

    folder: Path
    database: Path
    questions: Path
    notes: Path
    examples: Path

    @classmethod
    def at(cls, folder: Path | str) -> Self:
        """Name the parts of a hospital in this folder, whether they are there or not."""
        folder = Path(folder)
        return cls(
            folder=folder,
            database=folder / "hospital.sqlite",
            questions=folder / "questions.jsonl",
            notes=folder / "notes.txt",
            examples=folder / "examples.txt",
        )

    @classmethod
    def write(
        cls, folder: Path | str, *, patients: int = 100, seed: int = 42, size: int = 1000
    ) -> Self:
        """Build a hospital, its benchmark and its briefing in a folder, replacing older ones.

        Args:
            folder: Made if absent; other files in it stay.
            patients: How many patients, 1 to 1,000,000.
            seed: Seed of the hospital and of the questions.
            size: How many questions, 10 to 10,000.

        Raises:
            InputError: A number is out of its bounds, or above what the hospital can give; a file
                of the folder would be lost that belongs to no hospital.
            DatabaseError: The folder can't be written.
        """
        made = cls.at(folder)
        if not made.database.exists():
            for part in (made.questions, made.notes, made.examples):
                if part.exists():
                    raise InputError(
                        f"{part} is there already and of no hospital, for {made.database.name} "
                        "isn't beside it: name another folder, or put the file elsewhere"
                    )
        build_hospital(made.database, patients=patients, seed=seed)
        questions = benchmark_questions(made.database, seed=seed, size=size)
        try:
            write_questions(questions, made.questions)
            write_whole(made.notes, NOTES)
            write_whole(made.examples, "\n\n".join(EXAMPLES) + "\n")
        except OSError as error:
            raise DatabaseError(
                f"can't write the hospital to {folder} ({error.strerror}): check the folder"
            ) from error
        return made
