"""Public fakes for tests of Sentinel and of programs that use it: models, endpoint, database.

`ScriptedModel` replaces a model, `ScriptedEndpoint` a model behind HTTP, and `tiny_database` a
hospital. `make_step` and `make_trajectory` build records.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from sentinel_sql.agent.model import Message, Reply
from sentinel_sql.trajectory.record import (
    Action,
    AgentInfo,
    AskedQuestion,
    Observation,
    Seconds,
    Step,
    Telemetry,
    Trajectory,
    Usage,
    outcome_of,
)

Script = Sequence[str] | Callable[[Sequence[Message]], str]
"""Replies turn by turn (the last one is repeated), or a function of the chat so far."""

CLOCK = "2100-12-31 23:59:00"


def scripted_reply(script: Script, messages: Sequence[Message]) -> str:
    """Return the script's reply to a chat.

    Turn k after the question gets reply k, so that runs and threads may share a script.
    """
    if callable(script):
        return script(messages)
    turn = 0
    for message in messages:
        asks = message["role"] == "user" and message["content"].startswith("QUESTION:")
        turn = 0 if asks else turn + (message["role"] == "assistant")
    return script[min(turn, len(script) - 1)]


@dataclass(frozen=True)
class ScriptedModel:
    """A `ChatModel` with scripted replies.

    Example:
        >>> model = ScriptedModel(["SQL: SELECT 1", "FINAL_SQL: SELECT 2"])
        >>> model.complete([{"role": "user", "content": "QUESTION: how many?"}]).text
        'SQL: SELECT 1'

    Attributes:
        script: replies turn by turn, or a function of the chat so far; it may raise.
        latency: seconds for each reply.
        logprobs: whether replies have telemetry (the same for every token).
    """

    script: Script
    latency: float = 0.0
    logprobs: bool = True
    name: str = "scripted"
    temperature: float | None = 0.0

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a chat; see `ChatModel.complete`."""
        if self.latency:
            time.sleep(self.latency)
        text = scripted_reply(self.script, messages)
        tokens = max(1, len(text.split()))
        return Reply(
            text=text,
            logprobs=(-0.125,) * tokens if self.logprobs else None,
            entropies=(0.25,) * tokens if self.logprobs else None,
            prompt_tokens=sum(len(message["content"].split()) for message in messages),
            completion_tokens=tokens,
            seconds=self.latency,
        )


Fault = int | bytes
"""An HTTP status to answer with, or bytes to send instead of a chat completion."""


class ScriptedEndpoint:
    """An OpenAI-compatible endpoint on loopback, in a thread of this process.

    Use as a context manager; `url` is the base URL to give to `OpenAIModel`.

    Args:
        script: replies turn by turn, or a function of the chat so far.
        latency: seconds until each answer.
        fault: called with (number of the request from 0, its body); its result, unless None, is the
            answer instead.
        logprobs: whether the endpoint grants log-probabilities.
        headers: further response headers, such as Retry-After.
    """

    def __init__(
        self,
        script: Script,
        *,
        latency: float = 0.0,
        fault: Callable[[int, dict[str, Any]], Fault | None] | None = None,
        logprobs: bool = True,
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.url = ""
        self._requests: deque[dict[str, Any]] = deque(maxlen=1000)
        self._count = 0
        self._script = script
        self._latency = latency
        self._fault = fault
        self._logprobs = logprobs
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in headers)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The newest thousand request bodies, in order."""
        return list(self._requests)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=256)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"

    async def _hang_up(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._open.add(task)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                due = self._loop.time() + self._latency
                length = 0
                for line in head.split(b"\r\n"):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                request = json.loads(await reader.readexactly(length) or b"{}")
                self._requests.append(request)
                self._count += 1
                status, body = self._answer(self._count - 1, request)
                answer = f"HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\n"
                answer += f"{self._headers}Content-Length: {len(body)}\r\n\r\n"
                await asyncio.sleep(due - self._loop.time())
                writer.write(answer.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the client hung up, or the endpoint is being closed
        finally:
            if task is not None:
                self._open.discard(task)
            writer.close()

    def _answer(self, number: int, request: dict[str, Any]) -> tuple[int, bytes]:
        fault = self._fault(number, request) if self._fault else None
        if isinstance(fault, bytes):
            return 200, fault
        if fault is not None:
            return fault, b'{"error": {"message": "scripted", "code": "scripted_fault"}}'
        if request.get("logprobs") and not self._logprobs:
            return 400, b'{"error": {"message": "logprobs are not supported"}}'
        text = scripted_reply(self._script, request["messages"])
        return 200, _completion(text, logprobs=bool(request.get("logprobs")))


@cache
def _completion(text: str, *, logprobs: bool) -> bytes:
    words = text.split() or [""]
    choice: dict[str, Any] = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    if logprobs:
        choice["logprobs"] = {"content": [_token(word) for word in words]}
    usage = {"prompt_tokens": 100, "completion_tokens": len(words), "total_tokens": 0}
    completion = {"object": "chat.completion", "choices": [choice], "usage": usage}
    return json.dumps(completion).encode()


def _token(word: str) -> dict[str, Any]:
    alternatives = [{"token": f"{word}{n}", "logprob": -0.5 - 2.0 * n} for n in range(5)]
    return {"token": word, "logprob": -0.5, "top_logprobs": alternatives}


def tiny_database(path: str | Path) -> Path:
    """Write a hospital of three invented patients as a SQLite file, and return its path."""
    path = Path(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE patients (
                subject_id INTEGER PRIMARY KEY, gender TEXT NOT NULL, dob TIMESTAMP NOT NULL);
            CREATE TABLE admissions (
                hadm_id INTEGER PRIMARY KEY, subject_id INTEGER NOT NULL, admittime TIMESTAMP,
                insurance TEXT, FOREIGN KEY (subject_id) REFERENCES patients (subject_id));
            CREATE TABLE prescriptions (
                row_id INTEGER PRIMARY KEY, hadm_id INTEGER NOT NULL, drug TEXT,
                starttime TIMESTAMP, FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id));
            INSERT INTO patients VALUES (1, 'f', '2030-05-01'), (2, 'm', '2041-01-20'),
                (3, 'f', '2077-11-11');
            INSERT INTO admissions VALUES (10, 1, '2099-02-03 10:00:00', 'other'),
                (11, 1, '2100-03-04 11:30:00', 'medicare'), (12, 2, '2100-06-07 08:00:00', 'other');
            INSERT INTO prescriptions VALUES (100, 10, 'heparin', '2099-02-03 12:00:00'),
                (101, 11, 'sodium chloride 0.9%  flush', '2100-03-04 12:00:00'),
                (102, 12, 'heparin', '2100-06-07 09:00:00');
            """
        )
    return path


def make_step(
    index: int = 1,
    *,
    action: Action = "sql",
    sql: str | None = "SELECT 1",
    thought: str | None = "look first",
    observation: Observation | None = None,
    telemetry: Telemetry | None = None,
) -> Step:
    """Return a step; missing parts are filled in to fit its action."""
    if action in ("final_null", "invalid"):
        sql = None
    if observation is None:
        observation = {
            "final_null": Observation(kind="none"),
            "invalid": Observation(kind="reminder", text="no valid action found"),
        }.get(
            action,
            Observation(kind="rows", rows=1, columns=1, text="1 rows x 1 cols; sample [['1']]"),
        )
    return Step(
        index=index,
        thought=thought,
        action=action,
        sql=sql,
        observation=observation,
        usage=Usage(prompt_tokens=100, completion_tokens=12),
        telemetry=telemetry or Telemetry(logprobs=(-0.1, -0.2), entropies=(0.3, 0.4)),
        seconds=Seconds(model=0.5, sql=0.001),
    )


def make_trajectory(
    question_id: str = "q1",
    text: str = "how many patients are there?",
    *,
    steps: Sequence[Step] | None = None,
    agent: AgentInfo | None = None,
) -> Trajectory:
    """Return a run of these steps, by default of one step that answers."""
    agent = agent or AgentInfo(name="react", model="scripted", max_steps=8, temperature=0.0)
    all_steps = (make_step(action="final_sql"),) if steps is None else tuple(steps)
    return Trajectory(
        question=AskedQuestion(id=question_id, text=text, database="tiny", clock=CLOCK),
        agent=agent,
        steps=all_steps,
        outcome=outcome_of(all_steps, commit_on_error=agent.commit_on_error),
    )
