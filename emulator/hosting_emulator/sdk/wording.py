"""How the handle words and lays out what it shows, the same in assertions and in reports."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{22}([0-9A-HJKMNP-TV-Z]{4})")
_CUT = r"…\1"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows as lines whose columns begin below each other, two spaces apart.

    The last cell of a row is as long as it is. Rows may differ in length.
    """
    widths: dict[int, int] = {}
    for row in rows:
        for place, cell in enumerate(row[:-1]):
            widths[place] = max(widths.get(place, 0), len(cell))
    return [
        "  ".join(
            cell if place == len(row) - 1 else cell.ljust(widths[place])
            for place, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]


def counted(count: int, thing: str) -> str:
    """Say how many things there are: `1 request`, `2 requests`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def asked(method: str, call: str | None, path: str) -> str:
    """Say what was asked: the call, or for none the path, its ids cut to their ends."""
    return f"{method:<4} {call or _ULID.sub(_CUT, path)}"


def answered(status: int, code: str | None, lost: str | None, replayed: bool) -> str:
    """Say what came back: `409 idempotency_key_reused`, `202 replayed`, `lost (timeout)`."""
    parts = [
        str(status) if status else "",
        code or "",
        "replayed" if replayed else "",
        f"lost ({lost})" if lost else "",
    ]
    return " ".join(part for part in parts if part) or "no answer"


def one_line(text: str, longest: int) -> str:
    """Return text on one line, cut to so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
