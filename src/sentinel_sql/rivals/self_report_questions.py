"""Asks an agent's own model how sure it is of a recorded answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sentinel_sql.agent.chat import Chat
from sentinel_sql.agent.model import ChatModel, Message, Reply
from sentinel_sql.agent.react import ReactAgent, whole_action
from sentinel_sql.agent.self_report import (
    HOW_SURE,
    IS_IT_TRUE,
    chat_with_question,
    p_true,
    percentage,
)
from sentinel_sql.database.equivalence import Equivalence
from sentinel_sql.labels.strict import strict_match
from sentinel_sql.rivals.confidences import (
    SAMPLED,
    Confidence,
    Method,
    Verdict,
    answer_hash,
)
from sentinel_sql.trajectory.record import Trajectory

SAMPLES = 5
"""Samples for each answer (our choice): each costs a turn, or a whole run."""

TEMPERATURE = 0.7
"""Sampling temperature, as in Wang et al. (arXiv:2203.11171)."""


@dataclass(frozen=True, kw_only=True)
class Asker:
    """An agent, and its model with the settings for each way of asking.

    Attributes:
        agent: the agent of the runs, with the same prompt, database and settings.
        word: its model at temperature 0, for one token with many alternatives.
        number: its model at temperature 0, for a few tokens.
        samplers: its model at a higher temperature, one seed for each sample.
        mode: equivalence mode that compares a sample's answer with the recorded one.
    """

    agent: ReactAgent
    word: ChatModel
    number: ChatModel
    samplers: Sequence[ChatModel]
    mode: Equivalence

    def ask(self, run: Trajectory, method: Method) -> Confidence:
        """Ask about the answer of a run.

        Raises:
            EndpointError: the model can't be reached.
        """
        answer_fields: dict[str, Any] = {"run": run.question.id, "answer": answer_hash(run)}
        if method in SAMPLED:
            verdicts, replies = self._sample(run, method)
            return Confidence(
                **answer_fields,
                method=method,
                score=verdicts.count("same") / len(verdicts),
                verdicts=tuple(verdicts),
                temperature=self.samplers[0].temperature,
                mode=self.mode.name,
                **_cost(replies),
            )
        chat, answer = self._chat(run), run.steps[-1]
        if method == "p-true":
            reply = self.word.complete(chat_with_question(chat, answer, IS_IT_TRUE))
            score, by = p_true(reply)
            return Confidence(**answer_fields, method=method, score=score, by=by, **_cost([reply]))
        reply = self.number.complete(chat_with_question(chat, answer, HOW_SURE))
        return Confidence(
            **answer_fields, method=method, score=percentage(reply.text), **_cost([reply])
        )

    def settings(self, method: Method) -> tuple[object, ...]:
        """Return the settings that all records of this method must share."""
        if method not in SAMPLED:
            return (0, None, None)
        return (len(self.samplers), self.samplers[0].temperature, self.mode.name)

    def _chat(self, run: Trajectory) -> Chat:
        chat = self.agent.chat(run.question.text, hints=run.steps[0].hints)
        for step in run.steps[:-1]:
            chat.add(step)
        return chat

    def _sample(self, run: Trajectory, method: Method) -> tuple[list[Verdict], list[Reply]]:
        verdicts: list[Verdict] = []
        replies: list[Reply] = []
        messages = self._chat(run).messages
        for sampler in self.samplers:
            if method == "single-turn":
                reply = sampler.complete(messages)
                replies.append(reply)
                verdicts.append(self._compare(run, whole_action(reply).sql))
            else:
                recorder = _RecordingModel(sampler)
                sample = dataclasses.replace(self.agent, model=recorder).run(run.question)
                replies += recorder.replies
                verdicts.append(self._compare(run, sample.outcome.final_sql))
        return verdicts, replies

    def _compare(self, run: Trajectory, sql: str | None) -> Verdict:
        """Compare the results of a sample and of the recorded answer."""
        recorded = run.outcome.final_sql
        if sql is None or recorded is None:
            return "none"
        if sql == recorded:
            return "same"
        ours, theirs = (
            self.agent.database.execute(self.mode.postprocess(query)) for query in (recorded, sql)
        )
        same = strict_match(self.mode, run.question.text, recorded, ours, theirs)
        return "cut" if same is None else "same" if same else "other"


class _RecordingModel:
    """A model that also records its replies."""

    def __init__(self, model: ChatModel) -> None:
        self.replies: list[Reply] = []
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def temperature(self) -> float | None:
        return self._model.temperature

    def complete(self, messages: Sequence[Message]) -> Reply:
        self.replies.append(self._model.complete(messages))
        return self.replies[-1]


def _cost(replies: Sequence[Reply]) -> dict[str, Any]:
    return {
        "calls": len(replies),
        "prompt_tokens": total([reply.prompt_tokens for reply in replies]),
        "completion_tokens": total([reply.completion_tokens for reply in replies]),
        "seconds": sum(reply.seconds for reply in replies),
    }


def total(counts: Sequence[int | None]) -> int | None:
    """Return the sum, or None where a count is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
