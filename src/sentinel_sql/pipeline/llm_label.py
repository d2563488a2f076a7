"""Labels recorded runs with a language model as judge: first the cost, then the verdicts.

There are two calls, so that the user can agree in between. `prepare` executes all queries and calls
no model; `label_by_model` calls the model for the cases without a stored verdict.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sentinel_sql.agent.model import ChatModel, Message
from sentinel_sql.database.executor import Database
from sentinel_sql.errors import InputError
from sentinel_sql.labels.case import ROWS_SHOWN, Case
from sentinel_sql.labels.llm_judge import (
    PROMPT_SHA256,
    TRIES,
    JudgeReply,
    ModelVerdict,
    Turn,
    judge_by_model,
    turns_of,
)
from sentinel_sql.labels.record import UNJUDGED, Label
from sentinel_sql.labels.rules import Answer
from sentinel_sql.labels.verdicts import StoredVerdict, VerdictLog
from sentinel_sql.pipeline.ask_many import ask_many
from sentinel_sql.pipeline.label import Labelling, compare_runs
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.record import Trajectory

CHARACTERS_PER_TOKEN = 3.5
"""For the estimate only (our choice): prose has about 4, SQL and identifiers fewer."""

LONGEST_REPLY = 8
"""Most tokens of a reply (our choice): enough for a digit and marks around it."""

TOKENS_PER_REPLY = 4
"""For the estimate only: a digit and the tokens that a chat adds."""


@dataclass(frozen=True, kw_only=True)
class PreparedCases:
    """Labels before the model's verdicts, and the cases to ask it about.

    Attributes:
        labelling: answers that the model will judge have `correct` None and reason `unjudged`.
        cases: one case for each of these answers, in the order of execution.
    """

    labelling: Labelling
    cases: tuple[Case, ...]

    def pending(self, log: VerdictLog, model: str) -> list[Case]:
        """Return the cases without a stored verdict of this model by this prompt."""
        found = (
            (case, log.find(case, model=model, prompt_sha256=PROMPT_SHA256)) for case in self.cases
        )
        return [case for case, verdict in found if verdict is None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """The estimated cost of asking a model about some cases.

    Attributes:
        calls: one call for each case.
        prompt_tokens: estimated tokens read, at one call for each case.
        completion_tokens: estimated tokens written.
        price: price of these calls in the currency of the given price, or None.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    price: float | None

    @property
    def most_calls(self) -> int:
        """Most calls: a reply that is no digit is asked for again, up to `TRIES` times."""
        return self.calls * TRIES


def estimate(cases: Sequence[Case], *, price: float | None = None) -> Cost:
    """Estimate the cost of cases; `price` is that of a million tokens, read or written."""
    characters = sum(len(text) for case in cases for _, text in turns_of(case))
    read, written = round(characters / CHARACTERS_PER_TOKEN), TOKENS_PER_REPLY * len(cases)
    return Cost(
        calls=len(cases),
        prompt_tokens=read,
        completion_tokens=written,
        price=None if price is None else (read + written) * price / 1e6,
    )


def prepare(
    trajectories: Iterable[Trajectory],
    questions: Sequence[Question],
    database: Database,
    mode: str,
    *,
    rows: int = ROWS_SHOWN,
    on_progress: Callable[[int, int], None] | None = None,
) -> PreparedCases:
    """Execute gold SQL and answers, and return the cases for a model. Calls no model.

    Args:
        trajectories: runs with distinct question ids.
        questions: the questions of all runs.
        database: the database of the runs, with the same clock.
        mode: equivalence mode of the strict comparison.
        rows: most rows of each result in a case; 0 for only their number.
        on_progress: called with (runs done, all runs).

    Raises:
        LabelsError: as in `label_runs`.
        InputError: there is no such mode.
    """
    cases: list[Case] = []

    def collect_case(
        run_id: str, question: str, gold: Answer, answer: Answer
    ) -> tuple[bool | None, str]:
        if gold.result.truncated or answer.result.truncated:
            # The strict comparison found a difference, and no judge can see all rows.
            return False, "rows-differ"
        cases.append(Case.of(run_id, question, gold, answer, rows=rows))
        return None, UNJUDGED

    labelling = compare_runs(
        trajectories, questions, database, "llm", mode, collect_case, on_progress=on_progress
    )
    return PreparedCases(labelling=labelling, cases=tuple(cases))


@dataclass(frozen=True, kw_only=True)
class ModelLabelling:
    """The result of labelling by a model.

    Attributes:
        labelling: every answer with its verdict, or `unjudged`.
        asked: cases sent to the model by this call.
        found: cases with a stored verdict.
        failed: reason → cases that failed; they stay unjudged, and the next call asks again.
        calls, prompt_tokens, completion_tokens: of this call, as reported by the endpoint.
    """

    labelling: Labelling
    asked: int
    found: int
    failed: Mapping[str, int]
    calls: int
    prompt_tokens: int
    completion_tokens: int

    def to_json(self) -> dict[str, Any]:
        """Return the counts of labels, cases, calls and tokens."""
        return {
            **self.labelling.to_json(),
            "asked": self.asked,
            "found": self.found,
            "failed": dict(self.failed),
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
        }


def label_by_model(
    prepared: PreparedCases,
    model: ChatModel,
    log: VerdictLog,
    *,
    workers: int = 4,
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> ModelLabelling:
    """Ask the model about every case without a stored verdict, and label the runs.

    Each verdict is written to the disk before it is counted, so the end of the process loses only
    the running calls.

    Args:
        prepared: the result of `prepare`.
        model: a model at temperature 0; shared by the workers.
        log: the log of verdicts.
        workers: calls at the same time, ≥ 1.
        on_progress: called with (cases done, all cases to ask).

    Raises:
        InputError: the model's temperature isn't 0.
        EndpointError: the endpoint is unusable, or calls keep failing. Verdicts so far are kept.
        LabelsError: a verdict can't be written.
    """
    if model.temperature not in (0, None):
        raise InputError(
            f"the judge {model.name!r} samples at temperature {model.temperature:g}, so the same "
            "case could get another verdict: set it to 0"
        )
    pending = prepared.pending(log, model.name)
    judge = _Judge(model)
    made: list[ModelVerdict] = []

    def ask(case: Case, _: threading.Event) -> Iterator[tuple[Case, ModelVerdict]]:
        yield case, judge_by_model(case, judge)

    def keep(result: tuple[Case, ModelVerdict]) -> None:
        case, verdict = result
        log.add(
            StoredVerdict(
                question_id=case.run_id,
                case_sha256=case.sha256,
                model=model.name,
                prompt_sha256=PROMPT_SHA256,
                correct=verdict.correct,
                tries=verdict.tries,
                prompt_tokens=verdict.prompt_tokens,
                completion_tokens=verdict.completion_tokens,
            )
        )
        made.append(verdict)

    tally = ask_many(
        pending,
        ask,
        keep,
        workers=workers,
        what="verdicts",
        place=log.path,
        on_progress=lambda so_far: on_progress(so_far.done + so_far.failed, len(pending)),
    )
    if tally.interrupted:
        raise KeyboardInterrupt
    return ModelLabelling(
        labelling=_add_verdicts(prepared, log, model.name),
        asked=len(pending),
        found=len(prepared.cases) - len(pending),
        failed=tally.failures,
        calls=sum(verdict.tries for verdict in made),
        prompt_tokens=sum(verdict.prompt_tokens for verdict in made),
        completion_tokens=sum(verdict.completion_tokens for verdict in made),
    )


def _add_verdicts(prepared: PreparedCases, log: VerdictLog, model: str) -> Labelling:
    cases = {case.run_id: case for case in prepared.cases}

    def with_verdict(label: Label) -> Label:
        case = cases.get(label.question_id)
        if case is None:
            return label
        verdict = log.find(case, model=model, prompt_sha256=PROMPT_SHA256)
        correct = None if verdict is None else verdict.correct
        reason = {True: "judged-correct", False: "judged-wrong", None: UNJUDGED}[correct]
        return label.model_copy(
            update={
                "correct": correct,
                "reason": reason,
                "model": model,
                "prompt_sha256": PROMPT_SHA256,
            }
        )

    labelling = prepared.labelling
    return replace(
        labelling,
        header=replace(labelling.header, model=model, prompt_sha256=PROMPT_SHA256),
        labels=tuple(with_verdict(label) for label in labelling.labels),
    )


@dataclass(frozen=True)
class _Judge:
    """Adapts a chat model to the judge of the labels room."""

    model: ChatModel

    @property
    def name(self) -> str:
        return self.model.name

    def reply(self, turns: Sequence[Turn]) -> JudgeReply:
        messages: list[Message] = [{"role": role, "content": text} for role, text in turns]
        reply = self.model.complete(messages)
        return JudgeReply(
            text=reply.text,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
        )
