"""Recorded runs over the hospital through a live guard, with the truth told at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from rich.console import Console
from rich.text import Text

from sentinel_sql.cli.watch import PACE, answer_json, follow, rules_json, screen, unseen
from sentinel_sql.database.sqlite import SqliteDatabase
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
class Recorded:
    """A demo's runs with all that is known of them, and a guard over its monitor."""

    guard: Guard
    database: SqliteDatabase
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
            SentinelError: a part of it is missing or damaged.
        """
        with SqliteDatabase.open(made.hospital.database, clock=CLOCK) as database:
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
            StoreError: there is none.
        """
        for name, run in sorted(self.runs.items()):
            if len(run.steps) > 1 and self.pools.pool_of(name) == "heldout":
                return name
        raise StoreError("no held-out run of several steps is recorded: name a run by its id")

    def replay(
        self, name: str, *, console: Console | None, pace: float | None = None
    ) -> dict[str, Any]:
        """Guard a recorded run as if it happened now, and return what happened.

        Args:
            name: the run's id.
            console: where to show it, or None.
            pace: seconds a step on a terminal; None for the usual ones.

        Raises:
            StoreError: no such run.
        """
        run = self.runs.get(name)
        if run is None:
            raise StoreError(
                f"no run {name!r} is recorded: ids stand in the question file, such as "
                f"{next(iter(self.runs), '-')}"
            )
        pool = self.pools.pool_of(name)
        if console is not None:
            console.print(Text(run.question.text, style="bold"))
            if pool != "heldout":
                console.print(Text(f"(of the {pool} pool: the monitor knows it)", style="yellow"))
        seen = unseen() if console is None else screen(console, pace=PACE if pace is None else pace)
        with self.guard.session(run.question) as session, seen as show:
            answer, states = follow(session, run.steps, show)
        question = self.questions[question_id_of(name, self.questions) or name]
        known = truth(run, question, self.labels.get(name), self.database)
        if console is not None:
            console.print(told(known))
        return {
            "question": {"id": name, "text": run.question.text},
            "pool": pool,
            **rules_json(self.guard),
            "states": [state.to_json() for state in states],
            "answer": answer_json(answer),
            "steps_saved": len(run.steps) - answer.t,
            "truth": known,
        }


def told(known: Mapping[str, Any]) -> Text:
    """Say what the agent alone would have given, and what is right."""
    outcome, correct = known["outcome"], known["correct"]
    if outcome != "answered":
        ended = "abstained" if outcome == "abstained" else "run into its step cap"
        alone = f"The agent alone would have {ended}."
    else:
        judged = "rightly" if correct else "wrongly" if correct is False else "(not judged)"
        alone = f"The agent alone would have answered {judged}: {known['given']}"
    right = (
        f"Right is: {known['gold']}"
        if known["answerable"]
        else "Right is no answer: this database doesn't hold it."
    )
    return Text(f"{alone}\n{right}", style="cyan")
