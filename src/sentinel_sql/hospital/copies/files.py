"""The question and example files of a copied hospital, with the SQL of its database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from sentinel_sql.database.unknown_names import unknown_column_error
from sentinel_sql.errors import DatabaseError
from sentinel_sql.hospital.benchmark import write_questions
from sentinel_sql.hospital.briefing import EXAMPLES
from sentinel_sql.hospital.copies.copy import copy_hospital, dialect_of_address
from sentinel_sql.hospital.copies.gold_sql import in_dialect
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.questions.read import read_questions
from sentinel_sql.storage.whole_file import write_whole

_SQL_TAGS = ("SQL: ", "FINAL_SQL: ")


@dataclass(frozen=True, kw_only=True, slots=True)
class CopiedHospital:
    """A copy of a hospital, and the files that belong to it.

    Attributes:
        dialect: `postgres` or `duckdb`.
        questions: the benchmark with gold SQL of this dialect.
        examples: worked examples with SQL of this dialect.
    """

    dialect: str
    questions: Path
    examples: Path

    @classmethod
    def at(cls, folder: Path | str, dialect: str) -> Self:
        """Return the paths of a copy's files beside a hospital, which need not exist."""
        folder = Path(folder)
        return cls(
            dialect=dialect,
            questions=folder / f"questions.{dialect}.jsonl",
            examples=folder / f"examples.{dialect}.txt",
        )

    @classmethod
    def write(cls, made: HospitalFolder, address: str) -> Self:
        """Copy a hospital into a database, and write the files beside the hospital.

        Args:
            made: the hospital's folder.
            address: the database; see `copy_hospital`.

        Raises:
            InputError: the hospital can't be copied there, or something else is there.
            DatabaseError: the database or the folder can't be written.
            MissingExtraError: the package for this kind of database isn't installed.
        """
        files = cls.at(made.folder, dialect_of_address(address))
        copy_hospital(made.database, address)
        questions = (
            question
            if question.gold_sql is None
            else replace(question, gold_sql=in_dialect(question.gold_sql, files.dialect))
            for question in read_questions([made.questions])
        )
        try:
            write_questions(questions, files.questions)
            write_whole(files.examples, "\n\n".join(examples_in(files.dialect)) + "\n")
        except OSError as error:
            raise DatabaseError(
                f"can't write the questions to {made.folder} ({error.strerror}): check the folder"
            ) from error
        return files


def examples_in(dialect: str) -> tuple[str, ...]:
    """Return the worked examples on the hospital with the SQL and the errors of a dialect."""
    error = unknown_column_error("gender", "sqlite")
    return tuple(
        "\n".join(_line_in(line, dialect) for line in example.split("\n")).replace(
            error, unknown_column_error("gender", dialect)
        )
        for example in EXAMPLES
    )


def _line_in(line: str, dialect: str) -> str:
    for tag in _SQL_TAGS:
        if line.startswith(tag):
            return tag + in_dialect(line.removeprefix(tag), dialect)
    return line
