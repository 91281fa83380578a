"""Kinds of values that people type: times, durations, clock modes, NAME=VALUE, files.

Each says in one line what would be right. Nothing of the emulator is imported before a value has to
be read.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockMode, ClockRequest

#: A file to read or to write.
FILE = click.Path(dir_okay=False, path_type=Path)


class TextType(click.ParamType):  # type: ignore[type-arg]  # generic since Click 8.4 only
    """Text that `read` turns into a value; its ValueError is what is wrong with the text."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it. Raises BadParameter."""
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


class WholeNumber(click.IntRange):
    """A whole number of a range, which says so when it is given something else."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it. Raises BadParameter."""
        least, most = self.min or 0, self.max
        try:
            number = int(value)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            limits = f"{least} or more" if most is None else f"{least} to {most}"
            self.fail(f"{str(value)[:40]!r} is not a whole number from {limits}", param, ctx)
        return number


def duration_ms(text: str) -> int:
    """Read a duration such as `30s`, `10m` or `PT10M` as whole milliseconds."""
    from hosting_emulator.contract.durations import parse_duration_ms

    return parse_duration_ms(text)


def seconds(text: str) -> float:
    """Read a duration as seconds."""
    return duration_ms(text) / 1000


def whole_seconds(text: str) -> int:
    """Read a duration of whole seconds, at least one."""
    found, rest = divmod(duration_ms(text), 1000)
    if rest or not found:
        raise ValueError(f"{text!r} must be whole seconds, 1s or more")
    return found


def timestamp(text: str) -> str:
    """Return an RFC 3339 timestamp with `Z` or an offset as it is, and for `now` this machine's time."""
    from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp

    if text == "now":
        return format_timestamp(time.time_ns() // 1_000_000)
    parse_timestamp(text)
    return text


def clock_mode(text: str) -> str:
    """Check that the text is `real`, `frozen`, `skip` or `scaled:RATE`, and return it."""
    clock_request(text, None)
    return text


def clock_request(mode: str | None, at: str | None) -> ClockRequest:
    """Turn a clock mode as people write it, and a timestamp, into a clock's settings."""
    request: ClockRequest = {} if at is None else {"at": at}
    if mode is not None and mode.startswith("scaled:"):
        request |= {"mode": "scaled", "rate": rate(mode.removeprefix("scaled:"))}
    elif mode in ("real", "frozen", "skip"):
        request["mode"] = cast("ClockMode", mode)
    elif mode is not None:
        raise ValueError(f"{mode!r} is not real, frozen, skip or scaled:RATE")
    return request


def rate(text: str) -> float:
    """Read world seconds per real second: a finite number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise ValueError(f"{text!r} is not a rate: write a number above 0, such as 60 or 0.5")
    return number


def _named_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value


def _typed_value(text: str) -> tuple[str, Any]:
    import json

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")  # NaN and Infinity, which Python would let pass

    name, value = _named_value(text)
    try:
        return name, json.loads(value, parse_constant=refuse)
    except (ValueError, RecursionError):
        return name, value


PORT = WholeNumber(0, 65535)
SECONDS = TextType("duration", seconds)
WHOLE_SECONDS = TextType("duration", whole_seconds)
TIMESTAMP = TextType("timestamp", timestamp)
CLOCK_MODE = TextType("mode", clock_mode)
RATE = TextType("rate", rate)
NAMED_VALUE = TextType("NAME=VALUE", _named_value)
#: A value is JSON where it reads as JSON, else plain text.
TYPED_VALUE = TextType("NAME=VALUE", _typed_value)
#: The kind of an option's value, by what help calls it.
KINDS: dict[str | None, click.ParamType] = {  # type: ignore[type-arg]
    "FILE": FILE,
    "PORT": PORT,
    "DURATION": SECONDS,
    "TIMESTAMP": TIMESTAMP,
    "MODE": CLOCK_MODE,
    "NAME=VALUE": NAMED_VALUE,
    "NAME=PATTERN": NAMED_VALUE,
}
