"""Sends a redirect instead of the call's response."""

from __future__ import annotations

from typing import ClassVar, Literal

from hosting_emulator.faults.kinds import FaultKind, PageResponse


class Redirect(FaultKind, frozen=True):
    """Redirect the client to `location`, which is an absolute URL or a path."""

    example: ClassVar = {"location": "http://127.0.0.1:9/elsewhere", "status": 307}
    replaces_response = True

    location: str
    status: Literal[301, 302, 303, 307, 308] = 307

    def __post_init__(self) -> None:
        visible = all(32 < ord(character) < 127 for character in self.location)
        if not visible or not self.location.startswith(("/", "http://", "https://")):
            raise ValueError(
                f"{self.location!r} is neither a URL (http://…, https://…) nor a path (/…)"
            )

    def page(self) -> PageResponse:
        return PageResponse(self.status, b"", "", (("Location", self.location),))
