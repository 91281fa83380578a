"""Faults on the wire: exactly what each kind does on the connection on which a response is sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import convert

from hosting_emulator.faults.kinds import PageResponse, fault_kinds
from hosting_emulator.faults.uploads import UploadLimits, upload_limits

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
BODY = b'{"a": "b"}'
EMPTY_HEAD = b"HTTP/1.1 204 No Content\r\n\r\n"
WHOLE = HEAD + BODY


@dataclass
class RecordedWire:
    """A connection that only records what a fault does, in the order in which it happens."""

    head: bytes
    body: bytes
    actions: list[Any] = field(default_factory=list)

    async def send(self, data: bytes) -> None:
        self.actions.append(data)

    async def end(self) -> None:
        self.actions.append("end")

    async def wait(self, within_s: float | None = None) -> None:
        self.actions.append("wait for the client" if within_s is None else within_s)

    async def wait_for_world_time(self, ms: int) -> None:
        self.actions.append(f"wait for {ms} ms of world time")

    def close(self) -> None:
        self.actions.append("close")

    def reset(self) -> None:
        self.actions.append("reset")

    def refuse(self, for_s: float) -> None:
        self.actions.append(f"refuse connections for {for_s} s")


def actions_of(kind: str, options: dict[str, Any], head: bytes, body: bytes) -> list[Any]:
    """Return what a fault does on a connection."""
    wire = RecordedWire(head, body)
    asyncio.run(convert(options, fault_kinds()[kind]).send(wire))
    return wire.actions


#: The beginning of what `malformed_response` sends instead of a body.
GARBAGE = b"\x00\xff\xfe<lkj!{[\x80"


@pytest.mark.parametrize(
    ("kind", "options", "actions"),
    [
        ("timeout", {}, ["wait for the client", "close"]),
        ("connection_reset", {}, ["reset"]),
        ("empty_response", {}, ["close"]),
        ("reset_in_upload", {}, ["reset"]),
        ("refuse_connections", {"for_ms": 1500}, ["refuse connections for 1.5 s", "reset"]),
        ("truncate", {"bytes": 3}, [WHOLE[:-7], "close"]),
        ("truncate", {"bytes": 9}, [WHOLE[:-1], "close"]),
        ("truncate", {"bytes": 10}, [WHOLE[:-1], "close"]),
        ("reset_in_body", {"bytes": 3}, [WHOLE[:-7], "reset"]),
        ("malformed_response", {}, [HEAD + GARBAGE[:10], "close"]),
        ("wrong_content_length", {"by": 5}, [WHOLE.replace(b"10", b"15"), "close"]),
        ("wrong_content_length", {"by": -10}, [WHOLE.replace(b"10", b"0"), "close"]),
        ("wrong_content_length", {"by": -11}, [WHOLE.replace(b"10", b"21"), "close"]),
        ("duplicate_response", {}, [WHOLE + WHOLE, "end"]),
        (
            "slow_response",
            {"bytes_per_second": 40},
            [HEAD, 0.1, BODY[:4], 0.1, BODY[4:8], 0.05, BODY[8:], "end"],
        ),
        (
            "sliced_response",
            {"bytes": 16, "pause_ms": 250},
            [WHOLE[:16], 0.25, WHOLE[16:32], 0.25, WHOLE[32:48], 0.25, WHOLE[48:], "end"],
        ),
        ("sliced_response", {"bytes": 49}, [WHOLE, "end"]),
        ("stalled_response", {"pause_ms": 2500}, [WHOLE[:-5], 2.5, WHOLE[-5:], "end"]),
        (
            "stalled_response",
            {"world_pause": "2s", "bytes": 3},
            [WHOLE[:-7], "wait for 2000 ms of world time", WHOLE[-7:], "end"],
        ),
        (
            "stalled_response",
            {"pause_ms": 1, "bytes": 10},
            [WHOLE[:-1], 0.001, WHOLE[-1:], "end"],
        ),
    ],
)
def test_a_fault_sends_exactly_these_bytes_with_these_pauses(
    kind: str, options: dict[str, Any], actions: list[Any]
):
    assert actions_of(kind, options, HEAD, BODY) == actions


@pytest.mark.parametrize(
    ("kind", "options", "actions"),
    [
        ("truncate", {"bytes": 3}, [b"HTTP/1.1", "close"]),
        ("reset_in_body", {"bytes": 3}, [b"HTTP/1.1", "reset"]),
        ("malformed_response", {}, [b"HTTP/1.1" + GARBAGE, "close"]),
        ("stalled_response", {"pause_ms": 1}, [b"HTTP/1.1", 0.001, EMPTY_HEAD[8:], "end"]),
    ],
)
def test_a_response_without_a_body_is_cut_in_its_first_line(
    kind: str, options: dict[str, Any], actions: list[Any]
):
    assert actions_of(kind, options, EMPTY_HEAD, b"") == actions


def test_a_slow_response_sends_at_least_one_byte_at_a_time():
    actions = actions_of("slow_response", {"bytes_per_second": 5}, HEAD, BODY[:2])

    assert actions == [HEAD, 0.2, BODY[:1], 0.2, BODY[1:2], "end"]


def test_slices_of_one_byte_have_a_pause_between_them():
    actions = actions_of("sliced_response", {"bytes": 1, "pause_ms": 20}, b"a", b"bc")

    assert actions == [b"a", 0.02, b"b", 0.02, b"c", "end"]


@pytest.mark.parametrize(
    ("kind", "options", "body_bytes", "late_ms"),
    [
        ("sliced_response", {"bytes": 4, "pause_ms": 50}, 0, 0),
        ("sliced_response", {"bytes": 4, "pause_ms": 50}, 4, 0),
        ("sliced_response", {"bytes": 4, "pause_ms": 50}, 5, 50),
        ("sliced_response", {"bytes": 4, "pause_ms": 50}, 9, 100),
        ("slow_response", {"bytes_per_second": 40}, 0, 0),
        ("slow_response", {"bytes_per_second": 40}, 10, 250),
        ("stalled_response", {"pause_ms": 2500}, 10, 2500),
        ("latency", {"delay_ms": 50}, 10, 0),
    ],
)
def test_sending_a_body_delays_a_response(
    kind: str, options: dict[str, Any], body_bytes: int, late_ms: int
):
    assert convert(options, fault_kinds()[kind]).late_ms(body_bytes) == late_ms


@pytest.mark.parametrize(
    ("options", "body_bytes", "deviation"),
    [
        ({"bytes": 9}, 10, None),
        (
            {"bytes": 10},
            10,
            "truncate bytes=10 would have sent the whole body, so 9 were sent",
        ),
        ({}, 10, None),
    ],
)
def test_a_truncated_response_says_if_it_has_fewer_bytes_than_requested(
    options: dict[str, Any], body_bytes: int, deviation: str | None
):
    assert convert(options, fault_kinds()["truncate"]).deviation(body_bytes) == deviation


GATEWAY_PAGE = (
    b"<html>\r\n"
    b"<head><title>502 Bad Gateway</title></head>\r\n"
    b"<body>\r\n"
    b"<center><h1>502 Bad Gateway</h1></center>\r\n"
    b"</body>\r\n"
    b"</html>\r\n"
)


@pytest.mark.parametrize(
    ("kind", "options", "page"),
    [
        ("gateway_error", {}, PageResponse(502, GATEWAY_PAGE, "text/html")),
        (
            "gateway_error",
            {"status": 503, "html": "<p>\ud800</p>"},
            PageResponse(503, b"<p>?</p>", "text/html"),
        ),
        (
            "respond",
            {"status": 418, "content": "short \ud800"},
            PageResponse(418, b"short ?", "text/plain; charset=utf-8"),
        ),
        ("respond", {"content": {"a": [1]}}, PageResponse(200, b'{"a": [1]}', "application/json")),
        (
            "respond",
            {"content": {}, "content_type": "application/problem+json"},
            PageResponse(200, b"{}", "application/problem+json"),
        ),
        (
            "respond",
            {
                "content": "<p>",
                "content_type": "text/plain",
                "headers": {"content-type": "text/html", "X-A": "1"},
            },
            PageResponse(200, b"<p>", "text/html", (("X-A", "1"),)),
        ),
    ],
)
def test_a_fault_replaces_a_response_with_its_page(
    kind: str, options: dict[str, Any], page: PageResponse
):
    assert convert(options, fault_kinds()[kind]).page() == page


@pytest.mark.parametrize(
    ("limits", "body_bytes", "bytes_to_read", "late_ms"),
    [
        (UploadLimits(), 10, 10, 0),
        (UploadLimits(bytes_per_second=4), 10, 10, 2500),
        (UploadLimits(most_bytes=3), 10, 3, 0),
        (UploadLimits(most_bytes=9), 10, 9, 0),
        (UploadLimits(most_bytes=10), 10, 9, 0),
        (UploadLimits(most_bytes=10), 0, 0, 0),
        (UploadLimits(bytes_per_second=4, most_bytes=3), 10, 3, 750),
    ],
)
def test_a_limited_upload_ends_before_its_last_byte_and_is_delayed(
    limits: UploadLimits, body_bytes: int, bytes_to_read: int, late_ms: int
):
    assert limits.bytes_to_read(body_bytes) == bytes_to_read
    assert limits.late_ms(body_bytes) == late_ms


def test_the_strictest_limits_of_several_faults_apply_to_an_upload():
    kinds = [
        convert({"bytes_per_second": 40}, fault_kinds()["slow_upload"]),
        convert({"bytes_per_second": 20}, fault_kinds()["slow_upload"]),
        convert({"bytes": 7}, fault_kinds()["reset_in_upload"]),
        convert({}, fault_kinds()["timeout"]),
    ]

    assert upload_limits(*kinds) == UploadLimits(20, 7)
    assert upload_limits(kinds[-1]) == UploadLimits()
