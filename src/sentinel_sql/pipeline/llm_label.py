"""Labels recorded runs with a language model as judge: what it would cost first, then verdicts.

Two calls, so that nobody is asked before somebody said yes: `prepare` executes everything and
asks nothing; `label_by_model` asks what no earlier run has asked.
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
"""For the estimate alone; ours: SQL and identifiers take more tokens than prose (about 4)."""

LONGEST_REPLY = 8
"""Tokens of a reply; ours: room for a digit and marks around it, none for an essay."""

TOKENS_PER_REPLY = 4
"""For the estimate alone: a digit, and what a chat puts around it."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Everything but the model's word: labels as far as they stand, and the cases to ask about.

    Attributes:
        labelling: answers that the model is to judge have `correct` None, reason `unjudged`.
        cases: these answers, one case each, in the order in which they were executed.
    """

    labelling: Labelling
    cases: tuple[Case, ...]

    def pending(self, log: VerdictLog, model: str) -> list[Case]:
        """Return the cases that this model wasn't asked about yet, by this prompt."""
        found = (
            (case, log.find(case, model=model, prompt_sha256=PROMPT_SHA256)) for case in self.cases
        )
        return [case for case, verdict in found if verdict is None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What asking about some cases takes, estimated before it starts.

    Attributes:
        calls: one a case; a reply that is no digit is asked again, `TRIES` calls at most.
        prompt_tokens: about how many are read, at one call a case.
        completion_tokens: about how many are written.
        price: of these calls in the currency of the price given, or None without one.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    price: float | None

    @property
    def most_calls(self) -> int:
        """Calls if no first reply were a digit."""
        return self.calls * TRIES


def estimate(cases: Sequence[Case], *, price: float | None = None) -> Cost:
    """Estimate the cost of asking about cases; `price` is of a million tokens, read or written."""
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
) -> Prepared:
    """Execute gold and answers, and say which answers a model has to judge. Asks nobody.

    Args:
        trajectories: runs with distinct question ids.
        questions: must hold every run's question.
        database: the one that the runs were over, with the same clock.
        mode: equivalence mode of the strict comparison.
        rows: rows of each result that a case holds at most; 0 for none, only their number.
        on_progress: told (runs done, runs in all).

    Raises:
        LabelsError: as `label_runs`.
        InputError: no such mode.
    """
    cases: list[Case] = []

    def put_aside(
        run_id: str, question: str, gold: Answer, answer: Answer
    ) -> tuple[bool | None, str]:
        if gold.result.truncated or answer.result.truncated:
            # The strict comparison could tell that they differ, and nobody sees all rows.
            return False, "rows-differ"
        cases.append(Case.of(run_id, question, gold, answer, rows=rows))
        return None, UNJUDGED

    labelling = compare_runs(
        trajectories, questions, database, "llm", mode, put_aside, on_progress=on_progress
    )
    return Prepared(labelling=labelling, cases=tuple(cases))


@dataclass(frozen=True, kw_only=True)
class ModelLabelling:
    """What a labelling by a model brought.

    Attributes:
        labelling: every answer with its verdict, or `unjudged`.
        asked: cases asked about this time.
        found: cases whose verdict an earlier run had stored.
        failed: reason → cases whose calls failed; unjudged for now, and asked again next time.
        calls, prompt_tokens, completion_tokens: of this time, as far as the endpoint tells.
    """

    labelling: Labelling
    asked: int
    found: int
    failed: Mapping[str, int]
    calls: int
    prompt_tokens: int
    completion_tokens: int

    def to_json(self) -> dict[str, Any]:
        """Return the counts of the labels and of the asking."""
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
    prepared: Prepared,
    model: ChatModel,
    log: VerdictLog,
    *,
    workers: int = 4,
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> ModelLabelling:
    """Ask the model about every case that the log lacks, and label the runs by its verdicts.

    Each verdict is on the disk before the next is counted, so whatever ends the process costs
    the calls under way and no other.

    Args:
        prepared: by `prepare`.
        model: at temperature 0; shared by the workers.
        log: where verdicts are kept.
        workers: calls under way at once, ≥ 1.
        on_progress: told (cases done, cases to ask) after each.

    Raises:
        InputError: the model samples at another temperature than 0.
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

    asked = ask_many(
        pending,
        ask,
        keep,
        workers=workers,
        what="verdicts",
        place=log.path,
        on_progress=lambda so_far: on_progress(so_far.done + so_far.failed, len(pending)),
    )
    if asked.interrupted:
        raise KeyboardInterrupt
    return ModelLabelling(
        labelling=_labelled(prepared, log, model.name),
        asked=len(pending),
        found=len(prepared.cases) - len(pending),
        failed=asked.failures,
        calls=sum(verdict.tries for verdict in made),
        prompt_tokens=sum(verdict.prompt_tokens for verdict in made),
        completion_tokens=sum(verdict.completion_tokens for verdict in made),
    )


def _labelled(prepared: Prepared, log: VerdictLog, model: str) -> Labelling:
    cases = {case.run_id: case for case in prepared.cases}

    def settled(label: Label) -> Label:
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
        labels=tuple(settled(label) for label in labelling.labels),
    )


@dataclass(frozen=True)
class _Judge:
    """A chat model as labels know one."""

    model: ChatModel

    @property
    def name(self) -> str:
        return self.model.name

    def reply(self, turns: Sequence[Turn]) -> JudgeReply:
        messages: list[Message] = [{"role": role, "content": text} for role, text in turns]
        said = self.model.complete(messages)
        return JudgeReply(
            text=said.text,
            prompt_tokens=said.prompt_tokens,
            completion_tokens=said.completion_tokens,
        )
