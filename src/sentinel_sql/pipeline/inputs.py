"""Converts the arguments of verbs: the object that another verb returned, or a path to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeAlias

from sentinel_sql.database.executor import Database
from sentinel_sql.database.opening import open_database
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


class LabellingResult(Protocol):
    """The result of labelling: a header, and the labels in the order of the runs."""

    @property
    def header(self) -> LabelsHeader:
        """Judge, mode, clock and schema of the labels."""
        ...

    @property
    def labels(self) -> Sequence[Label]:
        """One label for each run."""
        ...


AnyQuestions: TypeAlias = Sequence[Question] | AnyPath
AnyRuns: TypeAlias = Iterable[Trajectory] | TrajectoryStore | AnyPath
AnyPools: TypeAlias = Pools | AnyPath
AnyLabels: TypeAlias = Labels | LabellingResult | AnyPath
AnyMonitor: TypeAlias = Monitor | AnyPath


def questions_from(source: AnyQuestions) -> Sequence[Question]:
    """Return questions; a path is read as a question file."""
    return read_questions(source) if isinstance(source, str | PathLike) else source


def runs_from(source: AnyRuns) -> Iterable[Trajectory]:
    """Return runs; a path is read as a store or a recordings file."""
    if isinstance(source, TrajectoryStore):
        return read_trajectories(source.folder)
    return read_trajectories(source) if isinstance(source, str | PathLike) else source


def pools_from(source: AnyPools) -> Pools:
    """Return a pool manifest; a path is read."""
    return Pools.read(source) if isinstance(source, str | PathLike) else source


def labels_from(
    source: AnyLabels | Mapping[str, Label], header: LabelsHeader | None = None
) -> Labels:
    """Return labels with their header; a path is read as a labels file.

    Args:
        source: what a verb returned, a path, or labels by run id.
        header: header of labels by run id.

    Raises:
        InputError: labels by run id come without a header, or the source holds no labels.
    """
    if isinstance(source, Labels):
        return source
    if isinstance(source, str | PathLike):
        return read_labels(source)
    if isinstance(source, Mapping):
        if header is None:
            raise InputError(
                "labels by run id don't tell their judge and schema: give what read_labels or "
                "label_runs returned, or the labels file"
            )
        return Labels(header=header, by_run=source)
    if not hasattr(source, "labels"):
        raise InputError(
            f"labels can't be of type {type(source).__name__}: give what read_labels or label_runs "
            "returned, or the labels file"
        )
    return Labels(header=source.header, by_run={one.question_id: one for one in source.labels})


def monitor_from(source: AnyMonitor) -> tuple[Monitor, Path | None]:
    """Return a monitor, and the folder that it was read from, or None."""
    if isinstance(source, str | PathLike):
        return load(source), Path(source)
    return source, None


@contextmanager
def database_from(source: Database | AnyPath) -> Iterator[Database]:
    """Yield a database; a path is opened, and closed at the end."""
    if isinstance(source, str | PathLike):
        with open_database(source) as opened:
            yield opened
    else:
        yield source
