"""The OpenAI-compatible endpoint on the machine's own loopback address."""

from __future__ import annotations

import json
import select
import socket
import time
import uuid
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .batch import Batch, Job
from .chat_request import ChatRequest, RequestRefusedError, read_request
from .chat_text import ChatText, TemplateRefusedError
from .reply import Written

LOOPBACK = "127.0.0.1"

MOST_BYTES = 16 * 2**20
"""Longest body of a request (our choice)."""

PULSE = 1.0
"""Seconds between two looks at whether the client is still there."""


WAITING_CLIENTS = 128
"""Connections that may wait to be accepted."""


def listen(port: int) -> socket.socket:
    """Open a port on the loopback address; 0 takes a free one.

    Clients may connect at once. Their requests wait until an `Endpoint` serves.

    Raises:
        OSError: the port is taken.
    """
    return socket.create_server((LOOPBACK, port), backlog=WAITING_CLIENTS)


class Endpoint(ThreadingHTTPServer):
    """A server of chat completions; one thread for each connection.

    Args:
        listener: of `listen`.
        batch: answers the chats.
        text: the model's tokenizer.
        name: the model's name.
    """

    daemon_threads = True

    def __init__(self, listener: socket.socket, *, batch: Batch, text: ChatText, name: str) -> None:
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.batch = batch
        self.text = text
        self.name = name

    def completion(self, request: ChatRequest, job: Job) -> Mapping[str, Any]:
        """Return a finished job in the form of OpenAI's chat completions."""
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": job.reply.text},
            "finish_reason": job.reply.finish,
            "logprobs": None,
        }
        if request.alternatives is not None:
            choice["logprobs"] = {"content": [self._listed(one) for one in job.reply.written]}
        prompt, reply = len(job.tokens), job.reply.count
        return {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.name,
            "choices": [choice],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": reply,
                "total_tokens": prompt + reply,
                "prompt_tokens_details": {"cached_tokens": job.cached},
            },
        }

    def _listed(self, written: Written) -> Mapping[str, Any]:
        return {
            **self._token(written.token, written.logprob),
            "top_logprobs": [self._token(*one) for one in written.alternatives],
        }

    def _token(self, token: int, logprob: float) -> Mapping[str, Any]:
        spelled = self.text.bytes_of(token)
        text = spelled.decode(errors="replace")
        return {"token": text, "bytes": list(spelled), "logprob": logprob}


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: Endpoint
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == "/health":
            self._answer(200, {"status": "ok"})
        elif self.path == "/v1/models":
            model = {"id": self.server.name, "object": "model", "owned_by": "local"}
            self._answer(200, {"object": "list", "data": [model]})
        else:
            self._refuse(404, "path", f"there is no {self.path} here; see /v1/models")

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            self.close_connection = True
            self._refuse(413, "body", f"must have a length of at most {MOST_BYTES} bytes")
            return
        body = self.rfile.read(int(length))
        if self.path != "/v1/chat/completions":
            self._refuse(404, "path", f"there is no {self.path} here; ask /v1/chat/completions")
            return
        try:
            request = read_request(json.loads(body))
            job = self.server.batch.submit(request)
        except RequestRefusedError as error:
            self._refuse(400, error.field, str(error))
        except TemplateRefusedError as error:
            self._refuse(400, "messages", f"messages: {error}")
        except ValueError:
            self._refuse(400, "body", "body: must be JSON")
        else:
            self._wait(request, job)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (its name in the library)
        """Log nothing: chats may hold people's data."""

    def _wait(self, request: ChatRequest, job: Job) -> None:
        while not job.done.wait(PULSE):
            if _is_closed(self.connection):
                job.cancelled = True
                self.close_connection = True
                return
        if job.reply.finish is None:
            self._refuse(503, "server", "the server is ending")
            return
        self._answer(200, self.server.completion(request, job))

    def _refuse(self, status: int, field: str, message: str) -> None:
        kind = "invalid_request_error" if status < 500 else "server_error"
        self._answer(status, {"error": {"message": message, "type": kind, "param": field}})

    def _answer(self, status: int, body: Mapping[str, Any]) -> None:
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)


def _is_closed(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True
