"""The request log: what was asked, what was answered and why. A ring of cheap records.

It keeps no bodies and no secrets.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from hosting_emulator.contract.timestamps import format_timestamp

CAPACITY = 1000


@dataclass(slots=True)
class Entry:
    """One exchange. `why` is the trail of decisions, in order; `took_ns` is real time in the core."""

    n: int
    at_ms: int
    method: str
    path: str
    call: str | None
    principal: str | None
    status: int
    code: str | None
    why: list[str]
    took_ns: int


class RequestLog:
    """The last exchanges of one world."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=CAPACITY)
        self.count = 0

    def add(self, entry: Entry) -> None:
        """Keep an exchange; the oldest goes when the ring is full."""
        self._entries.append(entry)

    def next_number(self) -> int:
        """Count a request and return its number, from 1."""
        self.count += 1
        return self.count

    def take_back(self) -> None:
        """Uncount the last number: its request will come again."""
        self.count -= 1

    def clear(self) -> None:
        """Forget everything and count from 1 again."""
        self._entries.clear()
        self.count = 0

    def view(self, limit: int) -> list[dict[str, Any]]:
        """Return the last `limit` exchanges, newest first."""
        newest = list(self._entries)[::-1][:limit]
        return [
            {
                "n": entry.n,
                "at": format_timestamp(entry.at_ms),
                "method": entry.method,
                "path": entry.path.encode("utf-8", "backslashreplace").decode(),
                "call": entry.call,
                "principal": entry.principal,
                "status": entry.status,
                "code": entry.code,
                "why": entry.why,
                "duration_us": round(entry.took_ns / 1000, 1),
            }
            for entry in newest
        ]
