"""The syntax of variables and of saved values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hosting_emulator.criteria.patterns import Expression, compile_pattern
from hosting_emulator.scenario.source import KeyPath, texts_in

#: The name of the variable for the world's time.
NOW = "now"
#: The path in `save` and `collect` that means the whole response.
WHOLE_RESPONSE = "response"
#: In a path in `collect`, this means every item of a list.
EACH_ITEM = "*"
#: The aliases that a story's steps use by default, by kind of record. A variable that consists of a
#: kind and an alias, such as `${project.shop}`, is the record's id.
DEFAULT_ALIASES = {"project": "shop", "organization": "acme", "user": "owner"}
#: Matches a variable in a string, such as `${operation}`.
VARIABLE = re.compile(r"\$\{([^}]*)\}")
#: Matches the name of a variable for a relative time, such as `now+10m`.
MOMENT = re.compile(r"(.+?)([+-])(\d[\d.a-z]*)")
_SAVED_VALUE = re.compile(r"(\S+)(?: /(.+)/)?")


def variables_in(value: Any) -> Iterator[tuple[KeyPath, str]]:
    """Yield the name of each variable in a value, and the path of the string that contains it."""
    for path, text in texts_in(value):
        for name in VARIABLE.findall(text):
            yield path, name


def saved_response_name(text: str) -> str:
    """Return the name of a saved response. `first` and `${first}` refer to the same response."""
    match = VARIABLE.fullmatch(text)
    return text if match is None else match[1]


@dataclass(frozen=True, slots=True)
class SavedValue:
    """A value to save or collect from a response.

    The value is at `path` in the response. If there is a `pattern`, only the part that it matches
    or captures is saved or collected.
    """

    path: str
    pattern: Expression | None = None


def read_saved_value(text: str) -> SavedValue:
    """Parse an entry in `save`, such as `key.id` or `headers.Location /code=(.+)/`.

    Raises ValueError if the entry is malformed.
    """
    saved = read_collected_value(text)
    if EACH_ITEM in saved.path.split("."):
        raise ValueError(f"save stores only one value: use collect for all values at {saved.path}")
    return saved


def read_collected_value(text: str) -> SavedValue:
    """Parse an entry in `collect`, such as `items.*.id`.

    The syntax is the same as for `save`, except that `*` in the path means every item of a list.
    Raises ValueError if the entry is malformed.
    """
    match = _SAVED_VALUE.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a path in a response, such as key.id or headers.Location /code=(.+)/"
        )
    path, pattern = match.groups()
    if pattern is None:
        return SavedValue(path)
    return SavedValue(path, compile_pattern(pattern))
