from __future__ import annotations

import base64
import contextlib
import socket
import socketserver
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sentinel_sql.agent.http_calls import CALLS_EACH, LATE, HttpCalls
from sentinel_sql.errors import EndpointError
from sentinel_sql.testing import ScriptedEndpoint

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


def test_proxy_of_the_environment_gets_the_whole_address(
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


class Proxy(socketserver.ThreadingTCPServer):
    """A real proxy on loopback: it forwards absolute addresses, and opens tunnels.

    Whatever host is named, the connection goes to `target`, as no name is resolved in tests.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, target: int, *, user: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.target = target
        self.user = user
        self.requests: list[str] = []
        self.port = self.server_address[1]

    @property
    def wanted(self) -> str | None:
        return self.user and "Basic " + base64.b64encode(self.user.encode()).decode()


class ProxyHandler(socketserver.StreamRequestHandler):
    server: Proxy
    rbufsize = 0  # what follows the head is for the other side

    def handle(self) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return
            head += line
        self.server.requests.append(head.decode())
        method, address, _ = head.split(b" ", 2)
        if self.server.wanted and self.server.wanted.encode() not in head:
            self.wfile.write(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n"
                b"Connection: close\r\n\r\n"
            )
            return
        with socket.create_connection(("127.0.0.1", self.server.target)) as onward:
            if method == b"CONNECT":
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = b"/" + address.split(b"/", 3)[3]
                onward.sendall(head.replace(address, path, 1))
            back = threading.Thread(target=pump, args=(onward, self.connection), daemon=True)
            back.start()
            pump(self.connection, onward)
            back.join(5)


def pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def proxied(target: int, *, user: str | None = None) -> Iterator[Proxy]:
    with Proxy(target, user=user) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield proxy
        proxy.shutdown()
        thread.join(5)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for model.invalid with its key, in one file."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=model.invalid", "-addext", "subjectAltName=DNS:model.invalid,IP:127.0.0.1",
         "-keyout", str(path), "-out", f"{path}.crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


@contextmanager
def secured(certificate: Path, *answers: bytes) -> Iterator[int]:
    """An HTTPS server that gives these answers, one connection each."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            with contextlib.suppress(OSError):
                plain, _ = listener.accept()
                with plain, context.wrap_socket(plain, server_side=True) as connection:
                    while not connection.recv(65536).endswith(b"{}"):
                        pass  # what is left unread would reset the connection
                    connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listener:
        yield listener.getsockname()[1]
    thread.join(5)


@pytest.mark.parametrize("user", [None, "me:s3cret"])
def test_a_real_proxy_forwards_calls_to_a_plain_address(
    monkeypatch: pytest.MonkeyPatch, user: str | None
) -> None:
    with serving(OK, OK) as server, proxied(server.port, user=user) as proxy:
        login = f"{user}@" if user else ""
        monkeypatch.setenv("HTTP_PROXY".lower(), f"http://{login}127.0.0.1:{proxy.port}")
        with connections("http://model.invalid/v1") as to:
            assert to.ask("POST", "models", b"{}", 5).body == b"ok"
    assert proxy.requests[0].startswith("POST http://model.invalid/v1/models HTTP/1.1")


def test_a_real_proxy_tunnels_calls_to_a_secured_address(
    monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", f"{certificate}.crt")
    with secured(certificate, OK) as port, proxied(port, user="me:s3cret") as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:s3cret@127.0.0.1:{proxy.port}")
        with connections("https://model.invalid/v1", Authorization="Bearer key") as to:
            answer = to.ask("POST", "models", b"{}", 20)
    assert (answer.body, answer.fault) == (b"ok", None)
    assert proxy.requests[0].startswith("CONNECT model.invalid:443 ")
    assert "Bearer key" not in "".join(proxy.requests)


def test_a_proxy_that_refuses_the_user_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving() as server, proxied(server.port, user="me:right") as proxy:
        monkeypatch.setenv("https_proxy", f"http://me:s3cret@127.0.0.1:{proxy.port}")
        with connections("https://model.invalid/v1") as to:
            fault = to.ask("POST", "models", b"{}", 5).fault
    assert "407" in (fault or "")
    assert "s3cret" not in (fault or "")


@pytest.mark.parametrize("value", ["http://me:s3cret@host:port", "gopher://me:s3cret@h"])
def test_a_proxy_that_is_no_address_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("http_proxy", value)
    with pytest.raises(EndpointError, match="proxy of the environment") as caught:
        HttpCalls("http://model.invalid/v1", {})
    assert "s3cret" not in str(caught.value)


def test_untrusted_certificate_is_refused(certificate: Path) -> None:
    with (
        secured(certificate, OK) as port,
        connections(f"https://127.0.0.1:{port}/v1") as to,
    ):
        assert "certificate" in (to.ask("GET", "models", None, 5).fault or "")


@pytest.mark.parametrize(
    "beginning",
    [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n",
     b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"],
)  # fmt: skip
def test_a_trickle_anywhere_in_the_answer_ends_at_the_deadline(beginning: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                connection.sendall(beginning)
                while True:
                    time.sleep(0.05)
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        with connections(f"http://127.0.0.1:{listener.getsockname()[1]}") as to:
            assert to.ask("GET", "models", None, 0.3).fault == LATE
        thread.join(10)
        assert not thread.is_alive()


def test_a_redirect_is_an_answer_and_the_key_goes_nowhere_else() -> None:
    with serving(OK) as other:
        moved = f"HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:{other.port}/\r\n"
        with (
            serving(moved.encode() + b"Content-Length: 0\r\n\r\n") as server,
            connections(f"http://127.0.0.1:{server.port}", Authorization="Bearer key") as to,
        ):
            assert to.ask("POST", "models", b"{}", 5).status == 307
        assert other.connections == 0


def test_threads_share_the_pool() -> None:
    body = b'{"messages": []}'
    with (
        ScriptedEndpoint(["x"], latency=0.05) as endpoint,
        connections(endpoint.url) as to,
        ThreadPoolExecutor(8) as pool,
    ):
        answers = list(pool.map(lambda _: to.ask("POST", "chat/completions", body, 9), range(40)))
    assert [answer.status for answer in answers] == [200] * 40


def test_calls_at_once_share_few_connections_each_and_later_ones_reuse_them() -> None:
    with (
        ScriptedEndpoint(["a"], latency=0.05) as endpoint,
        connections(endpoint.url) as to,
        ThreadPoolExecutor(CALLS_EACH * 3) as threads,
    ):
        opened = []
        for _ in range(2):
            calls = [
                threads.submit(to.ask, "POST", "chat/completions", b'{"messages": []}', 9)
                for _ in range(CALLS_EACH * 3)
            ]
            assert {call.result().status for call in calls} == {200}
            pools = [client._transport._pool for client in to._running]  # type: ignore[attr-defined]
            opened.append({id(its) for pool in pools for its in pool.connections})
            assert max(len(pool.connections) for pool in pools) <= CALLS_EACH
    assert opened[1] <= opened[0]


def test_a_call_after_the_end_or_cut_by_it_is_a_fault() -> None:
    with ScriptedEndpoint(["x"], latency=30) as endpoint:
        calls = HttpCalls(endpoint.url, {})
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(calls.ask, "POST", "chat/completions", b'{"messages": []}', 60)
            while not endpoint.requests:
                time.sleep(0.01)
            calls.close()
            assert waiting.result(5).fault == "closed"
        assert calls.ask("GET", "models", None, 5).fault == "closed"
        calls.close()


def test_the_log_of_the_library_holds_no_secret_of_the_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    with (
        serving(OK) as server,
        connections(f"http://me:s3cret@127.0.0.1:{server.port}/v1?key=s3cret") as to,
    ):
        assert to.ask("GET", "models", None, 5).status == 200
        assert "s3cret" not in repr(to)
    assert "key=s3cret" in server.heads[0]
    assert "HTTP Request" in caplog.text
    assert "s3cret" not in caplog.text
