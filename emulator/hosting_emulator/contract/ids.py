"""Identifiers on the wire: ULIDs as the contract writes them. The caller provides the randomness."""

from __future__ import annotations

import re

from ulid.base32 import ENCODE as ALPHABET

ULID_PATTERN = "^[0-9A-HJKMNP-TV-Z]{26}$"
_ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")
#: The two characters of each ten bits, in the alphabet of python-ulid.
_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)
_SHIFTS = tuple(range(120, -1, -10))


def is_ulid(text: str) -> bool:
    """Return whether `text` is a Ulid as the contract defines it (26 characters of its alphabet)."""
    return _ULID.fullmatch(text) is not None


def make_ulid(at_ms: int, randomness: bytes) -> str:
    """Return the ULID of a moment (milliseconds since 1970, 48 bits) and 10 bytes of randomness.

    The same moment and bytes always give the same text, which is what makes a world repeatable.
    """
    # Most calls write two ids, and this is three times as fast as python-ulid.
    number = int.from_bytes(at_ms.to_bytes(6, "big") + randomness, "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])
