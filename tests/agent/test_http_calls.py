from __future__ import annotations

import base64
import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest

from sentinel_sql.agent.http_calls import LATE, HttpCalls
from sentinel_sql.errors import EndpointError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Answers each request on each connection with the next of some raw answers."""

    def __init__(self, answers: Sequence[bytes], *, hang_up: bool) -> None:
        self.heads: list[str] = []
        self.connections = 0
        self._answers = list(answers)
        self._hang_up = hang_up
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(20)
        self._socket.close()
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.connections += 1
                connection.settimeout(5)
                with connection, contextlib.suppress(OSError):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as reader:
            while self._answers:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    line = reader.readline()
                    if not line:
                        return
                    head += line
                length = [line for line in head.lower().split(b"\r\n") if b"-length:" in line]
                reader.read(int(length[0].split(b":")[1]) if length else 0)
                self.heads.append(head.decode())
                connection.sendall(self._answers.pop(0))
                if self._hang_up:
                    return


@contextmanager
def serving(*answers: bytes, hang_up: bool = False) -> Iterator[Server]:
    with closing(Server(answers, hang_up=hang_up)) as server:
        yield server


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def connections(url: str, **headers: str) -> closing[HttpCalls]:
    return closing(HttpCalls(url, headers))


def test_one_connection_serves_one_call_after_the_other() -> None:
    with serving(OK, OK, OK) as server, connections(f"http://127.0.0.1:{server.port}/v1") as to:
        for _ in range(3):
            answer = to.ask("POST", "chat/completions", b"{}", 5)
            assert (answer.status, answer.body) == (200, b"ok")
    assert server.connections == 1


def test_an_idle_connection_that_the_endpoint_has_closed_is_replaced() -> None:
    with (
        serving(OK, OK, hang_up=True) as server,
        connections(f"http://127.0.0.1:{server.port}") as to,
    ):
        assert [to.ask("POST", "models", b"{}", 5).status for _ in range(2)] == [200, 200]
    assert server.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    ],
)
def test_answers_of_any_framing_are_read_whole(answer: bytes) -> None:
    with (
        serving(answer, OK, hang_up=b"chunked" not in answer) as server,
        connections(f"http://127.0.0.1:{server.port}") as to,
    ):
        assert to.ask("POST", "models", b"{}", 5).body == b"ok"
        assert to.ask("POST", "models", b"{}", 5).body == b"ok"


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", b"SSH-2.0-x\r\n", b"", OK[:20],
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok",
     b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok"],
)  # fmt: skip
def test_an_answer_that_is_cut_off_is_a_fault_and_no_answer(answer: bytes) -> None:
    with (
        serving(answer, hang_up=True) as server,
        connections(f"http://127.0.0.1:{server.port}") as to,
    ):
        answered = to.ask("POST", "models", b"{}", 5)
    assert answered.status is None
    assert answered.fault not in (None, LATE)


def test_a_proxy_of_the_environment_is_told_the_whole_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(OK) as server:
        monkeypatch.setenv("http_proxy", f"http://me:s%20t@127.0.0.1:{server.port}")
        with connections("http://model.invalid:8000/v1") as to:
            assert to.ask("POST", "models", b"{}", 5).body == b"ok"
    assert server.heads[0].startswith("POST http://model.invalid:8000/v1/models HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'me:s t').decode()}" in server.heads[0]


def test_a_proxy_is_asked_for_a_tunnel_to_an_https_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", hang_up=True) as server:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{server.port}")
        with connections("https://model.invalid/v1", Authorization="Bearer secret") as to:
            answer = to.ask("POST", "models", b"{}", 5)
    assert answer.status is None
    assert "403" in (answer.fault or "")
    assert server.heads[0].startswith("CONNECT model.invalid:443 HTTP/1.")
    assert "secret" not in server.heads[0]


def test_an_address_that_needs_no_proxy_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(OK) as server, connections(f"http://127.0.0.1:{server.port}/v1?v=2") as to:
        assert to.ask("POST", "models", b"{}", 5).body == b"ok"
    assert server.heads[0].startswith("POST /v1/models?v=2 HTTP/1.1\r\n")


def test_name_and_password_of_the_address_are_sent_and_not_shown() -> None:
    with serving(OK) as server, connections(f"http://me:pw@127.0.0.1:{server.port}") as to:
        to.ask("GET", "models", None, 5)
        assert to.url == f"http://127.0.0.1:{server.port}"
    assert f"Authorization: Basic {base64.b64encode(b'me:pw').decode()}" in server.heads[0]


@pytest.mark.parametrize(
    "url", ["http://x:99999/v1", "http://x:a/v1", "file:///etc", "x", "http://x/a b", "http://ü/v1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(EndpointError, match="no base URL"):
        HttpCalls(url, {})
