"""The forms in which a timestamp can be written: with different time zones, and with different
numbers of fraction digits.

All forms of a timestamp denote the same moment. A form must conform to both standards that the
contract names. RFC 3339 also allows a lowercase `t` and `z`, a space, and the offset -00:00, but
ISO 8601 does not, so these are never used.
"""

from __future__ import annotations

from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp, parse_timestamp

#: Time zones, in RFC 3339 notation. Some of them are far apart, so that a client that compares
#: timestamps as strings fails even if the times are hours apart.
OFFSETS = (
    "Z",
    "+05:30",
    "-03:00",
    "+14:00",
    "-12:00",
    "+00:00",
    "+05:45",
    "-09:30",
    "+01:00",
    "-08:00",
)
#: The possible numbers of fraction digits. More digits are written if the moment cannot be
#: represented with fewer.
FRACTION_DIGITS = (6, 0, 9, 1, 3, 2, 7, 4, 8, 5)
_DAY_MS = 86_400_000


def respell(text: str, offset: str, digits: int) -> str:
    """Return a timestamp with a different offset and with `digits` (0 to 9) fraction digits.

    The result denotes the same moment: if the moment needs more digits (up to three), they are
    written.

    A timestamp within a day of the earliest or latest possible time is returned unchanged, because
    in a different time zone its year could be out of range.
    """
    at_ms = parse_timestamp(text)
    if not _DAY_MS <= at_ms <= LATEST_MS - _DAY_MS:
        return text
    whole, _, milliseconds = format_timestamp(at_ms + _minutes(offset) * 60_000)[:-1].partition(".")
    fraction = milliseconds.rstrip("0").ljust(digits, "0")
    if fraction:
        return f"{whole}.{fraction}{offset}"
    return whole + offset


def _minutes(offset: str) -> int:
    """Return an offset as a number of minutes east of UTC."""
    if offset == "Z":
        return 0
    minutes = int(offset[1:3]) * 60 + int(offset[4:6])
    return -minutes if offset[0] == "-" else minutes
