"""Exports an audit: draws the cases, executes them again and writes a sheet for each rater."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sentinel_sql.database.equivalence import Equivalence
from sentinel_sql.database.executor import Database
from sentinel_sql.errors import LabelsError
from sentinel_sql.labels.audit import KEY, AuditKey, draw, sheet
from sentinel_sql.labels.case import Case
from sentinel_sql.labels.gold_answer import gold_readings
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.labels.rules import Answer
from sentinel_sql.labels.strict import mode_named
from sentinel_sql.questions.record import Question, question_id_of
from sentinel_sql.storage.whole_file import write_whole
from sentinel_sql.trajectory.record import Trajectory


@dataclass(frozen=True, kw_only=True)
class AuditExport:
    """The files of an export: the key, and one sheet for each rater."""

    key: AuditKey
    key_file: Path
    sheets: tuple[Path, ...]


def export_audit(
    trajectories: Iterable[Trajectory],
    questions: Sequence[Question],
    database: Database,
    labels: tuple[LabelsHeader, Mapping[str, Label]],
    *,
    folder: Path,
    size: int = 100,
    raters: int = 2,
    seed: int = 42,
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> AuditExport:
    """Draw a blinded sample of judged verdicts and write `key.json` and `rater-1.csv`, ….

    Args:
        trajectories: the labelled runs.
        questions: questions of these runs.
        database: the database of the labels, at the same clock.
        labels: header and labels by run id.
        folder: made if absent; files 0600.
        size: cases to draw; all cases if there are fewer.
        raters: number of sheets, ≥ 1.
        seed: seed of the sample and of each sheet's order.
        on_progress: called with (cases executed, all cases).

    Raises:
        LabelsError: there is nothing to audit, labels don't fit the runs, the folder holds an
            audit already, or it can't be written.
    """
    header, by_run = labels
    if header.clock != database.clock:
        raise LabelsError(
            f"the labels were made at the clock {header.clock}, but the database's is "
            f"{database.clock}: give --clock '{header.clock}'"
        )
    if header.schema.tables and header.schema.sha256 != database.schema.sha256:
        raise LabelsError(
            f"the labels were made over a database of another schema than {database.name}'s: give "
            "their database with --database"
        )
    key = draw(header, by_run, size=size, seed=seed)
    files = [folder / KEY, *(folder / f"rater-{number}.csv" for number in range(1, raters + 1))]
    existing = next((file for file in files if os.path.lexists(file)), None)
    if existing is not None:
        raise LabelsError(
            f"{existing} exists already and may hold a rater's work: give another --out"
        )
    cases = _cases(key, trajectories, questions, database, on_progress)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number, file in enumerate(files[1:], 1):
            write_whole(file, sheet(key, cases, rater=number))
        write_whole(files[0], key.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise LabelsError(
            f"{folder} can't be written ({error.strerror}): name another --out"
        ) from error
    return AuditExport(key=key, key_file=files[0], sheets=tuple(files[1:]))


def _cases(
    key: AuditKey,
    trajectories: Iterable[Trajectory],
    questions: Sequence[Question],
    database: Database,
    on_progress: Callable[[int, int], None],
) -> Mapping[str, Case]:
    mode = mode_named(key.mode)
    by_id = {question.id: question for question in questions}
    drawn = {case.question_id for case in key.cases}
    cases: dict[str, Case] = {}
    for run in trajectories:
        run_id = run.question.id
        if run_id not in drawn:
            continue
        question = by_id.get(question_id_of(run_id, by_id) or "")
        final_sql = run.outcome.final_sql
        gold = None if question is None else _gold(question, database, mode)
        if question is None or gold is None or final_sql is None:
            raise LabelsError(
                f"run {run_id!r} is labelled as an answer to an answerable question, but these "
                "runs or question files say otherwise: give the labelled ones"
            )
        answer = _executed(final_sql, database, mode)
        cases[run_id] = Case.of(run_id, question.text, gold, answer)
        on_progress(len(cases), len(drawn))
    missing = next((name for name in sorted(drawn) if name not in cases), None)
    if missing is not None:
        raise LabelsError(
            f"the store holds no run {missing!r}, which is labelled: give the store of the labels"
        )
    return cases


def _gold(question: Question, database: Database, mode: Equivalence) -> Answer | None:
    """Return the result of the gold SQL, or else the gold answer; None without either."""
    if question.gold_sql is not None:
        return _executed(question.gold_sql, database, mode)
    readings = gold_readings(question.gold_answer or "", question.text)
    return readings[0] if readings and question.answerable else None


def _executed(sql: str, database: Database, mode: Equivalence) -> Answer:
    result = database.execute(mode.postprocess(sql))
    return Answer(sql=sql, result=result, dialect=database.dialect)
