"""The time for a head is proportional to its length, even if the head is made to be slow.

A regular expression that is tried at each character, or that backtracks, would delay all other
requests for seconds.
"""

from __future__ import annotations

from hosting_emulator.http.framing import INVALID, RequestFraming
from tests.support.processor_time import linear_time


def test_an_invalid_request_line_is_refused_in_linear_time():
    framing = RequestFraming()

    with linear_time():
        framing.feed(b"GET x?" + b"a" * 80_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")

    assert framing.error == INVALID


def test_a_content_length_of_many_zeros_is_refused_in_linear_time():
    head = b"GET /x HTTP/1.1\r\n" + (b"Content-Length: " + b"0" * 8_000 + b"x\r\n") * 20
    framing = RequestFraming()

    with linear_time():
        assert not framing.feed(head + b"\r\n")

    assert framing.error is not None
    assert "Content-Length" in framing.error
    assert len(framing.error) < 200
