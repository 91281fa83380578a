"""A proxy's error page in place of the answer."""

from __future__ import annotations

from html import escape
from http import HTTPStatus
from typing import Any, ClassVar, Literal

from hosting_emulator.faults.kinds import FaultKind, Page


class GatewayError(FaultKind, frozen=True):
    """Respond like a proxy in between: with an HTML page instead of a problem."""

    order = 2
    example: ClassVar = {"status": 502}
    answers = True
    explore_order = 5

    status: Literal[500, 502, 503, 504] = 502
    html: str | None = None

    def page(self) -> Page:
        html = self.html
        if html is None:
            title = escape(f"{self.status} {HTTPStatus(self.status).phrase}")
            html = (
                f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n"
                f"<center><h1>{title}</h1></center>\r\n</body>\r\n</html>\r\n"
            )
        return Page(self.status, html.encode("utf-8", "replace"), "text/html")

    @classmethod
    def explored(cls, detail: str, body_bytes: int, late_ms: int) -> dict[str, Any]:
        return {"status": int(detail or 502)}
