"""The labelled runs of the bundled recordings, judged anew over a freshly built hospital."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sentinel_sql.database.opening import open_database
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.hospital.recordings import bundled
from sentinel_sql.hospital.schema import CLOCK, DATABASE
from sentinel_sql.pipeline.demo import JUDGE, MODE, SEED
from sentinel_sql.pipeline.label import label_runs
from sentinel_sql.pipeline.learning.fit_general import AgentRuns
from sentinel_sql.questions.pools import make_pools
from sentinel_sql.questions.read import read_questions
from sentinel_sql.trajectory.store import read_trajectories


def read_bundled_runs() -> dict[str, AgentRuns]:
    """Return the labelled runs of every bundled recording, by its name."""
    with tempfile.TemporaryDirectory() as scratch:
        hospital = HospitalFolder.write(Path(scratch), seed=SEED)
        questions = read_questions([hospital.questions])
        pools = make_pools(questions, seed=SEED)
        made = {}
        with open_database(str(hospital.database), name=DATABASE, clock=CLOCK) as opened:
            for name, path in bundled().items():
                runs = list(read_trajectories(path))
                found = label_runs(runs, questions, opened, JUDGE, MODE)
                labels = {label.question_id: label for label in found.labels}
                made[name] = AgentRuns(runs=runs, labels=labels, header=found.header, pools=pools)
    return made
