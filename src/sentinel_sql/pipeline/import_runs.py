"""Takes in the logs of agents that Sentinel never ran, as a store like any other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sentinel_sql.errors import InputError, StoreError
from sentinel_sql.trajectory.formats import FORMATS
from sentinel_sql.trajectory.formats.log import LogFormat, LoggedRun, read_records
from sentinel_sql.trajectory.store import StoreManifest, TrajectoryStore


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportSummary:
    """What an import brought.

    Attributes:
        store: the folder that holds the runs.
        imported: runs added.
        already_there: runs whose ids the store held before.
        failed: reason → how many records hold no run for it.
        notes: what logs left open and how it was settled → how often.
    """

    store: Path
    imported: int
    already_there: int
    failed: Mapping[str, int]
    notes: Mapping[str, int]


def import_runs(
    files: Sequence[str | PathLike[str]] | str | PathLike[str],
    *,
    store: str | PathLike[str],
    format: str = "openai-messages",  # noqa: A002 (the word that the command line has)
    model: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportSummary:
    """Add the runs of log files to a store. All files are read before anything is written.

    Args:
        files: the logs of one agent, gzip or not; or a single one.
        store: the store's folder; made if absent.
        format: a name of `FORMATS`.
        model: who ran, where the logs don't say; by default the file's name without its endings.
        on_progress: called with runs written or skipped so far, and their number.

    Raises:
        InputError: no such format, or a file that can't be read.
        StoreError: the files are of several agents, no record holds a run, an id stands twice,
            or the store can't take the runs.
    """
    reader = _reader(format)
    files = [files] if isinstance(files, str | PathLike) else files
    runs: list[LoggedRun] = []
    failed: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for file in map(Path, files):
        for run in _runs(file, reader, model, failed):
            runs.append(run)
            notes.update(run.notes)
    if not runs:
        why = f" ({failed.most_common(1)[0][0]})" if failed else ""
        names = ", ".join(map(str, files))
        raise StoreError(f"{names}: no run in it{why}; check the file and --format")
    agents = {run.trajectory.agent.fingerprint: run.trajectory.agent for run in runs}
    if len(agents) > 1:
        raise StoreError(
            f"the files hold runs of {len(agents)} agents ({'; '.join(sorted(agents))}); import "
            "each agent's files into a store of its own, or name their one model with --model"
        )
    _refuse_doubles(runs)
    manifest = StoreManifest(agent=next(iter(agents.values())))
    with TrajectoryStore.open(store, manifest=manifest) as opened:
        held = opened.ids
        imported = 0
        for count, run in enumerate(runs, start=1):
            if run.trajectory.question.id not in held:
                opened.append(run.trajectory)
                imported += 1
            if on_progress is not None:
                on_progress(count, len(runs))
    return ImportSummary(
        store=Path(store),
        imported=imported,
        already_there=len(runs) - imported,
        failed=dict(failed),
        notes=dict(notes),
    )


def questions_in(
    files: Sequence[str | Path],
    *,
    format: str = "openai-messages",  # noqa: A002
) -> list[Mapping[str, Any]]:
    """Return the questions whose gold SQL the logs carry, in the columns of own question files.

    Raises:
        InputError: no such format, a file that can't be read, or two gold queries for one id.
    """
    reader = _reader(format)
    found: dict[str, Mapping[str, Any]] = {}
    for file in map(Path, files):
        for record in read_records(file):
            question = reader.question_of(record)
            if question is None:
                continue
            known = found.setdefault(question["id"], question)
            if known["gold_sql"] != question["gold_sql"]:
                raise InputError(
                    f"{file}: question {question['id']} has two different gold queries; import "
                    "the logs of one set of questions at a time"
                )
    return list(found.values())


def _reader(name: str) -> LogFormat:
    if name not in FORMATS:
        raise InputError(f"no format {name!r}; choose of {', '.join(FORMATS)}")
    return FORMATS[name]


def _runs(
    file: Path, reader: LogFormat, model: str | None, failed: Counter[str]
) -> Iterator[LoggedRun]:
    stem = file.name.removesuffix(".gz").rpartition(".")[0] or file.name
    for number, record in enumerate(read_records(file), start=1):
        try:
            yield reader.read_run(record, model or stem, f"{stem}-{number}")
        except InputError as error:
            failed[str(error)] += 1
        except ValidationError as error:
            failed[f"not a run ({error.error_count()} fields)"] += 1


def _refuse_doubles(runs: Sequence[LoggedRun]) -> None:
    counts = Counter(run.trajectory.question.id for run in runs)
    twice = next((identity for identity, count in counts.items() if count > 1), None)
    if twice is not None:
        raise StoreError(
            f"two runs have the id {twice}; give each its own id, or a trial (run k of question X "
            "is X#k)"
        )
