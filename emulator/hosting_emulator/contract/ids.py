"""Identifiers: ULIDs as the contract defines them. Callers provide the randomness."""

from __future__ import annotations

import re

from ulid.base32 import ENCODE as ALPHABET

ULID_PATTERN = "^[0-9A-HJKMNP-TV-Z]{26}$"
_ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")
_DIGITS = {character: value for value, character in enumerate(ALPHABET)}
#: The two characters that encode each 10-bit value, in python-ulid's alphabet.
_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)
_SHIFTS = tuple(range(120, -1, -10))


def is_ulid(text: str) -> bool:
    """Return whether a string is a Ulid: 26 characters from the contract's alphabet."""
    return _ULID.fullmatch(text) is not None


def id_number(ulid: str) -> int:
    """Return the number that a Ulid encodes. Ulids sort by these numbers, and therefore by time."""
    number = 0
    for character in ulid:
        number = number * len(ALPHABET) + _DIGITS[character]
    return number


def make_ulid(at_ms: int, randomness: bytes) -> str:
    """Return the ULID made from a time (milliseconds since 1970, 48 bits) and 10 bytes of randomness.

    The same time and bytes always produce the same ULID, which makes worlds reproducible.
    """
    # A single call can create several ids, so do not use python-ulid, which takes three times as
    # long.
    number = int.from_bytes(at_ms.to_bytes(6, "big") + randomness, "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])
