"""The syntax of variables and saved values. `variables` holds their values while a story runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hosting_emulator.criteria.patterns import Expression, compile_pattern
from hosting_emulator.scenario.source import KeyPath, texts_in

#: The variable for the world's time.
NOW = "now"
#: The path with which a step saves the whole response.
WHOLE_RESPONSE = "response"
#: In a path of `collect`, this name matches every item of a list.
EACH_ITEM = "*"
#: The aliases that the steps of a story use by default, by kind of record. A variable such as
#: `${project.shop}` is the id of the record of this kind with this alias.
DEFAULT_ALIASES = {"project": "shop", "organization": "acme", "user": "owner"}
#: The user of a step that sends no credentials.
NOBODY = "nobody"
#: A variable in a string.
VARIABLE = re.compile(r"\$\{([^}]*)\}")
#: The name of a variable for a time before or after another time, such as `now+10m`.
MOMENT = re.compile(r"(.+?)([+-])(\d[\d.a-z]*)")
_SAVED_VALUE = re.compile(r"(\S+)(?: /(.+)/)?")


def variables_in(value: Any) -> Iterator[tuple[KeyPath, str]]:
    """Yield the name of every variable in a value, with the path to the string that contains it."""
    for path, text in texts_in(value):
        for name in VARIABLE.findall(text):
            yield path, name


def saved_response_name(text: str) -> str:
    """Return the name of a saved response, which may be written like a variable: `${first}`."""
    match = VARIABLE.fullmatch(text)
    return text if match is None else match[1]


@dataclass(frozen=True, slots=True)
class SavedValue:
    """A value to save or collect from a response: the value at a path, or the part that a pattern matches."""

    path: str
    pattern: Expression | None = None


def read_saved_value(text: str) -> SavedValue:
    """Read an entry of `save`, such as `key.id` or `headers.Location /code=(.+)/`.

    Raises ValueError if it is malformed.
    """
    saved = read_collected_value(text)
    if EACH_ITEM in saved.path.split("."):
        raise ValueError(f"save keeps one value: use collect for all values of {saved.path}")
    return saved


def read_collected_value(text: str) -> SavedValue:
    """Parse an entry of `collect`.

    It is like an entry of `save`, but `*` in its path matches every item.
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
