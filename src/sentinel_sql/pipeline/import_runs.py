"""Takes in the logs of agents that Sentinel never ran, as a store like any other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sentinel_sql.errors import InputError, StoreError
from sentinel_sql.trajectory.formats import AUTO, FORMS
from sentinel_sql.trajectory.formats.log import read_records
from sentinel_sql.trajectory.formats.logged_record import (
    LoggedRun,
    ReadRecord,
    form_of,
    items_of,
    question_of,
    read_record,
)
from sentinel_sql.trajectory.formats.tools import Tools
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import StoreManifest, TrajectoryStore, read_trajectories


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportSummary:
    """What an import brought.

    Attributes:
        store: the folder that holds the runs.
        imported: runs added.
        already_there: runs whose ids the store held before.
        endings: rule of `ENDINGS` → how many of all read runs ended by it.
        failed: reason → how many runs, or records without any, were left out for it.
        notes: what logs left open and how it was settled → how often.
        unread: kind of item that no step is made of → how often.
    """

    store: Path
    imported: int
    already_there: int
    endings: Mapping[str, int]
    failed: Mapping[str, int]
    notes: Mapping[str, int]
    unread: Mapping[str, int]


def import_runs(
    files: Sequence[str | PathLike[str]] | str | PathLike[str],
    *,
    store: str | PathLike[str],
    format: str = AUTO,  # noqa: A002 (the word that the command line has)
    model: str | None = None,
    tools: Tools | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportSummary:
    """Add the runs of log files to a store. All files are read before anything is written.

    Args:
        files: the logs of one agent, gzip or not; or a single one.
        store: the store's folder; made if absent.
        format: a name of `FORMS`, or `auto`.
        model: who ran, where the logs don't say; by default the file's name without its endings.
        tools: which tools run SQL and which end a run; None takes the common names.
        on_progress: called with runs written or skipped so far, and their number.

    Raises:
        InputError: no such format, or a file that can't be read.
        StoreError: the files are of several agents, no record holds a run, an id stands twice,
            the store holds another run under an id, or it can't take the runs.
    """
    _require_form(format)
    files = [files] if isinstance(files, str | PathLike) else files
    runs: list[LoggedRun] = []
    failed: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    records = [
        (_stem(file), number, record)
        for file in map(Path, files)
        for number, record in enumerate(_records(file, format), start=1)
    ]
    form = _form([record for _, _, record in records]) if format == AUTO else format
    for stem, number, record in records:
        read = _read(
            record,
            failed,
            form=form,
            model=model or stem,
            fallback_id=f"{stem}-{number}",
            tools=tools,
        )
        runs.extend(read.runs)
        failed.update(read.refused)
        notes.update(read.notes)
        unread.update(read.unread)
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
        _refuse_conflicts(runs, held, store)
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
        endings=dict(Counter(str(run.rule) for run in runs)),
        failed=dict(failed),
        notes=dict(notes),
        unread=dict(unread),
    )


def questions_in(
    files: Sequence[str | Path],
    *,
    format: str = AUTO,  # noqa: A002
) -> list[Mapping[str, Any]]:
    """Return the questions whose gold SQL the logs carry, in the columns of own question files.

    Raises:
        InputError: no such format, a file that can't be read, or two gold queries for one id.
    """
    _require_form(format)
    found: dict[str, Mapping[str, Any]] = {}
    for file in map(Path, files):
        for record in _records(file, format):
            question = question_of(record, form=format)
            if question is None:
                continue
            known = found.setdefault(question["id"], question)
            if known["gold_sql"] != question["gold_sql"]:
                raise InputError(
                    f"{file}: question {question['id']} has two different gold queries; import "
                    "the logs of one set of questions at a time"
                )
    return list(found.values())


def _require_form(name: str) -> None:
    if name != AUTO and name not in FORMS:
        raise InputError(f"no format {name!r}; choose of {', '.join([AUTO, *FORMS])}")


def _records(file: Path, form: str) -> list[Any]:
    return read_records(file, plain_text=form == "react")


def _stem(file: Path) -> str:
    return file.name.removesuffix(".gz").rpartition(".")[0] or file.name


def _form(records: Sequence[Any]) -> str:
    """Return the one form of an agent's logs: a record of plain words alone shows none."""
    items: list[Any] = []
    for record in records:
        with suppress(InputError):
            items.extend(items_of(record))
    return form_of(items)


def _read(record: Any, failed: Counter[str], **how: Any) -> ReadRecord:
    try:
        return read_record(record, **how)
    except InputError as error:
        failed[str(error)] += 1
    except ValidationError as error:
        failed[f"not a run ({error.error_count()} fields)"] += 1
    return ReadRecord()


def _refuse_doubles(runs: Sequence[LoggedRun]) -> None:
    counts = Counter(run.trajectory.question.id for run in runs)
    twice = next((identity for identity, count in counts.items() if count > 1), None)
    if twice is not None:
        raise StoreError(
            f"two runs have the id {twice}; give each its own id, or a trial (run k of question X "
            "is X#k)"
        )


def _refuse_conflicts(
    runs: Sequence[LoggedRun], held: Collection[str], store: str | PathLike[str]
) -> None:
    """Refuse runs whose ids the store holds for others: skipping them would lose them."""
    read = {
        run.trajectory.question.id: run.trajectory
        for run in runs
        if run.trajectory.question.id in held
    }
    if not read:
        return
    others = [
        known.question.id
        for known in read_trajectories(store)
        if known.question.id in read and _ran(known) != _ran(read[known.question.id])
    ]
    if others:
        raise StoreError(
            f"{store} holds other runs under {len(others)} of these ids, such as {others[0]}; "
            "nothing was imported. Import into another store, or give the runs ids or trials of "
            "their own"
        )


def _ran(run: Trajectory) -> tuple[Any, ...]:
    """Return what a log says of a run; what was found out about it later, as probes, is none."""
    steps = [
        (step.action, step.thought, step.sql, step.observation.model_copy(update={"probes": None}))
        for step in run.steps
    ]
    return run.question.text, steps, run.outcome.kind, run.outcome.final_sql
