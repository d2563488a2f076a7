"""Reads one record of a log file: its messages, id and question, and its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.trajectory.formats import AUTO, FORMS
from sentinel_sql.trajectory.formats.conversion import Conversion
from sentinel_sql.trajectory.formats.endings import Rule, declines
from sentinel_sql.trajectory.formats.events import UserTurn, clean, name_of
from sentinel_sql.trajectory.formats.log import MESSAGE_LISTS
from sentinel_sql.trajectory.formats.run_reading import RunReading
from sentinel_sql.trajectory.formats.tools import Tools
from sentinel_sql.trajectory.record import AgentInfo, AskedQuestion, Trajectory, outcome_of

_TEXTS = ("text", "log", "trace", "transcript")


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedRun:
    """A run read from a log, and the rule by which it ended."""

    trajectory: Trajectory
    rule: Rule


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRecord:
    """The content of a record.

    Attributes:
        runs: one run for each question.
        refused: reason → number of runs left out.
        notes: what the log left open and how it was decided → number of times.
        unread: kind of item that is part of no step → number of items.
    """

    runs: tuple[LoggedRun, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)


def read_record(
    record: Any, *, form: str = AUTO, model: str, fallback_id: str, tools: Tools | None = None
) -> ReadRecord:
    """Read the runs of one record.

    Args:
        record: `{"messages": […], …}`, a bare list of messages or items, or a ReAct text. Its id
            is `id`, `question_id`, `info.task.task_id`, `task_id` or `task_idx`; with a `trial`,
            run k of question X is `X#k`. Question n > 1 of a conversation is `X.n`. A record that
            names a task or has a `question` is one question, however often the user speaks.
        form: a name of `FORMS`, or `auto`.
        model: the model, unless the record has a `model`.
        fallback_id: the id of a record without an id.
        tools: the tools that run SQL and those that end a run.

    Raises:
        InputError: the record has no messages, no question, or items of several forms.
    """
    fields: Mapping[str, Any] = record if isinstance(record, dict) else {}
    items = items_of(record)
    name = form_of(items) if form == AUTO else form
    conversion = Conversion(
        FORMS[name],
        tools=tools,
        question=_text(fields.get("question")),
        one_question=_is_one_task(fields),
    )
    for item in items:
        conversion.feed(item)
    conversion.finish()
    return _collect_runs(conversion, fields, name, model=model, fallback_id=fallback_id)


def form_of(items: list[Any]) -> str:
    """Return the form of a record's items; plain messages count as OpenAI's.

    Raises:
        InputError: the items are of several forms.
    """
    marked = [name for name, form in FORMS.items() if any(map(form.marks, items))]
    if len(marked) > 1:
        # Any agent may write "Action:" in its words, so calls of another form decide.
        marked = [name for name in marked if name != "react"]
    if len(marked) > 1:
        raise InputError(f"items of several forms ({', '.join(marked)}); name one with --format")
    return marked[0] if marked else "openai-messages"


def question_of(record: Any, *, form: str = AUTO) -> Mapping[str, Any] | None:
    """Return `id`, `question` and `gold_sql` of a record with gold SQL, else None."""
    if not isinstance(record, dict):
        return None
    task = _task(record)
    gold = _text(task.get("gold_sql")) or _text(record.get("gold_sql"))
    identity = _own_id(record)
    if gold is None or identity is None:
        return None
    question = _text(task.get("instruction")) or _text(record.get("question"))
    if not question:
        question = _first_user_turn(record, form)
    return {"id": identity, "question": question, "gold_sql": gold} if question else None


def _collect_runs(
    conversion: Conversion, fields: Mapping[str, Any], form: str, *, model: str, fallback_id: str
) -> ReadRecord:
    agent = AgentInfo(name=form, model=_text(fields.get("model")) or model)
    runs: list[LoggedRun] = []
    refused: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for number, run in enumerate(conversion.runs, start=1):
        notes.update(run.notes)
        if number > 1 and not _is_question(run):
            notes["a later turn of the user without a query or a refusal: left out"] += 1
        elif run.refusal is not None:
            refused[run.refusal] += 1
        elif not run.question:
            refused["no user message, so no question"] += 1
        elif run.ending is not None:
            steps = tuple(run.steps)
            trajectory = Trajectory(
                question=AskedQuestion(
                    id=_id(fields, fallback_id, number),
                    text=run.question.strip(),
                    history=tuple(
                        it.question.strip() for it in conversion.runs[: number - 1] if it.question
                    ),
                ),
                agent=agent,
                steps=steps,
                outcome=outcome_of(steps, commit_on_error=agent.commit_on_error),
            )
            runs.append(LoggedRun(trajectory=trajectory, rule=run.ending.rule))
    if not conversion.runs:
        refused["no user message, so no question"] += 1
    return ReadRecord(runs=tuple(runs), refused=refused, notes=notes, unread=conversion.unread)


def _is_question(run: RunReading) -> bool:
    """Return whether a later turn of the user is a question, not only thanks."""
    words = run.ending.text if run.ending is not None else ""
    return run.called or run.refusal is not None or declines(words, question=run.question)


def items_of(record: Any) -> list[Any]:
    """Return the messages, items or text of a record, in order.

    Raises:
        InputError: the record holds none.
    """
    if isinstance(record, str) and record.strip():
        return [record]
    if isinstance(record, list):
        found: Any = record
    elif isinstance(record, dict):
        found = next((record[key] for key in MESSAGE_LISTS if key in record), None)
        if found is None:
            text = next((one for one in map(record.get, _TEXTS) if isinstance(one, str)), None)
            found = [text] if text is not None else _exchange(record)
    else:
        found = None
    if not isinstance(found, list) or not all(isinstance(item, dict | str) for item in found):
        raise InputError("no list of messages")
    return found


def _exchange(record: Mapping[str, Any]) -> list[Any] | None:
    """Return the items of a record that stores request and response separately."""
    request, output = record.get("input"), record.get("output")
    if isinstance(output, str):
        return [output]
    if not isinstance(output, list) and not isinstance(request, list):
        return None
    question = [{"role": "user", "content": request}] if isinstance(request, str) else request or []
    return [*question, *(output or [])] if isinstance(question, list) else None


def _first_user_turn(record: Mapping[str, Any], form: str) -> str:
    try:
        items = items_of(record)
        events = FORMS[form_of(items) if form == AUTO else form].events
    except InputError:
        return ""
    turns = (event for item in items for event in events(item) if isinstance(event, UserTurn))
    return next((turn.text.strip() for turn in turns), "")


def _is_one_task(record: Mapping[str, Any]) -> bool:
    named = ("question", "question_id", "task_id", "task_idx", "gold_sql")
    return bool(_task(record)) or any(record.get(key) is not None for key in named)


def _task(record: Mapping[str, Any]) -> Mapping[str, Any]:
    info = record.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    return task if isinstance(task, dict) else {}


def _own_id(record: Mapping[str, Any]) -> str | None:
    candidates = (
        record.get("id"),
        record.get("question_id"),
        _task(record).get("task_id"),
        record.get("task_id"),
        record.get("task_idx"),
    )
    return next((found for found in map(name_of, candidates) if found), None)


def _id(record: Mapping[str, Any], fallback: str, number: int) -> str:
    identity = _own_id(record) or fallback
    if number > 1:
        identity = f"{identity}.{number}"
    trial = name_of(record.get("trial"))
    return f"{identity}#{trial}" if trial else identity


def _text(value: Any) -> str | None:
    return clean(value) if isinstance(value, str) and value.strip() else None
