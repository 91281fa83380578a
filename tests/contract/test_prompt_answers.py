"""Prompt answers: the shortcut on an idle connection says, byte for byte, what the ordinary way says."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from hosting_emulator.server import prompt, public
from tests.conftest import Api


class Connection:
    """A raw connection that reads one answer at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._left = b""

    def send(self, data: bytes) -> None:
        self._sock.sendall(data)

    def answer(self) -> tuple[bytes, bytes]:
        """Return head and body of the next answer; its Date is left out."""
        while b"\r\n\r\n" not in self._left:
            self._read()
        head, _, self._left = self._left.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Date:")]
        length = next(int(line[15:]) for line in lines if line.startswith(b"Content-Length:"))
        while len(self._left) < length:
            self._read()
        body, self._left = self._left[:length], self._left[length:]
        return b"\r\n".join(lines), body

    def ask(self, data: bytes) -> tuple[bytes, bytes]:
        self.send(data)
        return self.answer()

    def _read(self) -> None:
        found = self._sock.recv(65536)
        if not found:
            raise ConnectionError("closed")
        self._left += found


@contextmanager
def connected(api: Api) -> Iterator[Connection]:
    parts = urlsplit(api.emulator.base_url)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as sock:
        yield Connection(sock)


def request(api: Api, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
    prefix = urlsplit(api.emulator.base_url).path
    named = {"Host": "emulator.localhost", **api.emulator.headers(), **headers}
    if body:
        named |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
    return f"{method} {prefix}{path} HTTP/1.1\r\n{lines}\r\n".encode() + body


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are answered promptly."""
    found: list[str] = []
    before = public.answer_promptly

    def answer(whole: prompt.Whole, *args: Any) -> bytes:
        found.append(whole.message.path)
        return before(whole, *args)

    monkeypatch.setattr(public, "answer_promptly", answer)
    return found


def test_this_aiohttp_has_the_names_it_needs():
    assert prompt.AVAILABLE


def test_a_prompt_answer_is_the_same(api: Api, counted: list[str], monkeypatch: pytest.MonkeyPatch):
    deployments = request(api, "GET", api.project_path("deployments?limit=3"))

    with connected(api) as connection:
        with monkeypatch.context() as patched:
            patched.setattr(prompt, "AVAILABLE", False)
            ordinary = connection.ask(deployments)
            assert counted == []
        found = connection.ask(deployments)

    assert len(counted) == 1
    assert found == ordinary


def test_a_body_comes_along(api: Api, counted: list[str]):
    path = api.project_path("powered-by-flag")
    with connected(api) as connection:
        put = request(api, "PUT", path, b'{"enabled": false}', Idempotency_Key="flag-1")
        head, body = connection.ask(put)
        assert (head[:15], len(counted)) == (b"HTTP/1.1 200 OK", 1)
        assert connection.ask(put) == (head, body)

        refused, problem = connection.ask(request(api, "PUT", path, b"{", Idempotency_Key="two"))
    assert refused[:12] == b"HTTP/1.1 400"
    assert b"/_emulator/docs/errors/invalid-request" in problem
    assert b"http://emulator.localhost/" in problem
    assert len(counted) == 3


def test_what_is_not_whole_or_not_alone_goes_the_ordinary_way(api: Api, counted: list[str]):
    get = request(api, "GET", api.project_path("edge-dns"))
    put = request(
        api, "PUT", api.project_path("powered-by-flag"), b'{"enabled": true}', Idempotency_Key="a"
    )
    with connected(api) as connection:
        first = connection.ask(get)
        assert len(counted) == 1
        connection.send(put[:-5])
        connection.send(put[-5:])
        assert b'"enabled":true' in connection.answer()[1]
        connection.send(get * 3)
        assert [connection.answer() for _ in range(3)] == [first] * 3
        head, _ = connection.ask(get.replace(b"HTTP/1.1", b"HTTP/1.0"))
        assert b"Connection: close" in head or head.startswith(b"HTTP/1.0")


def test_faults_are_not_passed_by(api: Api, counted: list[str]):
    get = request(api, "GET", api.project_path("edge-dns"))
    with connected(api) as connection:
        connection.ask(get)
        with api.emulator.fault("abort", code="rate_limited"):
            assert connection.ask(get)[0].startswith(b"HTTP/1.1 429")
            assert len(counted) == 1
        assert connection.ask(get)[0].startswith(b"HTTP/1.1 200")
        assert len(counted) == 2


def test_other_paths_are_not_the_public_apis(api: Api, counted: list[str]):
    get = request(api, "GET", api.project_path("edge-dns"))
    health = b"GET /_emulator/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with connected(api) as connection:
        connection.ask(get)
        assert connection.ask(health)[0].startswith(b"HTTP/1.1 200")
    assert [path for path in counted if "health" in path] == []


def test_a_failure_of_ours_is_answered_and_said(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    from hosting_emulator.engine.engine import Engine

    get = request(api, "GET", api.project_path("edge-dns"))
    with connected(api) as connection:
        fine = connection.ask(get)

        def broken(*_: object) -> None:
            raise RuntimeError("a bug")

        with monkeypatch.context() as patched:
            patched.setattr(Engine, "exchange", broken)
            head, body = connection.ask(get)
        assert head.startswith(b"HTTP/1.1 503")
        assert b"The emulator failed" in body
        assert connection.ask(get) == fine
    assert "an answer could not be made" in caplog.text
