"""The folder of a hospital: database, questions, notes and examples."""

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
    """The paths of a hospital's files; `write` makes the files.

    Attributes:
        folder: the folder of all files.
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
        """Return the paths of a hospital in this folder, which need not exist."""
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
        """Write a hospital, its benchmark, notes and examples to a folder, replacing older ones.

        Args:
            folder: Made if it doesn't exist; other files in it are kept.
            patients: How many patients, 1 to 1,000,000.
            seed: Seed of the hospital and of the questions.
            size: How many questions, 10 to 10,000.

        Raises:
            InputError: A number is out of its range, the hospital can't give as many questions, or
                a file that belongs to no hospital would be replaced.
            DatabaseError: The folder can't be written.
        """
        files = cls.at(folder)
        if not files.database.exists():
            for part in (files.questions, files.notes, files.examples):
                if part.exists():
                    raise InputError(
                        f"{part} already exists, but belongs to no hospital, because there is no "
                        f"{files.database.name} beside it: name another folder, or move the file"
                    )
        build_hospital(files.database, patients=patients, seed=seed)
        questions = benchmark_questions(files.database, seed=seed, size=size)
        try:
            write_questions(questions, files.questions)
            write_whole(files.notes, NOTES)
            write_whole(files.examples, "\n\n".join(EXAMPLES) + "\n")
        except OSError as error:
            raise DatabaseError(
                f"can't write the hospital to {folder} ({error.strerror}): check the folder"
            ) from error
        return files
