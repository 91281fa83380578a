"""Spelling: the same answer in other signs: timestamps, order of members, white space, escapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp, parse_timestamp
from hosting_emulator.variation.drawing import Draws
from hosting_emulator.variation.shapes import Found

#: Suffix, minutes east of UTC, digits of the fraction. None: as few as say it all.
_FORMS: tuple[tuple[str, int, int | None], ...] = (
    ("Z", 0, None),
    ("Z", 0, 6),
    ("+00:00", 0, 3),
    ("+00:00", 0, 6),
    ("+00:00", 0, None),
    ("+02:00", 120, 3),
    ("-05:30", -330, 6),
    ("+02:00", 120, None),
)
_DAY_MS = 86_400_000


def vary_times(draws: Draws, found: list[Found]) -> None:
    """Spell all timestamps of an answer in one other form of the same moments."""
    if not draws.wants("timestamp-form"):
        return
    form = draws.pick("timestamp-form", _FORMS)
    for shape, _, members in found:
        for name in RESOURCES[shape].times:
            text = members.get(name)
            if isinstance(text, str) and (spelled := _spelled(text, *form)) != text:
                members[name] = spelled
                draws.note("timestamp-form")


def _spelled(text: str, suffix: str, minutes: int, digits: int | None) -> str:
    at_ms = parse_timestamp(text)
    if not _DAY_MS <= at_ms <= LATEST_MS - _DAY_MS:  # another zone may have no such year
        return text
    written = format_timestamp(at_ms + minutes * 60_000)[:-1]
    if digits is None and at_ms % 1000 == 0:
        return written[:-4] + suffix
    return written + "000" * (digits == 6) + suffix


def spell(draws: Draws, document: dict[str, Any]) -> bytes:
    """Write a document as JSON: as usual, or in another order and with other signs."""
    if draws.wants("key-order") and (turned := _turned(draws, document)) is not None:
        document = turned
        draws.note("key-order")
    body = msgspec.json.encode(document)
    if draws.wants("json-whitespace"):
        body = draws.pick("json-whitespace", _LAYOUTS)(document)
        draws.note("json-whitespace")
    if draws.wants("json-escapes"):
        escaped = _escaped(body)
        if escaped != body:
            draws.note("json-escapes")
        return escaped
    return body


def _turned(draws: Draws, document: dict[str, Any]) -> dict[str, Any] | None:
    """Return the document with its members in another order; None where there is only one."""
    turned: dict[str, Any] = _ordered(
        document, draws.pick("key-order", (_reversed, _sorted, _rotated))
    )
    return None if msgspec.json.encode(turned) == msgspec.json.encode(document) else turned


_Order = Callable[[list[str]], list[str]]


def _ordered(found: Any, order: _Order) -> Any:
    if isinstance(found, dict):
        return {name: _ordered(found[name], order) for name in order(list(found))}
    return [_ordered(item, order) for item in found] if isinstance(found, list) else found


def _reversed(names: list[str]) -> list[str]:
    return names[::-1]


def _sorted(names: list[str]) -> list[str]:
    return sorted(names)


def _rotated(names: list[str]) -> list[str]:
    return names[1:] + names[:1]


def _indented(document: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _spaced(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(" , ", " : ")).encode()


def _surrounded(document: Any) -> bytes:
    return b"\r\n\t" + msgspec.json.encode(document) + b" \r\n"


_LAYOUTS = (_indented, _spaced, _surrounded)


def _escaped(body: bytes) -> bytes:
    # Both stand in strings only, as a body of JSON goes.
    text = body.decode().replace("/", "\\/")
    return "".join(sign if sign < "\x80" else _escape(sign) for sign in text).encode()


def _escape(sign: str) -> str:
    return json.dumps(sign)[1:-1]
