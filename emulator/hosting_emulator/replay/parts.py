"""What the readers of records share: who asked, what was cut out, and where something is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hosting_emulator.replay.names import CUT
from hosting_emulator.replay.record import Headers, RecordRefused, Who

REDEEM = "redeem_ticket"
NOT_KEPT = "of its body only a part was kept"
#: Headers that a replay fills itself, or does not send.
_REPLACED = ("authorization", "cookie", "x-control-token")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def read_who(told: Any, alias: str | None) -> Who | None:
    """Read who asked, as our archives tell it beside a person's `alias`; None: they do not."""
    if not isinstance(told, Mapping):
        return None
    permissions = told.get("permissions")
    return Who(
        a_text(told["person"]),
        maybe_text(alias),
        maybe_text(told.get("organization")),
        bool(told.get("interactive")),
        maybe_text(told.get("api_key")),
        None if permissions is None else tuple(map(a_text, permissions)),
    )


def a_text(value: Any) -> str:
    """Return a value that must be a text. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} stands where a text must be")
    return value


def maybe_text(value: Any) -> str | None:
    """Return a value that must be a text, or None. Raises TypeError."""
    return None if value is None else a_text(value)


def a_number(value: Any) -> int:
    """Return a value that must be a whole number. Raises TypeError."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r:.60} stands where a whole number must be")
    return value


def why_not_sent(method: str, target: str, headers: Headers, body: bytes | None) -> str | None:
    """Say why a request cannot be sent as it was: a secret was cut out of it, or it is no request."""
    if CUT in target:
        return "a secret was cut out of its address"
    if not _TOKEN.fullmatch(method):
        return "its method is none that can be sent"
    if not target.isascii() or not target.isprintable() or " " in target:
        return "its address is none that can be sent"
    for name, value in headers:
        if CUT in value and name.lower() not in _REPLACED:
            return f"what looks like a secret was cut out of its header {name}"
        if not _TOKEN.fullmatch(name.removeprefix(":")) or _CONTROL.search(value):
            return "one of its headers is none that can be sent"
    return "a secret was cut out of its body" if body and CUT.encode() in body else None


class At:
    """Turns whatever is missing or of the wrong kind in one entry into one clear line."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecordRefused):
            return
        if isinstance(error, KeyError):
            raise RecordRefused(f"{self._place}: {error.args[0]} is missing") from error
        if isinstance(error, TypeError | ValueError | AttributeError):
            raise RecordRefused(f"{self._place} cannot be read: {error}") from error
