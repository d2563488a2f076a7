"""Replays recorded runs over the hospital through a live guard, and shows the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from rich.console import Console
from rich.text import Text

from sentinel_sql.cli.watch import PACE, answer_json, follow, no_screen, rules_json, screen
from sentinel_sql.database.executor import Database
from sentinel_sql.database.opening import open_database
from sentinel_sql.decision.guard import Guard
from sentinel_sql.errors import StoreError
from sentinel_sql.hospital.schema import CLOCK
from sentinel_sql.labels.file import read_labels
from sentinel_sql.labels.record import Label
from sentinel_sql.pipeline.demo import DemoFolder, truth
from sentinel_sql.questions.pools import Pools
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question, question_id_of
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import read_trajectories


@dataclass(frozen=True, kw_only=True)
class RecordedRuns:
    """The runs of a demo with their questions, labels and pools, and a guard with its monitor."""

    guard: Guard
    database: Database
    runs: Mapping[str, Trajectory]
    questions: Mapping[str, Question]
    labels: Mapping[str, Label]
    pools: Pools

    @classmethod
    @contextmanager
    def open(
        cls, made: DemoFolder, *, stakes: float, early_stop: bool, gate: bool = True
    ) -> Iterator[Self]:
        """Read a demo's folder.

        Raises:
            SentinelError: a part of the folder is missing or damaged.
        """
        with open_database(made.hospital.database, clock=CLOCK) as database:
            yield cls(
                guard=Guard.load(
                    made.monitor,
                    stakes=stakes,
                    gate=gate,
                    early_stop=early_stop,
                    schema=database.schema,
                    clock=database.clock,
                ),
                database=database,
                runs={run.question.id: run for run in read_trajectories(made.runs)},
                questions={q.id: q for q in read_questions([made.hospital.questions])},
                labels=read_labels(made.labels)[1],
                pools=Pools.read(made.pools),
            )

    def first(self) -> str:
        """Return the id of the first held-out run that takes more than one step.

        Raises:
            StoreError: there is no such run.
        """
        for name, run in sorted(self.runs.items()):
            if len(run.steps) > 1 and self.pools.pool_of(name) == "heldout":
                return name
        raise StoreError("no held-out run of several steps is recorded: name a run by its id")

    def replay(
        self, name: str, *, console: Console | None, pace: float | None = None
    ) -> dict[str, Any]:
        """Replay a recorded run under guard, and return its states and answer.

        Args:
            name: id of the run.
            console: where to show it, or None.
            pace: seconds for each step on a terminal; None for `PACE`.

        Raises:
            StoreError: there is no such run.
        """
        run = self.runs.get(name)
        if run is None:
            raise StoreError(
                f"no run {name!r} is recorded: the question file lists the ids, such as "
                f"{next(iter(self.runs), '-')}"
            )
        pool = self.pools.pool_of(name)
        if console is not None:
            console.print(Text(run.question.text, style="bold"))
            if pool != "heldout":
                console.print(
                    Text(f"(of the {pool} pool: the monitor was fitted on it)", style="yellow")
                )
        seen = (
            no_screen() if console is None else screen(console, pace=PACE if pace is None else pace)
        )
        with self.guard.session(run.question) as session, seen as show:
            answer, states = follow(session, run.steps, show)
        question = self.questions[question_id_of(name, self.questions) or name]
        known = truth(run, question, self.labels.get(name), self.database)
        if console is not None:
            console.print(truth_text(known))
        return {
            "question": {"id": name, "text": run.question.text},
            "pool": pool,
            **rules_json(self.guard),
            "states": [state.to_json() for state in states],
            "answer": answer_json(answer),
            "steps_saved": len(run.steps) - answer.t,
            "truth": known,
        }


def truth_text(known: Mapping[str, Any]) -> Text:
    """Return what the agent alone would have answered, and the right answer."""
    outcome, correct = known["outcome"], known["correct"]
    if outcome != "answered":
        ended = "abstained" if outcome == "abstained" else "run into its step cap"
        alone = f"The agent alone would have {ended}."
    else:
        judged = "rightly" if correct else "wrongly" if correct is False else "(not judged)"
        alone = f"The agent alone would have answered {judged}: {known['given']}"
    right = (
        f"The right answer is: {known['gold']}"
        if known["answerable"]
        else "There is no right answer: the question is unanswerable over this database."
    )
    return Text(f"{alone}\n{right}", style="cyan")
