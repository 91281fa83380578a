"""How values that people type are read: times, durations, clock modes, NAME=VALUE.

Each is a Click callback that says what would be right in one line. Nothing of the emulator is
imported before a value has to be read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockMode, ClockRequest

T = TypeVar("T")


def read_with(
    read: Callable[[str], T],
) -> Callable[[click.Context, click.Parameter, str | None], T | None]:
    """Make the callback of a parameter whose text `read` turns into a value, or a ValueError."""

    def callback(ctx: click.Context, param: click.Parameter, text: str | None) -> T | None:
        try:
            return None if text is None else read(text)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=param) from error

    return callback


class WholeNumber(click.IntRange):
    """A whole number of a range, which says so when it is given something else."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it. Raises BadParameter."""
        try:
            number = int(value)
        except ValueError:
            number = None
        if (
            number is None
            or (self.min or 0) > number
            or (self.max is not None and number > self.max)
        ):
            most = "" if self.max is None else f" to {self.max}"
            wanted = f"{self.min}{most or ' or more'}"
            self.fail(f"{str(value)[:40]!r} is not a whole number from {wanted}", param, ctx)
        return number


def duration_ms(text: str) -> int:
    """Read a duration such as `30s`, `10m` or `PT10M` as whole milliseconds."""
    from hosting_emulator.contract.durations import parse_duration_ms

    return parse_duration_ms(text)


def duration_whole_s(text: str) -> int:
    """Read a duration of whole seconds, at least one."""
    seconds, rest = divmod(duration_ms(text), 1000)
    if rest or not seconds:
        raise ValueError(f"{text!r} must be whole seconds, 1s or more")
    return seconds


def timestamp(text: str) -> str:
    """Check that the text is an RFC 3339 timestamp with `Z` or an offset, and return it."""
    from hosting_emulator.contract.timestamps import parse_timestamp

    parse_timestamp(text)
    return text


def clock_mode(text: str) -> str:
    """Check that the text is `real`, `frozen`, `skip` or `scaled:RATE`, and return it."""
    clock_request(text, None)
    return text


def clock_request(mode: str, at: str | None) -> ClockRequest:
    """Turn a clock mode as people write it, and a timestamp, into a clock's settings."""
    request: ClockRequest
    if mode in {"real", "frozen", "skip"}:
        request = {"mode": cast("ClockMode", mode)}
    elif mode.startswith("scaled:"):
        request = {"mode": "scaled", "rate": rate(mode.removeprefix("scaled:"))}
    else:
        raise ValueError(f"{mode!r} is not real, frozen, skip or scaled:RATE")
    if at is not None:
        request["at"] = at
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


def named_values(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    """Read repeated `NAME=VALUE`s as a dict; the last of one name counts."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is not NAME=VALUE", ctx=ctx, param=param)
        values[name.strip()] = value
    return values


def typed_values(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """Read repeated `NAME=VALUE`s, each value a number, true, false, null or JSON where it reads so."""
    return {name: typed(text) for name, text in named_values(ctx, param, texts).items()}


def typed(text: str) -> Any:
    """Read a value as JSON if it is JSON, else as plain text. Text that looks like JSON is quoted."""
    import json

    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")  # NaN and Infinity, which Python would let pass
