"""Parses JSON from a client strictly, and explains why a body is not valid JSON.

The parser is stricter than `json.loads`, which would hide a client's mistakes: it refuses NaN,
duplicate names, lone surrogates and numbers that would become infinite.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isinf
from typing import Any, NoReturn

#: Matches half of a surrogate pair in escaped form. A body without a match contains no lone
#: surrogates.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
#: The maximum nesting depth. Valid requests and exported states are nested only a few levels deep.
DEEPEST = 64


class JsonRefused(ValueError):
    """The parser does not accept the bytes as JSON.

    The message gives the reason and, for a syntax error, the position.
    """


def read_json(body: bytes) -> Any:
    """Parse a body as UTF-8 encoded JSON (RFC 8259). Raises JsonRefused if it is invalid."""
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
        raise JsonRefused("contains a number with too many digits") from None
    if text.count("[") + text.count("{") > DEEPEST:
        _check_depth(value)
    if _SURROGATE.search(text) and _has_surrogate(value):
        raise JsonRefused("contains half of a surrogate pair, which is not a character")
    return value


def _check_depth(value: Any) -> None:
    """Raise JsonRefused if a value is nested so deeply that recursive functions could fail."""
    level = [value]
    for _ in range(DEEPEST):
        next_level = []
        for container in level:
            values = container.values() if isinstance(container, dict) else container
            next_level += [value for value in values if isinstance(value, dict | list)]
        level = next_level
        if not level:
            return
    raise JsonRefused(f"is nested more than {DEEPEST} levels deep")


def _has_surrogate(document: Any) -> bool:
    """Return whether any string in a document contains half of a surrogate pair.

    The search is written in Python, so that other threads can run at the same time.
    """
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
        raise JsonRefused(f"contains the name {twice[:60]!r} twice in an object")
    return members


def _finite(text: str) -> int | float:
    number = float(text)
    if isinf(number):
        raise JsonRefused("contains a number that is too large")
    # Read `1.0` as an integer: JSON has only one number type, and 1.0 is an integer in JSON Schema.
    return int(number) if number.is_integer() else number


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_no_duplicates
)
