"""`sentinel migrate`: converts files of earlier versions to the form of this version.

Stores, labels, verdicts and confidences are written again with checksums; their content stays the
same. Monitors and evaluations are never converted: they are computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from sentinel_sql.cli.output import AsJson, emit
from sentinel_sql.errors import InputError, SentinelError

if TYPE_CHECKING:
    from rich.console import RenderableType

EXAMPLE = "Example: sentinel migrate runs/qwen labels.jsonl monitor/ evaluation/"

Kind = Literal[
    "store", "confidences", "labels", "verdicts", "pools", "monitor", "evaluation", "recordings"
]
State = Literal["converted", "current", "make it again"]


@dataclass(frozen=True, kw_only=True)
class Migration:
    """The result for one path.

    Attributes:
        path: the path as given.
        kind: what the path holds.
        state: `converted` to this version's form, `current` already, or to be made again.
        detail: how many lines were converted, or what to do.
    """

    path: str
    kind: Kind
    state: State
    detail: str


def migrate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH…",
            help="Stores, labels, verdicts, confidences, pools, monitors or evaluations.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Convert files of earlier versions to the form of this version; their content stays the same.

    Each file is replaced as a whole or not at all, and a second call changes nothing. For a monitor
    or an evaluation that this version can't read, the command that makes it again is shown.
    """
    done = [_migrate(path) for path in paths]
    document = {"paths": [asdict(each) for each in done]}
    emit(document, as_json=as_json, tables=lambda: _screen(done))
    if again := [each for each in done if each.state == "make it again"]:
        raise InputError(f"{len(again)} of {len(done)} must be made again: {again[0].detail}")


def _screen(done: list[Migration]) -> Iterator[RenderableType]:
    from rich.text import Text

    for each in done:
        detail = f" ({each.detail})" if each.state == "converted" else ""
        yield Text(f"{each.path}: {each.kind}, {each.state}{detail}", overflow="fold")


def _migrate(path: Path) -> Migration:
    """Convert one file or folder to the form of this version.

    Raises:
        InputError: the path holds nothing that Sentinel wrote.
        SentinelError: the path is damaged, in use, or can't be written.
    """
    kind = kind_of(path)
    lines = _CONVERSIONS[kind](path)
    if isinstance(lines, str):
        return Migration(path=str(path), kind=kind, state="make it again", detail=lines)
    return Migration(
        path=str(path),
        kind=kind,
        state="converted" if lines else "current",
        detail=f"{lines:,} lines got checksums" if lines else "",
    )


def kind_of(path: Path) -> Kind:
    """Return what a file or folder of Sentinel holds.

    Raises:
        InputError: the path holds nothing that Sentinel wrote.
    """
    for name, kind in FOLDERS.items():
        if (path / name).is_file():
            return kind
    try:
        with path.open("rb") as file:
            start = file.read(1 << 12)
    except OSError as error:
        raise InputError(
            f"{path} holds nothing that Sentinel wrote ({error.strerror}): name a store, labels, "
            "verdicts, confidences, pools, a monitor or an evaluation"
        ) from error
    for mark, named in _MARKS.items():
        if mark in start:
            return named
    if start.startswith(b"\x1f\x8b"):
        return "recordings"
    raise InputError(
        f"{path} isn't a file that Sentinel wrote: name a store, labels, verdicts, confidences, "
        "pools, a monitor or an evaluation"
    )


def _convert_store(folder: Path) -> int:
    from sentinel_sql.trajectory.store import TrajectoryStore

    with TrajectoryStore.open(folder) as opened:
        return opened.add_checksums()


def _convert_confidences(folder: Path) -> int:
    from sentinel_sql.rivals.confidences import ConfidenceStore, read_confidences

    with ConfidenceStore.open(folder, manifest=read_confidences(folder)[0]) as opened:
        return opened.add_checksums()


def _convert_labels(file: Path) -> int:
    from sentinel_sql.labels.file import read_labels, write_labels
    from sentinel_sql.storage.checksums import carries_checksum

    found = read_labels(file)
    lines = file.read_bytes().splitlines()
    bare = sum(bool(line.strip()) and not carries_checksum(line) for line in lines)
    if bare:
        write_labels(file, found.header, found.by_run.values())
    return bare


def _convert_verdicts(file: Path) -> int:
    from sentinel_sql.labels.verdicts import VerdictLog

    with VerdictLog.open(file) as opened:
        return opened.add_checksums()


def _check_recordings(file: Path) -> int:
    from sentinel_sql.trajectory.store import read_trajectories

    for _ in read_trajectories(file):
        pass
    return 0


def _check_pools(file: Path) -> int:
    from sentinel_sql.questions.pools import Pools

    Pools.read(file)
    return 0


def _check_monitor(folder: Path) -> int | str:
    from sentinel_sql.monitor.bundle import load

    try:
        load(folder)
    except SentinelError as error:
        return str(error)
    return 0


def _check_evaluation(folder: Path) -> int | str:
    from sentinel_sql.evaluation_store.folder import read

    try:
        read(folder)
    except SentinelError as error:
        return str(error)
    return 0


_CONVERSIONS: Final[Mapping[Kind, Callable[[Path], int | str]]] = MappingProxyType(
    {
        "store": _convert_store,
        "confidences": _convert_confidences,
        "labels": _convert_labels,
        "verdicts": _convert_verdicts,
        "pools": _check_pools,
        "recordings": _check_recordings,
        "monitor": _check_monitor,
        "evaluation": _check_evaluation,
    }
)
"""Kind → its converter, which returns how many lines changed, or why the path can't be read."""

FOLDERS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "store.json": "store",
        "confidences.json": "confidences",
        "manifest.json": "monitor",
        "evaluation.json": "evaluation",
    }
)
"""The file that identifies a kind of folder; a test checks these names against their writers."""

_MARKS: Final[Mapping[bytes, Kind]] = MappingProxyType(
    {
        b'"sentinel-labels/': "labels",
        b'"sentinel-verdicts/': "verdicts",
        b'"sentinel-pools/': "pools",
        b'"sentinel-trajectory/': "recordings",
    }
)
"""Text at the start of a file → its kind."""
