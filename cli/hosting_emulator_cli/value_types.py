"""The types of option and argument values. Each error message states the valid values on one line.

The emulator is imported only when a command reads a value.
"""

from __future__ import annotations

import re
import string
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockRequest


class TextType(click.ParamType):  # type: ignore[type-arg]  # generic since Click 8.4 only
    """A parameter type that converts a string with the `read` function.

    If `read` raises ValueError, the user sees the error's message.
    """

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a string into a value. Raises BadParameter."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class WholeNumber(click.IntRange):
    """A whole number within a range. Error messages state the range."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert a string into a number. Raises BadParameter if the number is out of range."""
        least = int(self.min or 0)
        with suppress(ValueError):
            number = int(value)
            if least <= number and (self.max is None or number <= self.max):
                return number
        limits = f"of at least {least}"
        if self.max is not None:
            limits = f"from {least} to {self.max}"
        self.fail(f"{str(value)[:40]!r} is not a whole number {limits}", param, ctx)


def _file_name(text: str) -> str:
    if not text:
        raise ValueError("the name is empty: specify a file, or omit the option")
    if "\0" in text:
        raise ValueError(f"{text[:80]!r} contains a NUL character, which no file name can contain")
    return text


class FilePath(click.Path):
    """A path. The empty path is refused, because it would mean the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises BadParameter."""
        return super().convert(_FILE_NAME.convert(value, param, ctx), param, ctx)


def read_seconds(text: str) -> float:
    """Convert a duration such as `30s`, `10m` or `PT10M` to seconds. Raises ValueError."""
    from hosting_emulator.contract.durations import parse_duration_ms

    return parse_duration_ms(text) / 1000


def read_limit(text: str) -> float:
    """Convert a duration with a unit to seconds. Raises ValueError if it has no unit or is 0."""
    if text.isascii() and text.isdigit():
        raise ValueError(f"{text!r} has no unit: write {text}s for seconds")
    limit_s = read_seconds(text)
    if not limit_s:
        raise ValueError(f"{text!r} leaves no time: use a duration such as 10s")
    return limit_s


def read_timestamp(text: str) -> str:
    """Check and return an RFC 3339 timestamp with `Z` or an offset.

    `now` becomes the current real time. Raises ValueError for an invalid timestamp.
    """
    from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp

    if text == "now":
        return format_timestamp(time.time_ns() // 1_000_000)
    parse_timestamp(text)
    return text


def clock_request(mode: str | None, at: str | None) -> ClockRequest:
    """Return a request that sets a clock to a mode, such as `scaled:60`, and to a timestamp.

    Raises ValueError if the mode is invalid.
    """
    from hosting_emulator.sdk.new_worlds import clock_request

    request: ClockRequest = {}
    if mode is not None:
        request = clock_request(mode)
    if at is not None:
        request = {**request, "at": at}
    return request


def _clock_mode(text: str) -> str:
    clock_request(text, None)
    return text


def _rate(text: str) -> float:
    from hosting_emulator.sdk.new_worlds import read_rate

    return read_rate(text)


def split_values(text: str, *, is_named: bool) -> list[str]:
    """Return the values of a repeatable option, which are separated by commas.

    With `is_named`, the values have the form NAME=VALUE, and a comma separates two values only if a
    name follows. Commas in brackets, in quotation marks or after a backslash do not separate
    values.
    """
    values: list[str] = []
    rest = text
    while True:
        end = _first_separator(rest, is_named=is_named)
        values.append(rest[:end].replace("\\,", ","))
        if end == len(rest):
            return values
        rest = rest[end + 1 :]


def split_at_spaces(text: str) -> tuple[str, ...]:
    """Split values of the form NAME=VALUE at spaces, as in an environment variable.

    A space separates two values under the same conditions as a comma in `split_values`. A comma
    before this space belongs to neither value.
    """
    values: list[str] = []
    rest = text.strip()
    while True:
        end = _first_separator(rest, is_named=True, separators=string.whitespace)
        if end == len(rest):
            return (*values, rest)
        value = rest[:end]
        if not value.endswith("\\,"):
            value = value.removesuffix(",")
        values.append(value)
        rest = rest[end + 1 :].lstrip()


def _first_separator(text: str, *, is_named: bool, separators: str = ",") -> int:
    """Return the index of the first character that separates two values, or the length of the text."""
    depth = 0
    is_quoted = False
    for index, character in enumerate(text):
        is_escaped = text[index - 1 : index] == "\\"
        if character == '"' and not is_escaped:
            is_quoted = not is_quoted
        elif is_quoted or is_escaped:
            continue
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        is_separator = character in separators and depth <= 0
        if is_separator and (not is_named or _NAMED_VALUE.match(text, index + 1)):
            return index
    return len(text)


def _named_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{text!r} is not of the form NAME=VALUE")
    return name.strip(), value


def _named_json_value(text: str) -> tuple[str, Any]:
    from hosting_emulator.contract.json_body import read_json

    name, value = _named_value(text)
    try:
        return name, read_json(value.encode())
    except ValueError:
        return name, value


#: The beginning of a value of the form NAME=VALUE.
_NAMED_VALUE = re.compile(r"\s*[\w.-]+=")
_FILE_NAME = TextType("text", _file_name)
TIMESTAMP = TextType("timestamp", read_timestamp)
RATE = TextType("rate", _rate)
#: A name and a value. The value is parsed as JSON if possible, and remains a string if not.
TYPED_VALUE = TextType("NAME=VALUE", _named_json_value)
#: The types of option values, by metavar.
TYPES: dict[str | None, click.ParamType] = {  # type: ignore[type-arg]
    "FILE": FilePath(dir_okay=False, path_type=Path),
    "NAME|FILE": _FILE_NAME,
    "PORT": WholeNumber(0, 65535),
    "DURATION": TextType("duration", read_seconds),
    "TIMESTAMP": TIMESTAMP,
    "MODE": TextType("mode", _clock_mode),
    "NAME=VALUE": TextType("NAME=VALUE", _named_value),
    "NAME=PATTERN": TextType("NAME=VALUE", _named_value),
}
