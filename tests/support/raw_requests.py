"""Requests written out byte by byte, and answers taken apart."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.stage import Stage

BODY = b'{"enabled": true}'


@dataclass(frozen=True)
class Said:
    """One answer as it came over the wire."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def header(self, name: bytes) -> list[bytes]:
        return [value for known, value in self.headers if known.lower() == name]


def answers(data: bytes) -> list[Said]:
    """Take apart all that a server said; whatever is no HTTP fails."""
    found = []
    while data:
        head, end, data = data.partition(b"\r\n\r\n")
        assert end, f"half an answer: {head!r}"
        first, *lines = head.split(b"\r\n")
        version, status, _ = first.split(b" ", 2)
        assert version in (b"HTTP/1.1", b"HTTP/1.0"), first
        if int(status) == 100:
            continue
        pairs = [line.split(b": ", 1) for line in lines]
        headers = [(name, value) for name, value in pairs]
        lengths = [int(value) for name, value in headers if name.lower() == b"content-length"]
        assert len(lengths) <= 1, head
        length = lengths[0] if lengths else 0
        assert len(data) >= length, f"half a body: {head!r}"
        found.append(Said(int(status), headers, data[:length]))
        data = data[length:]
    return found


def statuses(data: bytes) -> list[int]:
    return [said.status for said in answers(data)]


@dataclass(frozen=True)
class Requests:
    """Requests that are fine, to be spoilt: a read, a write without its body, and a last one."""

    get: bytes
    put: bytes
    last: bytes

    @classmethod
    def of(cls, stage: Stage) -> Requests:
        line, _, rest = stage.request.removesuffix(b"\r\n\r\n").partition(b"\r\n")
        headers = rest.removesuffix(b"\r\nConnection: close")
        path = line.split(b" ")[1].rpartition(b"/")[0] + b"/powered-by-flag"
        put = b"PUT " + path + b" HTTP/1.1\r\n" + headers
        return cls(
            get=line + b"\r\n" + headers + b"\r\n\r\n",
            put=put + b"\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n",
            last=stage.request,
        )
