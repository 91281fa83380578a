"""Reads JSON that a client sent: strictly, and with one clear reason if it is not JSON.

Stricter than `json.loads` where leniency would hide a client's mistake: NaN, duplicate names, lone
surrogates and numbers that would become infinite are refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isinf
from typing import Any, NoReturn

#: How half of a surrogate pair can be written. Most texts have none, and need no closer look.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
#: No request and no exported state is nested deeper than a few levels.
DEEPEST = 64


class JsonRefused(ValueError):
    """The bytes are not one JSON text; the message says where and why."""


def read_json(body: bytes) -> Any:
    """Parse a request body (RFC 8259, UTF-8). Raises JsonRefused."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonRefused(f"is not UTF-8 (byte {error.start})") from None
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise JsonRefused(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise JsonRefused("is nested too deeply") from None
    except JsonRefused:
        raise
    except ValueError:
        raise JsonRefused("holds a number with too many digits") from None
    if text.count("[") + text.count("{") > DEEPEST:
        _check_depth(value)
    if _SURROGATE.search(text) and _has_surrogate(value):
        raise JsonRefused("holds half of a surrogate pair, which is no character")
    return value


def _check_depth(value: Any) -> None:
    """Raise JsonRefused for a value so deep that walking it by recursion could fail."""
    level = [value]
    for _ in range(DEEPEST):
        next_level = []
        for container in level:
            values = container.values() if isinstance(container, dict) else container
            next_level += [value for value in values if isinstance(value, dict | list)]
        level = next_level
        if not level:
            return
    raise JsonRefused(f"is nested more than {DEEPEST} deep")


def _has_surrogate(document: Any) -> bool:
    """Return whether a text has half of a surrogate pair. In Python, so that other threads can run."""
    ahead = [document]
    while ahead:
        value = ahead.pop()
        if isinstance(value, dict):
            ahead += value
            ahead += value.values()
        elif isinstance(value, list):
            ahead += value
        elif isinstance(value, str) and not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                return True
    return False


def _no_constant(name: str) -> NoReturn:
    raise JsonRefused(f"is not JSON: {name} is not a JSON number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise JsonRefused(f"names {twice[:60]!r} twice in one object")
    return members


def _finite(text: str) -> int | float:
    number = float(text)
    if isinf(number):
        raise JsonRefused("holds a number that is too large")
    # JSON has one kind of number: to JSON Schema too, `1.0` is the integer 1.
    return int(number) if number.is_integer() else number


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_no_duplicates
)
