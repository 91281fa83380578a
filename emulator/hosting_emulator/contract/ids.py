"""Identifiers on the wire: ULIDs as the contract writes them. Draws no randomness of its own."""

from __future__ import annotations

import re

from ulid import ULID

ULID_PATTERN = "^[0-9A-HJKMNP-TV-Z]{26}$"
_ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")


def is_ulid(text: str) -> bool:
    """Tell whether `text` is a Ulid in the contract's sense (26 characters of its alphabet)."""
    return _ULID.fullmatch(text) is not None


def make_ulid(at_ms: int, randomness: bytes) -> str:
    """Return the ULID of a moment (milliseconds since 1970, 48 bits) and 10 bytes of randomness.

    The same moment and bytes always give the same text, which is what makes a world repeatable.
    """
    return str(ULID.from_bytes(at_ms.to_bytes(6, "big") + randomness))
