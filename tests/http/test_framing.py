"""Bytes are divided into the same requests, whatever pieces they arrive in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosting_emulator.http.framing import LONGEST_LINE, RequestFraming

GET = b"GET /v1/x HTTP/1.1\r\nHost: h\r\n\r\n"
PUT = b"PUT /v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
#: A request whose body is the GET above.
AROUND = b"PUT /v1/x HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(GET)
HALF = GET[:9]
REST = GET[9:]
CHUNKED = b"PUT /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%s\r\n0\r\n\r\n" % (len(GET), GET)
PIECES = (GET, PUT, AROUND, AROUND + GET[:5], HALF, REST, CHUNKED, CHUNK, b"\r\n", b"x")


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_requests_are_cut_the_same_in_pieces_and_byte_by_byte(pieces: list[bytes]) -> None:
    # given a reader that receives whole pieces, and one that receives byte by byte
    by_piece = RequestFraming()
    by_byte = RequestFraming()

    whole_cuts = [cut for piece in pieces for cut in by_piece.feed(piece)]
    byte_cuts = [
        cut for piece in pieces for at in range(len(piece)) for cut in by_byte.feed(piece[at:][:1])
    ]

    # then both cut the same requests, unless one of them refused the bytes
    if by_piece.error is None and by_byte.error is None:
        assert b"".join(whole_cuts) == b"".join(byte_cuts)
        assert (by_piece.count, by_piece.is_partial, by_piece.in_body) == (
            by_byte.count,
            by_byte.is_partial,
            by_byte.in_body,
        )


def test_a_head_with_many_long_headers_is_refused_for_its_own_length() -> None:
    framing = RequestFraming()
    header = b"X-Long: %s\r\n" % (b"x" * 8000)

    framing.feed(b"GET /v1/x HTTP/1.1\r\n")
    for _ in range(33):
        framing.feed(header)

    assert framing.error == "The head of the request is longer than 262144 bytes."


def test_trailers_of_a_chunked_body_are_dropped() -> None:
    framing = RequestFraming()

    cuts = framing.feed(CHUNKED + b"1\r\nx\r\n0\r\nTrailer: y\r\n\r\n" + GET)

    assert b"".join(cuts) == CHUNKED + b"1\r\nx\r\n0\r\n\r\n" + GET
    assert (framing.count, framing.error) == (2, None)


def test_a_body_that_arrives_alone_is_not_taken_for_a_request() -> None:
    framing = RequestFraming()

    cuts = [framing.feed(piece) for piece in (PUT[:-4], b"\r\n\r\n", b"\r\n\r\n", GET)]

    assert cuts == [[PUT[:-4]], [b"\r\n\r\n"], [], [GET]]
    assert framing.count == 2


def test_a_body_equal_to_the_request_before_is_a_body() -> None:
    framing = RequestFraming()

    cuts = [framing.feed(piece) for piece in (GET, GET, AROUND, GET, GET)]

    assert cuts == [[GET], [GET], [AROUND], [GET], [GET]]
    assert framing.count == 4
    assert not framing.is_partial


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (b"Upgrade", b""),
        (b"upgrade,close", b"close"),
        (b"close , UPGRADE", b"close"),
        (b"keep-alive, Upgrade, HTTP2-Settings", b"keep-alive, HTTP2-Settings"),
        (b"Upgrade, upgrade", b""),
        (b"keep-alive, Upgrade2", b"keep-alive, Upgrade2"),
        (b"keep-alive", b"keep-alive"),
    ],
)
def test_the_option_to_upgrade_is_removed_from_a_connection_header(
    options: bytes, expected: bytes
) -> None:
    head = b"GET /v1/x HTTP/1.1\r\nHost: h\r\nConnection: %s\r\nUpgrade: h2c\r\n\r\n"

    assert RequestFraming().feed(head % options) == [head % expected]


def head(line: bytes = b"GET /v1/x HTTP/1.1", *headers: bytes) -> bytes:
    return b"".join(part + b"\r\n" for part in (line, *headers, b""))


NO_METHOD = "The request line has no HTTP method."
INVALID = "The request is not valid HTTP/1.1."
TOO_LONG = "A line or header of the request is longer than 8190 bytes."
BROKEN_BODY = "The request body does not have the length or the chunks that its headers announce."
PUT_LINE = b"PUT /v1/x HTTP/1.1"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (head(b"hello there"), NO_METHOD),
        (b"\x16\x03\x01", NO_METHOD),
        (b"\r\n" * 32 + GET, None),
        (b"\r\n" * 32 + b"\n" + GET, NO_METHOD),
        (head(b"GET /v1/x SPDY/3"), INVALID),
        (head(b"GET x HTTP/1.1"), INVALID),
        (head(b"OPTIONS * HTTP/1.1"), None),
        (head(b"GET http://h HTTP/1.1"), None),
        (
            head(b"CONNECT h:80 HTTP/1.1"),
            "The CONNECT method is not supported: this is not a proxy.",
        ),
        (b"GET /v1/x HTTP/1.1\nHost: h", INVALID),
        (b"G" * LONGEST_LINE, NO_METHOD),
        (b"GET /" + b"x" * (LONGEST_LINE - 5), None),
        (b"GET /" + b"x" * (LONGEST_LINE - 3), TOO_LONG),
        (b"GET / HTTP/1.1\r\nA: " + b"x" * (LONGEST_LINE - 3), None),
        (b"GET / HTTP/1.1\r\nA: " + b"x" * (LONGEST_LINE - 2), TOO_LONG),
        (head(b"GET /" + b"x" * (LONGEST_LINE - 5)), INVALID),
        (head(b"GET /" + b"x" * (LONGEST_LINE - 4)), TOO_LONG),
        (head(PUT_LINE, *[b"A: b"] * 128), None),
        (head(PUT_LINE, *[b"A: b"] * 129), "The request has more than 128 headers."),
        (head(b"PUT /v1/x HTTP/1.0", b"Transfer-Encoding: chunked"), INVALID),
        (head(PUT_LINE, b"Content-Length: 000" + b"1" * 19), None),
        (head(PUT_LINE, b"Content-Length: " + b"1" * 20), INVALID),
        (
            head(PUT_LINE, b"Content-Length: 0x11"),
            "The Content-Length '0x11' is not a number of bytes.",
        ),
        (CHUNKED + b"xyz\r\n", BROKEN_BODY),
        (CHUNKED + b"1\r\nxyz\r\n", BROKEN_BODY),
        (CHUNKED + b"1;" + b"x" * 1020, None),
        (CHUNKED + b"1;" + b"x" * 1022, BROKEN_BODY),
    ],
)
def test_the_refusal_of_malformed_bytes_says_what_is_wrong(data: bytes, error: str | None) -> None:
    framing = RequestFraming()

    framing.feed(data)

    assert framing.error == error


def test_a_body_in_chunks_is_partial_until_its_last_line() -> None:
    framing = RequestFraming()

    framing.feed(CHUNKED)
    assert (framing.in_body, framing.is_partial) == (True, True)
    framing.feed(CHUNK[:-2])
    assert (framing.in_body, framing.is_partial) == (True, True)
    framing.feed(CHUNK[-2:])
    assert (framing.in_body, framing.is_partial) == (False, False)
