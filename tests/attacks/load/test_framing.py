"""The boundaries between requests: pipelines, request smuggling, other versions and protocols."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.doors.http.test_malformed_http import BROKEN
from tests.support.raw_requests import BODY, Requests
from tests.support.server_in_loop import ServerInLoop
from tests.support.wire import read_responses, read_statuses

LENGTH = b"Content-Length: %d\r\n\r\n" % len(BODY)


@pytest.mark.parametrize("name", BROKEN)
async def test_malformed_http_leaves_nothing_open(server: ServerInLoop, name: str):
    assert read_statuses(await server.send_pieces(BROKEN[name], end=True))[:1] in ([400], [404])


# --- pipelines ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 31, 32, 33, 100, 1_000])
async def test_many_requests_in_one_packet_are_answered_in_order(server: ServerInLoop, count: int):
    """The counts exceed the queue of aiohttp. Every third request is refused, to show the order."""
    requests = Requests.of(server)
    missing = requests.get.replace(b"/edge-dns", b"/nothing")
    packet = b"".join(missing if n % 3 == 0 else requests.get for n in range(count))

    statuses = read_statuses(await server.send_pieces(packet + requests.last))

    assert statuses == [404 if n % 3 == 0 else 200 for n in range(count)] + [200]


@pytest.mark.parametrize("before", [0, 1, 5, 31, 32, 33, 70])
@pytest.mark.parametrize("in_pieces", [False, True], ids=["in one packet", "one by one"])
async def test_a_malformed_request_ends_its_pipeline(
    server: ServerInLoop, before: int, in_pieces: bool
):
    requests = Requests.of(server)
    pieces = [requests.get] * before + [b"BAD\r\n\r\n", requests.get]

    statuses = read_statuses(
        await server.send_pieces(*(pieces if in_pieces else [b"".join(pieces)]))
    )

    assert statuses == [200] * before + [400]


async def test_writes_before_a_malformed_request_are_committed(server: ServerInLoop):
    requests = Requests.of(server)
    before = server.engine.world.commit

    statuses = read_statuses(
        await server.send_pieces(requests.put + LENGTH + BODY + b"garbage without an end\r\n")
    )

    assert statuses == [200, 400]
    assert server.engine.world.commit == before + 1


@pytest.mark.parametrize("size", [1, 7, 100])
async def test_a_pipeline_may_be_cut_anywhere(server: ServerInLoop, size: int):
    requests = Requests.of(server)
    packet = (requests.get + requests.put + LENGTH + BODY) * 3 + requests.last
    pieces = [packet[at : at + size] for at in range(0, len(packet), size)]

    assert read_statuses(await server.send_pieces(*pieces)) == [200] * 7


# --- which bytes belong to the body ---------------------------------------------------------------

HIDDEN = b"GET /v1/hidden HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 17\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 17\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: 17\r\nContent-Length: 0\r\n\r\n",
        b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
        b"Content-Length: 17, 17\r\n\r\n",
        b"Content-Length: 0x11\r\n\r\n",
        b"Content-Length: 1_7\r\n\r\n",
        b"Content-Length: 99999999999999999999999999\r\n\r\n",
        b"Content-Length: 18446744073709551615\r\n\r\n",
        b"Content-Length: -17\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"Content-Length: 17\n\r\n",
        b"Content-Length:\r\n 17\r\n\r\n",
        b"Content-Length: 17\rX: y\r\n\r\n",
    ],
)
async def test_a_doubtful_length_ends_the_connection(server: ServerInLoop, framing: bytes):
    """Two parsers could read different requests from such bytes, so the server ignores what follows."""
    before = server.engine.world
    requests = Requests.of(server)

    statuses = read_statuses(
        await server.send_pieces(requests.put + framing + HIDDEN + requests.get)
    )

    assert statuses == [400]
    assert server.engine.world is before


async def test_zeros_before_a_length_change_nothing(server: ServerInLoop):
    requests = Requests.of(server)
    zeros = b"Content-Length: 0000000000000000%d\r\n\r\n" % len(BODY)

    statuses = read_statuses(await server.send_pieces(requests.put + zeros + BODY + requests.last))

    assert statuses == [200, 200]


async def test_a_chunked_body_in_http_1_0_ends_the_connection(server: ServerInLoop):
    """A parser of HTTP/1.0 knows no chunks (RFC 9112, section 6.1)."""
    put = Requests.of(server).put.replace(b"HTTP/1.1", b"HTTP/1.0")
    chunked = b"Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

    assert read_statuses(await server.send_pieces(put + chunked + HIDDEN)) == [400]


@pytest.mark.parametrize(
    ("line", "body", "status"),
    [
        (b"Transfer-Encoding: gzip, chunked", BODY, 400),
        (b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked", BODY, 400),
        (b"Content-Encoding: deflate\r\nTransfer-Encoding: chunked", BODY, 400),
        (b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked", gzip.compress(BODY), 200),
        (
            b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked",
            gzip.compress(bytes(20_000_000), 1),
            400,  # Call 1 lists its statuses, and 413 is not among them.
        ),
        (b"Transfer-Encoding: chunked", b"x" * 2_000_000, 400),
    ],
    ids=["coded", "not gzip", "not deflate", "gzip", "a bomb", "too much"],
)
async def test_a_coded_body_is_read_or_refused(
    server: ServerInLoop, line: bytes, body: bytes, status: int
):
    packed = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)

    received = await server.send_pieces(
        Requests.of(server).put + line + b"\r\n\r\n" + packed, end=True
    )

    assert read_statuses(received) == [status]


@pytest.mark.parametrize("path", [b"/v1/x", b"/_emulator/docs", b"/_emulator/health"])
async def test_an_ignored_body_may_be_malformed(server: ServerInLoop, path: bytes):
    """The server discards the body after its response, so an error in the body is no failure."""
    host = b"Host: 127.0.0.1\r\n"
    head = b"GET " + path + b" HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n"

    statuses = read_statuses(await server.send_pieces(head, b"5\r\nhello\r\n", b"no chunk\r\n"))

    assert len(statuses) == 1
    assert statuses[0] in (200, 400, 401, 404)


# --- other versions and forms ---------------------------------------------------------------------


async def test_http_1_0_closes_the_connection_unless_keep_alive_is_requested(server: ServerInLoop):
    old = Requests.of(server).get.replace(b"HTTP/1.1", b"HTTP/1.0")
    stays = old[:-2] + b"Connection: keep-alive\r\n\r\n"

    assert read_statuses(await server.send_pieces(old)) == [200]
    assert read_statuses(await server.send_pieces(old + old)) == [200]
    assert read_statuses(await server.send_pieces(stays + stays + old)) == [200, 200, 200]


@pytest.mark.parametrize("status", [204, 304])
async def test_a_response_of_a_fault_without_content_has_no_length(
    server: ServerInLoop, status: int
):
    server.add_fault(respond={"status": status, "headers": {"content-type": "text/x"}}, times=1)
    requests = Requests.of(server)

    first, second = read_responses(await server.send_pieces(requests.get + requests.last))

    assert (first.status, second.status) == (status, 200)
    assert first.header("Content-Length") is None
    assert first.header("Content-Type") == "text/x"


async def test_http_2_gets_a_problem_in_http_1(server: ServerInLoop):
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"

    assert read_statuses(await server.send_pieces(preface)) == [400]


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"TLS/1.0", b"none"])
async def test_an_upgrade_is_ignored(server: ServerInLoop, protocol: bytes):
    requests = Requests.of(server)
    upgrade = requests.get[:-2] + b"Connection: Upgrade\r\nUpgrade: " + protocol + b"\r\n\r\n"

    assert read_statuses(await server.send_pieces(upgrade, requests.last)) == [200, 200]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (b"*", [400]),
        (b"example.org:443", [400]),
        (b"http://", [400, 404]),
        (b"http://[::1/v1/x", [400]),
        (b"http://x:99999/v1/x", [401]),
        (b"http://user:secret@127.0.0.1/v1/x", [401]),
        (b"//", [404]),
        (b"//[/v1/x", [404]),
        (b"/v1/%00%0d%0aX-Planted:%20yes", [401]),
        (b"/v1/x\nX-Planted:yes", [400]),
        (b"http://x/v1/x\nX-Planted:yes", [400]),
        (b"/v1/\t", [400]),
        (b"/v1/\xff\xfe", [400, 401]),
        (b"/v1/../../_emulator/worlds", [401]),
        (b"/_emulator/worlds/%2e%2e%2f%2e%2e", [404]),
        (b"/_emulator/worlds/%00/state", [404]),
        (b"/worlds/%2e%2e/v1/x", [404]),
        (b"/?" + b"&" * 8_000, [404]),
    ],
)
async def test_odd_request_targets_match_no_resource(
    server: ServerInLoop, target: bytes, expected: list[int]
):
    host = b"Host: 127.0.0.1\r\nConnection: close\r\n"
    responses = read_responses(
        await server.send_pieces(b"GET " + target + b" HTTP/1.1\r\n" + host + b"\r\n")
    )

    assert len(responses) == 1
    assert responses[0].status in expected
    assert not responses[0].header("X-Planted")


async def test_a_request_target_may_be_an_absolute_url(server: ServerInLoop):
    requests = Requests.of(server)
    absolute = requests.last.replace(b"GET /", b"GET http://127.0.0.1/", 1)

    assert read_statuses(await server.send_pieces(absolute)) == [200]


@pytest.mark.parametrize(
    "following_bytes", [b"", b"GET /v1/x HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03"]
)
@pytest.mark.parametrize("in_pieces", [False, True], ids=["in one packet", "one by one"])
async def test_connect_opens_no_tunnel(
    server: ServerInLoop, following_bytes: bytes, in_pieces: bool
):
    """The bytes after the CONNECT request are meant for another server."""
    requests = Requests.of(server)
    pieces = [
        requests.get,
        b"CONNECT example.org:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        following_bytes,
    ]

    statuses = read_statuses(
        await server.send_pieces(*(pieces if in_pieces else [b"".join(pieces)]))
    )

    assert statuses == [200, 400]


@pytest.mark.parametrize("value", [b"a%0d%0aX-Planted: yes", b"a\tb", b"\xc3\xa9", b"\xff", b""])
async def test_an_echoed_header_cannot_add_another_header(server: ServerInLoop, value: bytes):
    head = Requests.of(server).last.replace(
        b"\r\n\r\n", b"\r\nX-Request-Id: " + value + b"\r\n\r\n"
    )

    (response,) = read_responses(await server.send_pieces(head))

    assert response.status in (200, 400)
    assert not response.header("X-Planted")
    if response.status == 400:
        assert json.loads(response.body)["code"] == "invalid_request"


@pytest.mark.parametrize("count", [200, 5_000, 50_000])
async def test_too_many_headers_are_refused(server: ServerInLoop, count: int):
    head = b"GET /v1/x HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * count + b"\r\n"

    assert read_statuses(await server.send_pieces(head)) == [400]


async def test_a_header_without_end_is_refused_before_it_is_long(server: ServerInLoop):
    endless = b"GET /v1/x HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 20_000

    assert read_statuses(await server.send_pieces(endless)) == [400]
