"""A response is read whole however its end is marked, and anything else is told apart."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from hosting_emulator.sdk.responses import Answer, NotHttp, read_answer


@dataclass
class Line:
    """Both ends of a connection."""

    near: socket.socket
    far: socket.socket

    def read(self, *parts: bytes, close: bool = False) -> tuple[Answer, bool]:
        for part in parts:
            self.far.sendall(part)
        if close:
            self.far.close()
        return read_answer(self.near)


@pytest.fixture
def line() -> Iterator[Line]:
    near, far = socket.socketpair()
    near.settimeout(5)
    with near, far:
        yield Line(near, far)


JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def test_body_by_its_length(line: Line):
    answer, keeps = line.read(JSON + b"content-length: 2\r\n\r\n{}")

    assert answer == Answer(200, "application/json", b"{}")
    assert keeps


def test_body_of_many_blocks(line: Line):
    body = b"x" * 100_000

    answer, keeps = line.read(JSON + b"Content-Length: 100000\r\n\r\n" + body)

    assert (answer.body, keeps) == (body, True)


def test_body_in_chunks_with_extension_and_trailer(line: Line):
    head = JSON + b"Transfer-Encoding: chunked\r\n\r\n"

    answer, keeps = line.read(
        head, b"4;a=b\r\n[1, \r\nA\r\n2, 3, 4, 5\r\n", b"1\r\n]\r\n0\r\nX: y\r\n\r\n"
    )

    assert (answer.body, keeps) == (b"[1, 2, 3, 4, 5]", True)


def test_body_up_to_the_end_of_the_line(line: Line):
    answer, keeps = line.read(JSON + b"\r\n", b"{}", close=True)

    assert (answer.body, keeps) == (b"{}", False)


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_answers_that_have_no_body(line: Line, status: bytes):
    answer, keeps = line.read(b"HTTP/1.1 " + status + b"\r\n\r\n")

    assert (answer.body, answer.content_type, keeps) == (b"", "", True)


def test_announcements_are_passed_over(line: Line):
    early = b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"

    answer, keeps = line.read(early + JSON + b"Content-Length: 0\r\n\r\n")

    assert (answer.status, keeps) == (200, True)


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}surplus",
    ],
    ids=["said", "old", "surplus"],
)
def test_connection_that_serves_no_other_request(line: Line, response: bytes):
    answer, keeps = line.read(response)

    assert (answer.body, keeps) == (b"{}", False)


@pytest.mark.parametrize(
    "response",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 " + b"x" * 70_000,
    ],
    ids=["greeting", "version", "status", "length", "negative", "chunk", "endless"],
)
def test_what_is_no_http(line: Line, response: bytes):
    with pytest.raises(NotHttp):
        line.read(response)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (b"", "before it answered"),
        (b"HTTP/1.1 200 OK\r\n", "in the middle of its answer"),
        (JSON + b"Content-Length: 10\r\n\r\n{}", "in the middle of its answer"),
        (JSON + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", "in the middle of its answer"),
    ],
    ids=["nothing", "head", "body", "chunk"],
)
def test_line_that_ends_too_early(line: Line, part: bytes, said: str):
    with pytest.raises(ConnectionError, match=said):
        line.read(part, close=True)
