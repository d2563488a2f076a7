"""Imports the logs of other agents into a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sentinel_sql.arguments import checked
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
    """The result of an import.

    Attributes:
        store: folder of the runs.
        imported: runs added.
        already_there: runs that the store held before.
        endings: rule of `ENDINGS` → number of read runs that ended by it.
        failed: reason → number of runs, or of records without a run, that were left out.
        notes: what a log left open and how it was decided → number of times.
        unread: kind of item that is part of no step → number of items.
    """

    store: Path
    imported: int
    already_there: int
    endings: Mapping[str, int]
    failed: Mapping[str, int]
    notes: Mapping[str, int]
    unread: Mapping[str, int]


@checked
def import_runs(
    files: Sequence[str | PathLike[str]] | str | PathLike[str],
    *,
    store: str | PathLike[str],
    format: str = AUTO,  # noqa: A002 (the word of the command line)
    model: str | None = None,
    tools: Tools | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportSummary:
    """Add the runs of log files to a store. All files are read before anything is written.

    Args:
        files: the logs of one agent, plain or gzip; or a single file.
        store: the store's folder; made if absent.
        format: a name of `FORMS`, or `auto`.
        model: the model, if the logs don't name it; by default the file's name without extensions.
        tools: the tools that run SQL and those that end a run; None for the common names.
        on_progress: called with (runs written or skipped, all runs).

    Raises:
        InputError: there is no such format, or a file can't be read.
        StoreError: the files are of several agents, no record holds a run, two runs have the same
            id, the store holds another run under an id, or the runs can't be added to it.
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
        read = _read_or_count(
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
        raise StoreError(f"{names}: the file holds no run{why}; check the file and --format")
    agents = {run.trajectory.agent.fingerprint: run.trajectory.agent for run in runs}
    if len(agents) > 1:
        raise StoreError(
            f"the files hold runs of {len(agents)} agents ({'; '.join(sorted(agents))}); import "
            "each agent's files into its own store, or give their one model with --model"
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
    """Return the questions with gold SQL in the logs, as rows of an own question file.

    Raises:
        InputError: there is no such format, a file can't be read, or one id has two gold queries.
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
    """Return the form of an agent's logs; all records are needed, since some show no form."""
    items: list[Any] = []
    for record in records:
        with suppress(InputError):
            items.extend(items_of(record))
    return form_of(items)


def _read_or_count(record: Any, failed: Counter[str], **how: Any) -> ReadRecord:
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
            f"two runs have the id {twice}; give each its own id, or a trial number (run k of "
            "question X is X#k)"
        )


def _refuse_conflicts(
    runs: Sequence[LoggedRun], held: Collection[str], store: str | PathLike[str]
) -> None:
    """Refuse runs whose ids belong to other runs of the store; they must not be skipped."""
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
        if known.question.id in read
        and _logged_content(known) != _logged_content(read[known.question.id])
    ]
    if others:
        raise StoreError(
            f"{store} holds other runs under {len(others)} of these ids, such as {others[0]}; "
            "nothing was imported. Import into another store, or give the runs their own ids or "
            "trial numbers"
        )


def _logged_content(run: Trajectory) -> tuple[Any, ...]:
    """Return the content of a run as a log holds it, without later additions such as probes."""
    steps = [
        (step.action, step.thought, step.sql, step.observation.model_copy(update={"probes": None}))
        for step in run.steps
    ]
    return run.question.text, steps, run.outcome.kind, run.outcome.final_sql
