"""The ReAct agent: a loop of thought, query and result that yields one `Step` for each turn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sentinel_sql.agent.action import Action, parse_reply
from sentinel_sql.agent.chat import Chat
from sentinel_sql.agent.model import ChatModel, CutBy, Reply
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.arguments import checked_fields
from sentinel_sql.database.executor import Database, ExecutionResult, summarize
from sentinel_sql.database.value_index.hints import VERSION, find_hints
from sentinel_sql.database.value_index.index import ValueIndex
from sentinel_sql.errors import EndpointError, InputError
from sentinel_sql.trajectory.record import (
    AgentInfo,
    AskedQuestion,
    Observation,
    Seconds,
    Step,
    StepNote,
    Telemetry,
    Trajectory,
    Usage,
    commitment,
    outcome_of,
)

MAX_STEPS = 8
"""Step cap of a run (paper, section on the agents)."""

REMINDER = (
    "no valid action found. Answer with one of: SQL: <query> | FINAL_SQL: <query> | FINAL: null"
)


CUT_REMINDER = (
    "your reply was cut before its end, so nothing of it was taken. Answer shorter, with one of: "
    "SQL: <query> | FINAL_SQL: <query> | FINAL: null"
)


class Asked(Protocol):
    """The parts of a question that an agent gets; `Question` and `AskedQuestion` both fit."""

    @property
    def id(self) -> str:
        """The question's id."""
        ...

    @property
    def text(self) -> str:
        """The question in words."""
        ...


@checked_fields
@dataclass(frozen=True, kw_only=True)
class ReactAgent:
    """An agent with one action in each turn. It has no state of a run, so threads may share it.

    Attributes:
        model: the model that writes the turns.
        database: the database that runs the queries.
        prompt: the prompt before the question.
        max_steps: step cap, ≥ 1.
        commit_on_error: whether a final SQL that fails ends the run. If False, the agent sees the
            error and continues (our choice).
        name: the agent's name in trajectories.
        index: the value index of the database, for a prompt with hints; None for other prompts.

    Raises:
        InputError: the prompt needs hints and there is no index, or the reverse.
    """

    model: ChatModel
    database: Database
    prompt: Prompt
    max_steps: int = MAX_STEPS
    commit_on_error: bool = False
    name: str = "react"
    index: ValueIndex | None = None

    def __post_init__(self) -> None:
        if self.prompt.hints != (self.index is not None):
            raise InputError(
                f"the prompt {self.prompt.name!r} needs a value index: give index=open_value_index"
                "(database)"
                if self.prompt.hints
                else f"the prompt {self.prompt.name!r} shows no hints: give no index, or choose "
                "the prompt 'grounded'"
            )

    @property
    def info(self) -> AgentInfo:
        """The identity of this agent; the prompt's hash covers the settings of its hints."""
        prompt = self.prompt.sha256
        if self.index is not None:
            settings = f"{prompt} {VERSION} {self.index.settings}"
            prompt = hashlib.sha256(settings.encode()).hexdigest()
        return AgentInfo(
            name=self.name,
            model=self.model.name,
            prompt_sha256=prompt,
            max_steps=self.max_steps,
            temperature=self.model.temperature,
            commit_on_error=self.commit_on_error,
        )

    def steps(self, question: Asked) -> Iterator[Step]:
        """Run on a question, and yield each step when it is done, until a commitment or the cap.

        Raises:
            EndpointError: the model can't be reached, or only reasons; the run is void then.
        """
        hints = self.hints(question.text)
        chat = self.chat(question.text, hints=hints)
        for index in range(1, self.max_steps + 1):
            reply = self.model.complete(chat.messages)
            action = whole_action(reply)
            if action.kind == "invalid" and reply.reasoning and reply.cut_by is None:
                raise EndpointError(
                    f"the model {self.model.name} replies with reasoning and no action; allow more "
                    "with --max-tokens, or serve it without its reasoning parser"
                )
            step = self._step(index, reply, action, hints=hints if index == 1 else ())
            yield step
            if commitment(step, commit_on_error=self.commit_on_error) is not None:
                return
            chat.add(step)

    def hints(self, question: str) -> tuple[str, ...]:
        """Return the lines on stored values to show below a question; none without an index."""
        return () if self.index is None else find_hints(question, self.index).lines

    def chat(self, question: str, *, hints: Sequence[str]) -> Chat:
        """Return the chat of a run before its first turn.

        Args:
            question: the question in words.
            hints: the lines to show below it: those of `hints`, or of a recorded run.
        """
        return Chat(
            self.prompt,
            question,
            schema=self.database.schema,
            max_steps=self.max_steps,
            hints=hints,
        )

    def run(self, question: Asked) -> Trajectory:
        """Run to the end.

        Raises:
            EndpointError: the model can't be reached; there is no run then.
        """
        return make_trajectory(self.info, question, self.database, self.steps(question))

    def _step(self, index: int, reply: Reply, action: Action, *, hints: tuple[str, ...]) -> Step:
        sql_seconds: float | None = None
        if action.sql is not None:
            result = self.database.execute(action.sql)
            observation = observe(result)
            sql_seconds = result.seconds
        elif action.kind == "final_null":
            observation = Observation(kind="none")
        else:
            text = CUT_REMINDER if reply.cut_by else REMINDER
            observation = Observation(kind="reminder", text=text)
        telemetry = None
        if reply.logprobs is not None:
            telemetry = Telemetry(logprobs=reply.logprobs, entropies=reply.entropies or ())
        return Step(
            index=index,
            thought=action.thought,
            action=action.kind,
            sql=action.sql,
            best_so_far=action.best_so_far,
            observation=observation,
            usage=Usage(
                prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens
            ),
            telemetry=telemetry,
            seconds=Seconds(model=reply.seconds, sql=sql_seconds),
            reply=reply.text,
            notes=_notes(reply),
            hints=hints,
        )


def whole_action(reply: Reply) -> Action:
    """Return the action of a reply; `invalid` if it was cut, as its query may be incomplete."""
    action = parse_reply(reply.text)
    if reply.cut_by is None:
        return action
    return Action(kind="invalid", thought=action.thought)


def _notes(reply: Reply) -> tuple[StepNote, ...]:
    cut: Mapping[CutBy | None, tuple[StepNote, ...]] = {
        "length": ("cut-by-length",),
        "filter": ("cut-by-filter",),
        "fault": ("cut-by-fault",),
    }
    unread: tuple[StepNote, ...] = ("telemetry-unread",) if reply.telemetry_unread else ()
    return cut.get(reply.cut_by, ()) + unread


def observe(result: ExecutionResult) -> Observation:
    """Return the observation of a result, which both agent and monitor see."""
    ran = result.kind in ("rows", "empty")
    return Observation(
        kind=result.kind,
        rows=len(result.rows) if ran else None,
        columns=len(result.columns) if ran else None,
        truncated=result.truncated,
        error=result.error,
        text=summarize(result),
    )


def make_trajectory(
    agent: AgentInfo, question: Asked, database: Database, steps: Iterable[Step]
) -> Trajectory:
    """Return the run of these steps; its outcome follows from the last step."""
    all_steps = tuple(steps)
    return Trajectory(
        question=AskedQuestion(
            id=question.id, text=question.text, database=database.name, clock=database.clock
        ),
        agent=agent,
        steps=all_steps,
        outcome=outcome_of(all_steps, commit_on_error=agent.commit_on_error),
    )
