"""Reads the beginning of a JSON document whose end is missing, such as a body in the request log."""

from __future__ import annotations

import json
import re
from typing import Any

#: A string, or a character that begins or ends an object or a list. A string that is cut off does not match.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


def read_beginning(text: str) -> Any:
    """Return a JSON document without the objects and lists that are cut off at the end of `text`.

    The objects and lists around them have fewer members or items. Return None if nothing is complete.
    """
    open_brackets: list[str] = []
    complete = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in _CLOSING:
            open_brackets.append(token)
        elif token in ("}", "]") and open_brackets:
            open_brackets.pop()
            complete = text[: match.end()]
            complete += "".join(_CLOSING[bracket] for bracket in reversed(open_brackets))
    try:
        return json.loads(complete)
    except ValueError:
        return None
