"""Faults on the wire: exactly what each kind does on the connection on which a response is sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import convert

from hosting_emulator.faults.kinds import fault_kinds

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
