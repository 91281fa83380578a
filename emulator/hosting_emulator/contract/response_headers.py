"""Checks response headers that are set by users."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
#: Headers that belong to the connection and cannot be set.
_FRAMING = {"content-length", "transfer-encoding", "connection", "date", "server", "upgrade"}


def header_complaint(name: str, value: str) -> str | None:
    """Return the reason why a header cannot be set in a response, or None if it can."""
    if not _NAME.fullmatch(name) or name.lower() in _FRAMING:
        return f"{name!r} is not an allowed response header"
    if any(ord(character) < 32 or ord(character) > 126 for character in value):
        return f"the header {name} can contain only visible ASCII"
    return None
