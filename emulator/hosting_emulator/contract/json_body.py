"""Reading JSON a client sent: strictly, and with one clear reason when it is not JSON.

Stricter than `json.loads` where leniency would hide a client's mistake: NaN, duplicate names, lone
surrogates and numbers that would become infinite are refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isinf
from typing import Any, NoReturn

#: How half of a surrogate pair can be written. Most texts hold none, and need no closer look.
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
        found = _DECODER.decode(text)
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
        _bounded(found)
    if _SURROGATE.search(text) and _holds_surrogate(found):
        raise JsonRefused("holds half of a surrogate pair, which is no character")
    return found


def _bounded(found: Any) -> None:
    """Refuse what is nested so deeply that whoever walks it by recursion could fail."""
    level = [found]
    for _ in range(DEEPEST):
        inner = [each.values() if isinstance(each, dict) else each for each in level]
        level = [one for values in inner for one in values if isinstance(one, dict | list)]
        if not level:
            return
    raise JsonRefused(f"is nested more than {DEEPEST} deep")


def _holds_surrogate(found: Any) -> bool:
    """Look for half of a surrogate pair. In Python, so that other threads run in between."""
    ahead = [found]
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
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise JsonRefused(f"names {twice[:60]!r} twice in one object")
    return found


def _finite(text: str) -> int | float:
    number = float(text)
    if isinf(number):
        raise JsonRefused("holds a number that is too large")
    # JSON has one kind of number: to JSON Schema too, `1.0` is the integer 1.
    return int(number) if number.is_integer() else number


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_no_duplicates
)
