"""Answers many chats at once: each step reads the new tokens of all chats together."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .cache_store import CacheStore
from .chat_cache import ChatCache, Tokens
from .chat_request import ChatRequest, RequestRefusedError
from .chat_text import ChatText
from .model import Model, Piece
from .reply import Outlook, Reply

STEP_TOKENS = 256
"""Most tokens of prompts in one step, so that replies go on while a long prompt is read."""


@dataclass(kw_only=True, eq=False)
class Job:
    """A chat that waits for its reply.

    Attributes:
        tokens: tokens of the chat up to where the reply begins.
        reply: the reply, as far as it is written.
        cached: tokens of the prompt that weren't read anew.
        done: set once the reply is whole, or the server ends.
        cancelled: whether nobody waits for the reply any more.
    """

    tokens: Tokens
    reply: Reply
    cached: int = 0
    done: threading.Event = field(default_factory=threading.Event)
    cancelled: bool = False


@dataclass(kw_only=True, eq=False)
class _Running:
    job: Job
    cache: ChatCache
    unread: Tokens


class Batch:
    """All chats that are being answered. `run` works; other threads call `submit` and wait.

    Args:
        model: the model.
        text: its tokenizer and template.
        most_chats: chats at once; further ones wait.
        context: most tokens of a chat with its reply.
        cache_bytes: memory for chats between two turns.
    """

    def __init__(
        self, model: Model, text: ChatText, *, most_chats: int, context: int, cache_bytes: int
    ) -> None:
        self._model = model
        self._text = text
        self._most_chats = most_chats
        self._context = min(context, model.sizes.context)
        self._store = CacheStore(model.sizes, most_bytes=cache_bytes, read=self._read_alone)
        self._queue: deque[Job] = deque()
        self._running: list[_Running] = []
        self._changed = threading.Condition()
        self._ended = False

    def submit(self, request: ChatRequest) -> Job:
        """Put a chat in the queue.

        Raises:
            RequestRefusedError: the chat is too long for the context.
            TemplateRefusedError: the model's template refuses it.
        """
        tokens = self._text.tokens(request.messages)
        room = self._context - len(tokens)
        if room < 1:
            raise RequestRefusedError(
                "messages",
                f"{len(tokens)} tokens don't fit the maximum context length of {self._context}; "
                "shorten the chat, or serve with a larger --context",
            )
        bytes_of, ends = self._text.bytes_of, self._text.ends
        job = Job(tokens=tokens, reply=Reply(request, bytes_of=bytes_of, ends=ends, room=room))
        with self._changed:
            self._queue.append(job)
            if self._ended:
                job.done.set()
            self._changed.notify_all()
        return job

    def end(self) -> None:
        """End `run` after the step under way. Unfinished jobs are released without a finish."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def run(self) -> None:
        """Work until `end` is called."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or self._queue or self._running)
                if self._ended:
                    break
            self.step()
        with self._changed:
            for job in (*self._queue, *(running.job for running in self._running)):
                job.done.set()

    def step(self) -> None:
        """Admit waiting chats, read the next tokens of all, and choose one for each that is due."""
        self._admit()
        pieces = self._pieces()
        if not pieces:
            return
        states = self._model.read([piece for _, piece in pieces])
        due = [at for at, (running, _) in enumerate(pieces) if not len(running.unread)]
        if not due:
            return
        outlook = Outlook.of(self._model.logits(states[due]))
        for row, at in enumerate(due):
            running = pieces[at][0]
            running.unread = np.array([running.job.reply.take(outlook, row)], np.int32)
            if running.job.reply.finish:
                self._leave(running)
                running.job.done.set()

    def _admit(self) -> None:
        for running in [one for one in self._running if one.job.cancelled]:
            self._leave(running)
        while len(self._running) < self._most_chats:
            with self._changed:
                if not self._queue:
                    return
                job = self._queue.popleft()
                queued = [other.tokens for other in self._queue]
            if job.cancelled:
                continue
            caches = [running.cache for running in self._running]
            cache = self._store.cache_for(job.tokens, running=caches, queued=queued)
            job.cached = cache.length
            unread = job.tokens[cache.length :]
            self._running.append(_Running(job=job, cache=cache, unread=unread))

    def _pieces(self) -> Sequence[tuple[_Running, Piece]]:
        """Take the next tokens of each chat: one of a reply, or some of a prompt."""
        left = STEP_TOKENS
        pieces: list[tuple[_Running, Piece]] = []
        for running in self._running:
            number = len(running.unread)
            if number > 1:
                number = min(number, left)
                left -= number
            if number:
                tokens, running.unread = running.unread[:number], running.unread[number:]
                pieces.append((running, Piece(cache=running.cache, tokens=tokens)))
        return pieces

    def _leave(self, running: _Running) -> None:
        self._running.remove(running)
        self._store.keep(running.cache)

    def _read_alone(self, cache: ChatCache, tokens: Tokens) -> None:
        for start in range(0, len(tokens), STEP_TOKENS):
            part = tokens[start : start + STEP_TOKENS]
            self._model.read([Piece(cache=cache, tokens=part)])
