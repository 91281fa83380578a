"""Checks the response headers that users set."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
#: The headers that the server sets itself, so users cannot set them.
_FRAMING = {"content-length", "transfer-encoding", "connection", "date", "server", "upgrade"}


def header_complaint(name: str, value: str) -> str | None:
    """Return why users cannot set a response header, or None if they can."""
    if not _NAME.fullmatch(name) or name.lower() in _FRAMING:
        return f"{name!r} cannot be set as a response header"
    if any(ord(character) < 32 or ord(character) > 126 for character in value):
        return f"the {name} header must contain only printable ASCII characters"
    return None
