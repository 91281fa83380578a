"""Malformed HTTP gets a problem or a closed connection, and changes nothing."""

from __future__ import annotations

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import check_problem, expect_problem
from tests.support.wire import Wire, wire

BROKEN = {
    "no request line": b"\r\n\r\nhello\r\n\r\n",
    "words": b"hello there\r\n\r\n",
    "bytes": bytes(range(128, 256)) + b"\r\n\r\n",
    "no version": b"GET /v1/x\r\n\r\n",
    "an unknown version": b"GET /v1/x HTTP/9.9\r\nHost: x\r\n\r\n",
    "another protocol": b"GET /v1/x SPDY/3\r\nHost: x\r\n\r\n",
    "a method in lower case": b"get /v1/x HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method nobody knows": b"BREW /v1/x HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method with a slash": b"G/T /v1/x HTTP/1.1\r\nHost: x\r\n\r\n",
    "a space in the path": b"GET /v1/x y HTTP/1.1\r\nHost: x\r\n\r\n",
    "a header without a colon": b"GET /v1/x HTTP/1.1\r\nHost: x\r\nBroken\r\n\r\n",
    "a header without a name": b"GET /v1/x HTTP/1.1\r\nHost: x\r\n: broken\r\n\r\n",
    "a space before the colon": b"GET /v1/x HTTP/1.1\r\nHost : x\r\n\r\n",
    "a folded header": b"GET /v1/x HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    "a zero byte in a header": b"GET /v1/x HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n",
    "a header name that is no token": b"GET /v1/x HTTP/1.1\r\nHost: x\r\nA(b): c\r\n\r\n",
    "a very long path": b"GET /v1/" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "a very long header": b"GET /v1/x HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 20_000 + b"\r\n\r\n",
    "two lengths": b"PUT /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
    b"Content-Length: 2\r\n\r\nab",
    "a length that is no number": b"PUT /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n",
    "a negative length": b"PUT /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "a length with a sign": b"PUT /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na",
    "a length and chunks": b"PUT /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown encoding": b"PUT /v1/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: magic\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
}


@pytest.mark.parametrize("name", BROKEN)
def test_malformed_http_gets_a_problem_and_changes_nothing(api: CheckedWorld, name: str) -> None:
    before = api.state()
    with wire(api.emulator.base_url) as connection:
        connection.send(BROKEN[name])

        response = connection.read_response()

    document = check_problem(response)
    assert response.status in (
        400,
        404,
    )  # 404: the parser accepts some of these targets, and no resource has such a path.
    assert document["code"] == {400: "invalid_request", 404: "resource_not_found"}[response.status]
    assert api.state() == before


@pytest.mark.parametrize("length", ["+17", "-1", "1_0", "0x11", "17, 17", "17;", "", "1 7"])
def test_the_problem_names_a_content_length_that_is_not_a_number(
    api: CheckedWorld, length: str
) -> None:
    head = f"PUT /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
    with wire(api.emulator.base_url) as connection:
        connection.send(head.encode() + b'{"enabled": true}')

        document = check_problem(connection.read_response())

    assert "Content-Length" in document["detail"]
    assert "method" not in document["detail"]


@pytest.mark.parametrize("data", [b"", b"\r\n", b"GET", b"GET /v1/x HTTP/1.1\r\nHost: x\r\n"])
def test_a_client_that_disconnects_within_a_request_changes_nothing(
    api: CheckedWorld, data: bytes
) -> None:
    before = api.state()
    with wire(api.emulator.base_url) as connection:
        connection.send(data)

    assert api.state() == before


def test_requests_are_answered_after_malformed_http(api: CheckedWorld) -> None:
    for data in BROKEN.values():
        with wire(api.emulator.base_url) as connection:
            connection.send(data)

    assert api.dns().status == 200


# --- Bodies in chunks -------------------------------------------------------------------------------

GOOD = b'{"enabled": true}'


def put(
    connection: Wire,
    api: CheckedWorld,
    *more_headers: tuple[str, str],
    path: str = "powered-by-flag",
) -> None:
    """Send the head of a call whose body follows later."""
    headers = [
        ("Authorization", f"Bearer {api.emulator.token()}"),
        ("Idempotency-Key", "k"),
        ("Content-Type", "application/json"),
        *more_headers,
    ]
    connection.send_request("PUT", api.project_path(path), headers, length=-1)


CHUNKED = ("Transfer-Encoding", "chunked")


@pytest.mark.parametrize(
    "chunks",
    [
        b"11\r\n" + GOOD + b"\r\n0\r\n\r\n",
        b"5\r\n" + GOOD[:5] + b"\r\nC\r\n" + GOOD[5:] + b"\r\n0\r\n\r\n",
        b"11;name=value\r\n" + GOOD + b"\r\n0\r\n\r\n",
        b"11\r\n" + GOOD + b"\r\n0\r\nTrailer: x\r\n\r\n",
    ],
    ids=["one", "two", "with an extension", "with a trailer"],
)
def test_a_body_may_come_in_chunks(api: CheckedWorld, chunks: bytes) -> None:
    with wire(api.emulator.base_url) as connection:
        put(connection, api, CHUNKED)
        connection.send(chunks)

        assert connection.read_response().status == 200


@pytest.mark.parametrize(
    "chunks",
    [
        b"xyz\r\n" + GOOD + b"\r\n0\r\n\r\n",
        b"-1\r\n" + GOOD + b"\r\n0\r\n\r\n",
        b"2\r\n" + GOOD + b"\r\n0\r\n\r\n",
        b"11\r\n" + GOOD + b"XX0\r\n\r\n",
        b"\r\n\r\n",
        b"FFFFFFFFFFFFFFFFFFFF\r\n" + GOOD,
        b"0x11\r\n" + GOOD + b"\r\n0\r\n\r\n",
    ],
    ids=["not a number", "negative", "too short", "no line end", "empty", "endless", "with 0x"],
)
@pytest.mark.parametrize("path", ["powered-by-flag", "domains"])
@pytest.mark.parametrize("delayed", [False, True], ids=["at once", "later"])
def test_bad_chunks_are_refused(api: CheckedWorld, chunks: bytes, path: str, delayed: bool) -> None:
    """This holds even where the body would be ignored, and the server does not wait for its end."""
    before = api.state()
    with wire(api.emulator.base_url) as connection:
        put(connection, api, CHUNKED, path=path)
        for _ in range(10 if delayed else 0):
            api.emulator.control.health()  # Meanwhile the server starts to wait for the body.
        connection.send(chunks)

        expect_problem(connection.read_response(), 400, "invalid_request")
        assert connection.is_closed_by_server()

    assert api.state() == before


@pytest.mark.parametrize(
    ("more_headers", "part"),
    [
        ((CHUNKED,), b"11\r\n" + GOOD + b"\r\n"),
        ((CHUNKED,), b"11\r\n" + GOOD[:5]),
        ((("Content-Length", "18"),), GOOD),
        ((("Content-Length", "17"),), GOOD[:-1]),
    ],
    ids=["no last chunk", "half a chunk", "one byte short", "cut"],
)
def test_a_body_that_never_ends_changes_nothing(
    api: CheckedWorld, more_headers: tuple[tuple[str, str], ...], part: bytes
) -> None:
    before = api.state()
    with wire(api.emulator.base_url) as connection:
        put(connection, api, *more_headers)
        connection.send(part)

    # After this client has left, the emulator still serves others.
    assert api.dns().status == 200
    assert api.state() == before


def test_a_body_shorter_than_announced_leaves_the_next_request_alone(api: CheckedWorld) -> None:
    """Bytes after the announced length belong to the next request."""
    with wire(api.emulator.base_url) as connection:
        put(connection, api, ("Content-Length", str(len(GOOD))))
        connection.send(GOOD + b"GET /v1/second HTTP/1.1\r\nHost: x\r\n\r\n")

        first = connection.read_response()
        second = connection.read_response()

    assert first.status == 200
    expect_problem(second, 401, "unauthenticated")


def test_requests_on_one_connection_are_answered_in_order(api: CheckedWorld) -> None:
    with wire(api.emulator.base_url) as connection:
        token = ("Authorization", f"Bearer {api.emulator.token()}")
        for path in ("edge-dns", "nothing", "deployments"):
            connection.send_request("GET", api.project_path(path), [token])

        responses: list[Response] = [connection.read_response() for _ in range(3)]

    assert [response.status for response in responses] == [200, 404, 200]


def test_a_client_may_expect_100_continue_before_its_body(api: CheckedWorld) -> None:
    with wire(api.emulator.base_url) as connection:
        put(connection, api, ("Expect", "100-continue"), ("Content-Length", str(len(GOOD))))
        connection.send(GOOD)

        assert connection.read_response().status == 200


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_connection_closes_when_the_client_requests_it(api: CheckedWorld, version: str) -> None:
    with wire(api.emulator.base_url) as connection:
        line = f"GET /v1/x HTTP/{version}\r\nHost: {connection.host}\r\nConnection: close\r\n\r\n"
        connection.send(line.encode())

        expect_problem(connection.read_response(), 401, "unauthenticated")
        assert connection.is_closed_by_server()
