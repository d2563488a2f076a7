"""The file of a language model's verdicts, to which each verdict is written at once.

It is JSON Lines beside the labels, 0600, and holds no question, query or row.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from sentinel_sql.errors import LabelsError, StoreError
from sentinel_sql.labels.case import Case
from sentinel_sql.storage.append_log import AppendLog, count_file, read_count
from sentinel_sql.storage.checksums import read_lines
from sentinel_sql.storage.paths import path_of

FORMAT: Final = "sentinel-verdicts/1"
_START: Final = b'{"format":"sentinel-verdicts/1"'
"""Start of every line. A last line that starts otherwise is of another kind of file."""


class StoredVerdict(BaseModel):
    """A model's verdict on one case; `correct` is None if no reply was a digit.

    `case_sha256` is the hash of all that the model was shown.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, hide_input_in_errors=True)

    format: Literal["sentinel-verdicts/1"] = FORMAT
    question_id: str
    case_sha256: str
    model: str
    prompt_sha256: str
    correct: bool | None
    tries: int
    prompt_tokens: int = 0
    completion_tokens: int = 0


class VerdictLog:
    """Verdicts opened for adding, by one process at a time; use as a context manager.

    A verdict is identified by case, model and prompt. A changed answer or another model is
    therefore asked again.
    """

    def __init__(self, *, path: Path, log: AppendLog, known: list[StoredVerdict]) -> None:
        self.path = path
        self._log = log
        self._known = {_key(verdict): verdict for verdict in known}

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a file of verdicts, or make one; an incomplete last line is moved aside.

        Raises:
            LabelsError: another process writes to the file, a line is damaged, or the file can't
                be written.
        """
        path = path_of(path)

        def check() -> None:  # a file of another kind, given by mistake, must stay unchanged
            if path.exists():
                read_verdicts(path)

        try:
            log = AppendLog.open(
                path,
                lock=path.with_name(path.name + ".lock"),
                torn=path.with_name(path.name + ".torn"),
                is_whole=_is_whole,
                check=check,
            )
        except StoreError as error:
            raise LabelsError(str(error)) from error
        except OSError as error:
            raise LabelsError(
                f"{path} can't be written ({error.strerror}): name another file with --verdicts"
            ) from error
        try:
            return cls(path=path, log=log, known=read_verdicts(path))
        except BaseException:
            log.close()
            raise

    def find(self, case: Case, *, model: str, prompt_sha256: str) -> StoredVerdict | None:
        """Return this model's verdict on this case by this prompt, or None."""
        return self._known.get((case.run_id, case.sha256, model, prompt_sha256))

    def add(self, verdict: StoredVerdict) -> None:
        """Add a verdict; returns once it is on the disk.

        Raises:
            LabelsError: the disk is full or broken; earlier verdicts are kept.
        """
        try:
            self._log.append(verdict.model_dump_json().encode())
        except StoreError as error:
            raise LabelsError(str(error)) from error
        self._known[_key(verdict)] = verdict

    def add_checksums(self) -> int:
        """Give each line of an older version its checksum; see `AppendLog.add_checksums`."""
        return self._log.add_checksums()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()


def read_verdicts(path: str | Path) -> list[StoredVerdict]:
    """Read a file of verdicts; an incomplete last line is ignored.

    Raises:
        LabelsError: the file can't be read, or a line is no verdict.
    """
    path, found = path_of(path), []
    try:
        expected = read_count(path)
        with path.open("rb") as lines:
            for number, content, ended in read_lines(
                lines,
                file=path,
                expected=expected,
                refusal=LabelsError,
                warn_by=count_file(path).name,
            ):
                verdict = _verdict(content)
                if verdict is not None:
                    found.append(verdict)
                elif ended or not (content.startswith(_START) or _START.startswith(content)):
                    raise LabelsError(
                        f"{path}, line {number} is no {FORMAT} verdict: remove the line, or give "
                        "another file with --verdicts"
                    )
    except StoreError as error:
        raise LabelsError(str(error)) from error
    except OSError as error:
        raise LabelsError(f"{path} can't be read ({error.strerror}): check the path") from error
    return found


def _key(verdict: StoredVerdict) -> tuple[str, str, str, str]:
    return (verdict.question_id, verdict.case_sha256, verdict.model, verdict.prompt_sha256)


def _verdict(record: bytes) -> StoredVerdict | None:
    try:
        return StoredVerdict.model_validate_json(record)
    except ValidationError:
        return None


def _is_whole(record: bytes) -> bool:
    return _verdict(record) is not None
