"""Writes documents as JSON, varying the order of members, the whitespace and the escapes.

A service writes all of its documents in the same way, so each choice is drawn once per world.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from hosting_emulator.variation.draws import Draws

_Order: TypeAlias = Callable[[list[str]], list[str]]

#: The odds that a world varies one of these aspects.
_OFTEN = (2, 3)


def spell(draws: Draws, document: dict[str, Any]) -> bytes:
    """Return a document as JSON, possibly with reordered members, different whitespace, or escapes."""
    body = msgspec.json.encode(document)
    if draws.wants("key-order", odds=_OFTEN):
        document = _reorder(document, _order(draws))
        reordered = msgspec.json.encode(document)
        if reordered != body:
            body = reordered
            draws.varied.add("key-order")
    if draws.takes("json-whitespace", odds=_OFTEN):
        body = draws.pick("json-whitespace", LAYOUTS)(document)
    if draws.wants("json-escapes", odds=_OFTEN):
        escape = draws.pick("json-escapes", ESCAPES)
        escaped = _escape_strings(body.decode(), escape).encode()
        if escaped != body:
            draws.varied.add("json-escapes")
        return escaped
    return body


# --- Order -----------------------------------------------------------------------------------------


def _order(draws: Draws) -> _Order:
    """Draw the order in which all objects list their members."""
    orders: tuple[_Order, ...] = (
        lambda names: names[::-1],
        sorted,
        lambda names: sorted(names, key=lambda name: draws.rank("key-order", name)),
        lambda names: names[1:] + names[:1],
        lambda names: sorted(names, key=len),
    )
    return draws.pick("key-order", orders)


def _reorder(value: Any, order: _Order) -> Any:
    if isinstance(value, dict):
        return {name: _reorder(value[name], order) for name in order(list(value))}
    if isinstance(value, list):
        return [_reorder(item, order) for item in value]
    return value


# --- Whitespace --------------------------------------------------------------------------------------


def _indented(document: Any, indent: int | str) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=indent).encode()


def _spaced(document: Any, between: str, after_name: str) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(between, after_name)).encode()


#: Functions that write a document with whitespace where JSON allows it.
LAYOUTS: tuple[Callable[[Any], bytes], ...] = (
    lambda document: _indented(document, 2) + b"\n",
    lambda document: _spaced(document, " , ", " : "),
    lambda document: b"\r\n\t" + msgspec.json.encode(document) + b" \r\n",
    lambda document: msgspec.json.encode(document) + b"\n",
    lambda document: _spaced(document, ", ", ": "),
    lambda document: _indented(document, "\t").replace(b"\n", b"\r\n"),
    lambda document: b" " * 2000 + _spaced(document, ",\r", ":\t") + b"\n" * 20,
    lambda document: _indented(document, 0),
)

# --- Escapes -----------------------------------------------------------------------------------------

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _escape_strings(text: str, escape: Callable[[str], str]) -> str:
    """Return JSON with each character in names and strings replaced by the result of `escape`."""
    return _STRING.sub(
        lambda match: f'"{"".join(escape(character) for character in json.loads(match[0]))}"', text
    )


def _plain(character: str) -> str:
    """Return a character as JSON text, escaped only if JSON requires it."""
    return json.dumps(character, ensure_ascii=False)[1:-1]


def _coded(character: str) -> str:
    r"""Return a character as `\u` and four hexadecimal digits, or as two such codes if it needs a
    surrogate pair.
    """
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _escape_slashes(character: str) -> str:
    if character == "/":
        return "\\/"
    return _plain(character)


def _escape_wide(character: str) -> str:
    if character > "\x7e":
        return _coded(character)
    return _plain(character)


def _escape_both(character: str) -> str:
    if character == "/":
        return "\\/"
    return _escape_wide(character)


def _escape_markup(character: str) -> str:
    if character in "<>&'=":
        return _coded(character).upper().replace("\\U", "\\u")
    return _plain(character)


#: Functions that write a single character of a string. They escape what libraries escape by default.
#: No common library escapes the digits, hyphens and colons of a timestamp, and Go cannot read a
#: timestamp with escapes.
ESCAPES: tuple[Callable[[str], str], ...] = (
    _escape_both,
    _escape_slashes,
    _escape_markup,
    _escape_wide,
)
