"""Sends a proxy's error page instead of the call's response."""

from __future__ import annotations

from html import escape
from http import HTTPStatus
from typing import ClassVar, Literal

from hosting_emulator.faults.kinds import FaultKind, PageResponse


class GatewayError(FaultKind, frozen=True):
    """Respond as a failing proxy in front of the service would, with an HTML page instead of a
    problem.
    """

    example: ClassVar = {"status": 502}
    replaces_response = True

    status: Literal[500, 502, 503, 504] = 502
    html: str | None = None

    def page(self) -> PageResponse:
        html = self.html
        if html is None:
            title = escape(f"{self.status} {HTTPStatus(self.status).phrase}")
            html = (
                f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n"
                f"<center><h1>{title}</h1></center>\r\n</body>\r\n</html>\r\n"
            )
        return PageResponse(self.status, html.encode("utf-8", "replace"), "text/html")
