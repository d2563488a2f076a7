"""How `sentinel forget` counts and erases the records of an id, by the kind of file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final


def _counted(ids: Iterable[str], erased_id: str) -> int:
    from sentinel_sql.storage.run_id import ids_of_run

    return sum(erased_id in ids_of_run(name) for name in ids)


def _count_runs(path: Path, erased_id: str) -> int:
    from sentinel_sql.trajectory.store import read_trajectories

    return _counted((run.question.id for run in read_trajectories(path)), erased_id)


def _count_labels(path: Path, erased_id: str) -> int:
    from sentinel_sql.labels.file import read_labels

    return _counted(read_labels(path).by_run, erased_id)


def _count_verdicts(path: Path, erased_id: str) -> int:
    from sentinel_sql.labels.verdicts import read_verdicts

    return _counted((verdict.question_id for verdict in read_verdicts(path)), erased_id)


def _count_ratings(path: Path, erased_id: str) -> int:
    from sentinel_sql.labels.ratings import read_ratings

    return _counted((rating.id for rating in read_ratings(path).ratings), erased_id)


def _count_confidences(path: Path, erased_id: str) -> int:
    from sentinel_sql.rivals.confidences import read_confidences

    return _counted((record.run for record in read_confidences(path)[1]), erased_id)


def _erase_runs(path: Path, erased_id: str) -> None:
    from sentinel_sql.trajectory.store import TrajectoryStore

    with TrajectoryStore.open(path) as opened:
        opened.forget(erased_id)


def _erase_recordings(path: Path, erased_id: str) -> None:
    from sentinel_sql.trajectory.erasure import erase_from_recordings

    erase_from_recordings(path, erased_id)


def _erase_labels(path: Path, erased_id: str) -> None:
    from sentinel_sql.labels.file import forget_labels

    forget_labels(path, erased_id)


def _erase_verdicts(path: Path, erased_id: str) -> None:
    from sentinel_sql.labels.verdicts import VerdictLog

    with VerdictLog.open(path) as opened:
        opened.forget(erased_id)


def _erase_ratings(path: Path, erased_id: str) -> None:
    from sentinel_sql.labels.ratings import forget_ratings

    forget_ratings(path, erased_id)


def _erase_confidences(path: Path, erased_id: str) -> None:
    from sentinel_sql.rivals.confidences import ConfidenceStore, read_confidences

    with ConfidenceStore.open(path, manifest=read_confidences(path)[0]) as opened:
        opened.forget(erased_id)


_Count = Callable[[Path, str], int]
_Erase = Callable[[Path, str], None]

ERASERS: Final[Mapping[str, tuple[_Count, _Erase]]] = MappingProxyType(
    {
        "store": (_count_runs, _erase_runs),
        "recordings": (_count_runs, _erase_recordings),
        "labels": (_count_labels, _erase_labels),
        "verdicts": (_count_verdicts, _erase_verdicts),
        "ratings": (_count_ratings, _erase_ratings),
        "confidences": (_count_confidences, _erase_confidences),
    }
)
"""Kind → how its records of an id are counted, and how they are erased."""
