"""`sentinel forget`: erases a question or a run from files, and names what else may hold it."""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sentinel_sql.cli.erasers import ERASERS
from sentinel_sql.cli.output import AsJson, emit
from sentinel_sql.cli.verbs.migrate import kind_of
from sentinel_sql.errors import InputError, SentinelError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sentinel_sql.cli.settings import Settings

EXAMPLE = "Example: sentinel forget q17 runs/qwen labels.jsonl ratings.csv confidences/ --dry-run"


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """A file or folder from which the question or run is erased; `records` were found in it."""

    path: str
    kind: str
    records: int


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """What isn't erased and may still hold something.

    Attributes:
        path: the file or folder.
        kind: what it holds.
        named_in: its files in which the id, the question or a query literally stands.
        todo: what it may hold, and what to do.
    """

    path: str
    kind: str
    named_in: tuple[str, ...]
    todo: str


def forget(
    context: typer.Context,
    erased_id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a question, with all its runs, or of one run."),
    ],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH…",
            help="Stores, recordings, labels, verdicts, ratings or confidences to clean; others "
            "are only searched.  [store and labels of the settings]",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be erased, and what remains.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a question or a run from files, for good, and name what else may hold it.

    Each file is replaced as a whole or not at all; after a kill, the same command goes on. A store
    keeps a hash of the id and the time, so that the question isn't recorded again.
    """
    settings: Settings = context.obj
    given = _with_verdicts(paths or _of_settings(settings, ("store", "labels")))
    if not given:
        raise InputError("name what to clean: a store, labels, ratings or confidences")
    kinds = {path: _kind_of(path) for path in given}
    cleanable = {path: kind for path, kind in kinds.items() if kind in ERASERS}
    if not cleanable:
        raise InputError(
            f"nothing among these can be cleaned, first {given[0]}: name a store, recordings, "
            "labels, verdicts, ratings or confidences"
        )
    known = _texts(erased_id, (path for path, kind in kinds.items() if kind in _WITH_RUNS))
    found = {path: ERASERS[kind][0](path, erased_id) for path, kind in cleanable.items()}
    if not any(found.values()) and not any(
        _is_forgotten(path, erased_id) for path, kind in kinds.items() if kind == "store"
    ):
        raise InputError(
            f"{', '.join(map(str, cleanable))}: nothing of {erased_id!r} is in it; check the id "
            "with `sentinel show`"
        )
    if not dry_run:
        for path, kind in cleanable.items():
            ERASERS[kind][1](path, erased_id)
    cleaned = [
        Cleaned(path=str(path), kind=kind, records=found[path]) for path, kind in cleanable.items()
    ]
    others = [path for path in kinds if path not in cleanable]
    others += _of_settings(settings, ("questions", "pools", "monitor", "evaluation", "report"))
    elsewhere = [_elsewhere(path, erased_id, known) for path in dict.fromkeys(others)]
    document = {
        "id": erased_id,
        "dry_run": dry_run,
        "cleaned": [asdict(each) for each in cleaned],
        "elsewhere": [asdict(each) for each in elsewhere],
        "always": list(ALWAYS),
    }
    emit(document, as_json=as_json, tables=lambda: _screen(dry_run, cleaned, elsewhere))


ALWAYS: Final = (
    "copies, backups, snapshots of the disk and logs of the agent or of a server",
    "the database itself, and an index of its values",
    "stores, labels and evaluations that weren't named here, such as a probed copy of the store",
)
"""What this command never sees."""


def _screen(
    dry_run: bool, cleaned: Sequence[Cleaned], elsewhere: Sequence[Elsewhere]
) -> Iterator[RenderableType]:
    from rich.text import Text

    verb = "would be erased" if dry_run else "erased"
    for each in cleaned:
        yield Text(f"{each.path}: {each.kind}, {each.records} {verb}", overflow="fold")
    for other in elsewhere:
        named = f"; named in {', '.join(other.named_in)}" if other.named_in else ""
        yield Text(f"{other.path}: {other.kind}, not changed{named}: {other.todo}", overflow="fold")
    yield Text("May also hold it: " + "; ".join(ALWAYS) + ".", overflow="fold")


def _of_settings(settings: Settings | None, names: Iterable[str]) -> list[Path]:
    """Return the existing paths of these settings."""
    found: list[Path] = []
    for name in names:
        value = None if settings is None else settings.values.get(name)
        found += map(Path, value if isinstance(value, list) else [value] if value else [])
    return [path for path in found if path.exists()]


def _with_verdicts(paths: Iterable[Path]) -> list[Path]:
    """Return the paths, and the verdicts that lie beside labels."""
    found: list[Path] = []
    for path in paths:
        found += [path, path.with_name(path.name + ".verdicts")]
    return list(dict.fromkeys(p for p in found if p.exists() or p.suffix != ".verdicts"))


def _kind_of(path: Path) -> str:
    """Return what a path holds; `other` if it isn't Sentinel's.

    Raises:
        InputError: there is nothing at the path.
    """
    from sentinel_sql.labels.audit import KEY
    from sentinel_sql.labels.ratings import ID_COLUMNS, table_lines
    from sentinel_sql.report.write import PAGE

    if not path.exists():
        raise InputError(f"{path}: no such file or folder; check the path")
    with suppress(InputError):
        return kind_of(path)
    if path.is_dir():
        return (
            "report" if (path / PAGE).is_file() else "audit" if (path / KEY).is_file() else "other"
        )
    with suppress(SentinelError):
        table_lines(path, ("rating",), ID_COLUMNS)
        return "ratings"
    return "other"


def _elsewhere(path: Path, erased_id: str, known: frozenset[str]) -> Elsewhere:
    kind = _kind_of(path)
    return Elsewhere(
        path=str(path),
        kind=kind,
        named_in=tuple(_named_in(path, erased_id, known)),
        todo=_TODO.get(kind, _TODO["other"]),
    )


def _named_in(path: Path, erased_id: str, known: frozenset[str]) -> Iterator[str]:
    """Yield the files in which the id, or one of the texts, literally stands."""
    bounded = rf"(?<![\w#]){re.escape(erased_id)}(?!\w)"
    forms = {form for text in known for form in _forms(text)}
    pattern = re.compile(
        "|".join([bounded, *map(re.escape, sorted(forms))]).encode(errors="surrogateescape")
    )
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if not file.is_file():
            continue
        data = file.read_bytes()
        with suppress(OSError, EOFError):
            data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        if pattern.search(data):
            yield file.name if path.is_dir() else str(file)


def _forms(text: str) -> set[str]:
    """Return a text as it stands in JSON, in HTML and plainly."""
    return {
        text,
        html.escape(text),
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
    }


def _texts(erased_id: str, stores: Iterable[Path]) -> frozenset[str]:
    """Return the wordings and queries of the runs that are to be erased."""
    from sentinel_sql.storage.run_id import ids_of_run
    from sentinel_sql.trajectory.store import read_trajectories

    found: set[str] = set()
    for store in stores:
        for run in read_trajectories(store):
            if erased_id in ids_of_run(run.question.id):
                found |= {run.question.text, *(step.sql or "" for step in run.steps)}
    return frozenset(text for text in found if len(text.strip()) > 3)


def _is_forgotten(store: Path, erased_id: str) -> bool:
    from sentinel_sql.trajectory.manifest import read_manifest
    from sentinel_sql.trajectory.tombstone import is_forgotten

    manifest = read_manifest(store)
    return manifest is not None and is_forgotten(erased_id, manifest.forgotten)


_WITH_RUNS: Final = frozenset({"store", "recordings"})

_TODO: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "monitor": "if it was fitted or calibrated on the run, hashed n-grams, scores and the "
        "cases that explain a confidence go back to it; fit it again",
        "evaluation": "its scores, and views.jsonl where the run is in the sample; evaluate again, "
        "or delete it",
        "report": "shows the sample of runs of its evaluation; write it again after that",
        "pools": "the question's id, and its template or wording; make the pools again if these "
        "must go too, and then fit again",
        "audit": "sheets hold questions, queries and whole results; delete it, or its rows",
        "other": "not a file that is cleaned, such as your own questions or logs; edit it yourself",
    }
)
"""Kind → what it may hold, and what to do."""
