"""What a verb may be given for one thing: the object that another verb returns, or its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeAlias

from sentinel_sql.database.executor import Database
from sentinel_sql.database.sqlite import SqliteDatabase
from sentinel_sql.errors import InputError
from sentinel_sql.labels.file import read_labels
from sentinel_sql.labels.record import Label, Labels, LabelsHeader
from sentinel_sql.monitor.bundle import load
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.questions.pools import Pools
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import TrajectoryStore, read_trajectories

AnyPath: TypeAlias = str | PathLike[str]


class LabelsMade(Protocol):
    """What labelling returns: a header, and the labels in the order of the runs."""

    @property
    def header(self) -> LabelsHeader:
        """Under what the labels were made."""
        ...

    @property
    def labels(self) -> Sequence[Label]:
        """The labels, one a run."""
        ...


AnyQuestions: TypeAlias = Sequence[Question] | AnyPath
AnyRuns: TypeAlias = Iterable[Trajectory] | TrajectoryStore | AnyPath
AnyPools: TypeAlias = Pools | AnyPath
AnyLabels: TypeAlias = Labels | LabelsMade | AnyPath
AnyMonitor: TypeAlias = Monitor | AnyPath


def questions_from(given: AnyQuestions) -> Sequence[Question]:
    """Return questions, read from a file where one is named."""
    return read_questions(given) if isinstance(given, str | PathLike) else given


def runs_from(given: AnyRuns) -> Iterable[Trajectory]:
    """Return runs, read from a store or a recordings file where one is named."""
    if isinstance(given, TrajectoryStore):
        return read_trajectories(given.folder)
    return read_trajectories(given) if isinstance(given, str | PathLike) else given


def pools_from(given: AnyPools) -> Pools:
    """Return a pool manifest, read where its file is named."""
    return Pools.read(given) if isinstance(given, str | PathLike) else given


def labels_from(
    given: AnyLabels | Mapping[str, Label], header: LabelsHeader | None = None
) -> Labels:
    """Return labels with their header, read from a file where one is named.

    Args:
        given: as a verb returned them, or by run id with the `header` apart.
        header: of labels that come by run id.

    Raises:
        InputError: labels by run id without a header, or something else than labels.
    """
    if isinstance(given, Labels):
        return given
    if isinstance(given, str | PathLike):
        return read_labels(given)
    if isinstance(given, Mapping):
        if header is None:
            raise InputError(
                "labels by run id say nothing of their judge and schema: give what read_labels or "
                "label_runs returned, or the labels file"
            )
        return Labels(header=header, by_run=given)
    if not hasattr(given, "labels"):
        raise InputError(
            f"labels can't be of type {type(given).__name__}: give what read_labels or label_runs "
            "returned, or the labels file"
        )
    return Labels(header=given.header, by_run={one.question_id: one for one in given.labels})


def monitor_from(given: AnyMonitor) -> tuple[Monitor, Path | None]:
    """Return a monitor, and the folder that it was read from, if it was."""
    if isinstance(given, str | PathLike):
        return load(given), Path(given)
    return given, None


@contextmanager
def database_from(given: Database | AnyPath) -> Iterator[Database]:
    """Open a database where its file is named, and close it again."""
    if isinstance(given, str | PathLike):
        with SqliteDatabase.open(given) as opened:
            yield opened
    else:
        yield given
