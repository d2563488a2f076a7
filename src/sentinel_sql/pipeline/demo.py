"""Builds the demo: a hospital, recorded runs over its benchmark, and a fitted monitor."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from sentinel_sql.address import shown_address, without_password
from sentinel_sql.database.coverage.cover import open_grounder
from sentinel_sql.database.executor import Database, summarize
from sentinel_sql.database.opening import open_database
from sentinel_sql.decision.policy import KINDS, REASONS, Policy
from sentinel_sql.errors import CannotFitError, InputError
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.hospital.copies.copy import dialect_of_address
from sentinel_sql.hospital.copies.files import CopiedHospital
from sentinel_sql.hospital.copies.recorded_sql import in_other_sql
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.hospital.recordings import ENDING as RECORDINGS
from sentinel_sql.hospital.schema import CLOCK, DATABASE
from sentinel_sql.labels.file import read_labels, write_labels
from sentinel_sql.labels.record import JudgeName, Label
from sentinel_sql.monitor.bundle import load, save
from sentinel_sql.monitor.prefix_scores import Bools, PrefixScores
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.label import label_runs
from sentinel_sql.pipeline.probe import with_coverage
from sentinel_sql.questions.pools import Pools, make_pools
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question
from sentinel_sql.storage.whole_file import write_whole
from sentinel_sql.trajectory.codec import encode
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import read_trajectories

JUDGE: JudgeName = "rules"
MODE = "sentinel-1"
"""The mode for our own questions, whose SQL is executed unchanged."""
SEED = 42
STAMP = "demo.json"

_BY_A_CHECK = ("unanswerable", "below-bar")
"""Reasons to withhold an answer; every other reason means that the run gave none."""

OnStage = Callable[[str], None]
"""Called with (a sentence that says which stage begins)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoFolder:
    """The paths of a demo's parts, which need not exist.

    Attributes:
        hospital: database, questions, notes and examples.
        runs: the recorded runs: a copy of a recordings file, or the path of the store.
        confidences: the agent's own model's confidences in its answers.
        pools, labels, monitor: made from the runs.
        stamp: marks the folder as a demo's. When the demo is complete, it holds the path of the
            runs and the version.
        address: the database that answers are taken from: the hospital's file, or its copy.
        questions: the benchmark in the SQL of this database.
    """

    hospital: HospitalFolder
    runs: Path
    confidences: Path
    pools: Path
    labels: Path
    monitor: Path
    stamp: Path
    address: str
    questions: Path

    @classmethod
    def at(cls, folder: Path, runs: Path, address: str | None = None) -> Self:
        """Return the paths of a demo in this folder; `address` is that of the hospital's copy."""
        hospital = HospitalFolder.at(folder)
        if address is None:
            questions = hospital.questions
        else:
            questions = CopiedHospital.at(folder, dialect_of_address(address)).questions
        return cls(
            hospital=hospital,
            address=str(hospital.database) if address is None else address,
            questions=questions,
            runs=runs if runs.is_dir() else folder / f"runs{RECORDINGS}",
            confidences=folder / "confidences",
            pools=folder / "pools.json",
            labels=folder / "labels.jsonl",
            monitor=folder / "monitor",
            stamp=folder / STAMP,
        )


def find_demo(folder: Path) -> DemoFolder | None:
    """Return the demo in a folder, or None if this version completed none there."""
    try:
        stamp = json.loads((folder / STAMP).read_bytes())
        runs = Path(stamp["runs"])
        made_by_us = stamp["version"] == version("sentinel-sql")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not made_by_us or not runs.exists():
        return None
    return DemoFolder.at(folder, runs, stamp.get("database"))


def build(
    folder: Path,
    *,
    runs: Path,
    confidences: Path | None = None,
    database: str | None = None,
    on_stage: OnStage,
) -> DemoFolder:
    """Build the hospital, label the runs over it, and fit a monitor on them.

    With a `database`, the hospital is copied into it. What the agents saw stays as it was recorded
    over SQLite; their SQL is translated where that is possible, and every answer and gold query is
    executed over the copy.

    Args:
        folder: made if absent; parts of an older demo are replaced.
        runs: runs of one agent over the default benchmark.
        confidences: folder of the agent's own model's confidences in these answers, or None.
        database: address of the database to copy the hospital into, or None.
        on_stage: called at the start of each stage.

    Raises:
        StoreError: the runs are missing or damaged.
        InputError: the path is no folder, or it holds files that no demo made.
        LabelsError: the runs are of other questions than the benchmark's.
        CannotFitError: there are too few runs of a kind.
        DatabaseError: the folder or the database can't be written.
    """
    demo = DemoFolder.at(folder, runs, database)
    if database is not None and runs.is_dir():
        raise InputError(
            "a demo over another database needs a recordings file, whose SQL it translates: leave "
            "out --runs or --database"
        )
    ours = _require_ours(demo, confidences=confidences is not None)
    recorded = list(read_trajectories(runs))
    on_stage("building a hospital of 100 patients, and 1,000 questions over it")
    if demo.stamp.exists():  # until the new demo is complete, mark the folder as incomplete
        _mark(demo, confidences=ours)
    made_hospital = HospitalFolder.write(folder, seed=SEED)
    if database is not None:
        on_stage(f"copying the hospital into {shown_address(database)}")
        dialect = CopiedHospital.write(made_hospital, database).dialect
        recorded, kept = in_other_sql(recorded, dialect)
        on_stage(
            f"translating the recorded SQL into {dialect}'s: {kept:,} queries can't be, and stay "
            "SQLite's; what the agents saw stays as recorded"
        )
    _mark(demo, confidences=ours or confidences is not None)
    if demo.runs != runs:
        on_stage("looking the questions' words up in the database")
        recorded = _covered(recorded, demo.address)
        write_whole(demo.runs, gzip.compress(b"".join(map(encode, recorded)), mtime=0))
    if ours:
        shutil.rmtree(demo.confidences, ignore_errors=True)
    if confidences is not None:
        shutil.copytree(confidences, demo.confidences)
        for file in demo.confidences.iterdir():
            file.chmod(0o600)
    questions = read_questions([demo.questions])
    pools = make_pools(questions, seed=SEED)
    pools.write(demo.pools)
    on_stage(f"judging {len(recorded):,} recorded runs: gold and answer are both executed")
    with open_database(demo.address, name=DATABASE, clock=CLOCK) as opened:
        made = label_runs(recorded, questions, opened, JUDGE, MODE)
    write_labels(demo.labels, made.header, made.labels)
    labels = {label.question_id: label for label in made.labels}
    on_stage("fitting the monitor: heads on the train pool, thresholds on the calibration pool")
    try:
        monitor = fit(recorded, pools, labels, made.header, seed=SEED)
    except CannotFitError as error:
        raise CannotFitError(
            f"{runs} holds only {len(recorded)} runs, so no monitor was made ({error}); hospital, "
            f"questions, pools and labels are in {folder}"
        ) from error
    save(monitor, demo.monitor)
    _mark(
        demo,
        confidences=confidences is not None,
        version=version("sentinel-sql"),
        runs=str(demo.runs.absolute()),
        **({} if database is None else {"database": without_password(database)}),
    )
    return demo


def _covered(runs: list[Trajectory], address: str) -> list[Trajectory]:
    """Return runs with a coverage record of each question, which the recordings lack."""
    with (
        open_database(address, name=DATABASE, clock=CLOCK) as opened,
        closing(open_grounder(opened)) as grounder,
    ):
        return [
            run.model_copy(update={"question": with_coverage(run.question, grounder)})
            for run in runs
        ]


def _require_ours(demo: DemoFolder, *, confidences: bool) -> bool:
    """Refuse a folder with files that a demo would replace, but that no demo made.

    Returns:
        Whether the confidences there were made by a demo. Those that the user collected take
        hours of work and are never removed.
    """
    folder = demo.hospital.folder
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is no folder: name another one for the demo")
    if not demo.stamp.exists():
        for part in (demo.pools, demo.labels, demo.monitor, demo.confidences, demo.runs):
            if part.parent == folder and part.exists():
                raise InputError(
                    f"{part} exists already and wasn't made by a demo, because {STAMP} isn't "
                    "there: give another folder for the demo"
                )
    try:
        ours = bool(json.loads(demo.stamp.read_bytes()).get("confidences", True))
    except (OSError, ValueError, AttributeError):
        ours = not demo.confidences.exists()
    if confidences and not ours and demo.confidences.exists():
        raise InputError(
            f"{demo.confidences} exists already and wasn't made by a demo: move it elsewhere, or "
            "give another folder for the demo"
        )
    return ours


def _mark(demo: DemoFolder, **facts: str | bool) -> None:
    try:
        demo.stamp.parent.mkdir(parents=True, exist_ok=True)
        write_whole(demo.stamp, json.dumps(facts) + "\n")
    except OSError as error:
        raise InputError(
            f"{demo.stamp} can't be written ({error.strerror}): name another folder"
        ) from error


def evaluate_demo(demo: DemoFolder) -> Evaluation:
    """Replay every system over the held-out runs; this spends the held-out pool.

    Raises:
        StoreError: there is no held-out run.
    """
    header, labels = read_labels(demo.labels)
    return evaluate(
        load(demo.monitor),
        read_trajectories(demo.runs),
        Pools.read(demo.pools),
        labels,
        schema=header.schema,
        bundle=demo.monitor,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EndingExample:
    """One kind of ending on the held-out pool, with its best example.

    Attributes:
        cases: number of runs that end like this.
        right: number of these where the decision was right: a correct answer was delivered, or
            a stop cost no correct answer.
        chosen: id of the example, or None if no run ends like this.
    """

    cases: int
    right: int
    chosen: str | None


def endings(scores: PrefixScores, policy: Policy) -> Mapping[str, EndingExample]:
    """Choose a run for each kind of ending: `refused`, `stopped` and `delivered`.

    `stopped` is an exit or a withheld answer, but not the agent's own abstention or cap. Our order
    of choice: runs where the decision was right, then runs with an answer, then clean answers
    (executed and not empty), then the longest runs, then the first id. The examples are therefore
    clear, not typical; `cases` and `right` show what is typical.
    """
    verdicts = policy.replay(scores)
    kinds = np.array(KINDS)[verdicts.kinds]
    reasons = np.array(REASONS)[verdicts.reasons]
    withheld = (kinds == "withhold") & np.isin(reasons, _BY_A_CHECK)
    return {
        "refused": _ending_example(scores, kinds == "refuse", ~scores.correct),
        "stopped": _ending_example(scores, (kinds == "exit") | withheld, ~scores.correct),
        "delivered": _ending_example(scores, verdicts.delivered, scores.correct),
    }


def without_answer(scores: PrefixScores, policy: Policy) -> int:
    """Count the runs outside all `endings`: no check stopped them, and they gave no answer."""
    verdicts = policy.replay(scores)
    kinds = np.array(KINDS)[verdicts.kinds]
    reasons = np.array(REASONS)[verdicts.reasons]
    return int(((kinds == "withhold") & ~np.isin(reasons, _BY_A_CHECK)).sum())


def _ending_example(scores: PrefixScores, which: Bools, right: Bools) -> EndingExample:
    best = min(
        np.flatnonzero(which).tolist(),
        key=lambda i: (
            not right[i],
            not scores.answered[i],
            not scores.clean[i],
            -int(scores.steps[i]),
            scores.question_ids[i],
        ),
        default=None,
    )
    return EndingExample(
        cases=int(which.sum()),
        right=int((which & right).sum()),
        chosen=None if best is None else scores.question_ids[best],
    )


def truth(
    run: Trajectory, question: Question, label: Label | None, database: Database
) -> dict[str, Any]:
    """Return the right answer to a recorded run's question, and the agent's own answer.

    Keys: `answerable`, `outcome`, `correct` (None without an answer or a verdict), and `gold` and
    `given`: both results, each in one line, or None.
    """
    final = run.outcome.final_sql
    return {
        "answerable": question.answerable,
        "outcome": run.outcome.kind,
        "correct": label.correct if label else None,
        "gold": summarize(database.execute(question.gold_sql)) if question.gold_sql else None,
        "given": summarize(database.execute(final)) if final else None,
    }
