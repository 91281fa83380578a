"""Text that was made to be slow: what a client sends costs time in proportion to its length.

An expression that is tried at each place of a long text, or that tries again wherever it fails, holds
everybody else's requests for seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from hosting_emulator.conduct.watch import watch_of
from hosting_emulator.faults.decisions import fits
from hosting_emulator.server.framing import INVALID, RequestFraming
from tests.support.in_process import InProcess, fresh_world

#: In seconds of this process: what is linear takes a hundredth of it, what is not a hundred times it.
ENOUGH_S = 1.0


def invalid_line() -> None:
    framing = RequestFraming()
    framing.feed(b"GET x?" + b"a" * 80_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    assert framing.wrong == INVALID


def zeros_of_a_length() -> None:
    head = b"GET /x HTTP/1.1\r\n" + (b"Content-Length: " + b"0" * 8_000 + b"x\r\n") * 20
    framing = RequestFraming()
    assert not framing.feed(head + b"\r\n")
    assert framing.wrong is not None
    assert "Content-Length" in framing.wrong
    assert len(framing.wrong) < 200


def many_stars() -> None:
    assert not fits("/" + "a" * 250, "/*" + "a*" * 4 + "b")
    assert fits("/" + "a" * 250 + "b", "/*" + "a*" * 4 + "b")


def beginnings_of_tokens_in_a_referer() -> None:
    api = InProcess(fresh_world())
    watch = watch_of(api.engine)
    for _ in range(20):
        api.send("GET", "/v1/nothing", [("Referer", "eyJa-" * 4_000)])
    watch.look()


@pytest.mark.parametrize(
    "work",
    [invalid_line, zeros_of_a_length, many_stars, beginnings_of_tokens_in_a_referer],
    ids=lambda f: f.__name__,
)
def test_a_long_text_is_read_in_time(work: Callable[[], None]):
    began = time.process_time()

    work()

    assert time.process_time() - began < ENOUGH_S
