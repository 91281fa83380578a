"""Sends a response that the user specifies."""

import json
from http import HTTPStatus
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from hosting_emulator.contract.response_headers import header_complaint
from hosting_emulator.faults.kinds import FaultKind, PageResponse


class Respond(FaultKind, frozen=True):
    """Respond with your own status, headers and content.

    A string is sent as it is, and any other content is sent as JSON. The response is not checked
    against the contract. To change a single field of a real response, as the contract allows, use
    `alter`.
    """

    example: ClassVar = {"status": 418, "content": "short and stout"}
    replaces_response = True

    status: Annotated[int, Meta(ge=200, le=599)] = 200
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    content: Any = ""
    content_type: str | None = None

    def __post_init__(self) -> None:
        if self.status not in {status.value for status in HTTPStatus}:
            raise ValueError(f"{self.status} is not an HTTP status")
        if self.status in (204, 304) and self.content != "":
            raise ValueError(
                f"a response with status {self.status} cannot have content (RFC 9110, section 6.4.1)"
            )
        for name, value in [*self.headers.items(), ("Content-Type", self.content_type or "")]:
            wrong = header_complaint(name, value)
            if wrong is not None:
                raise ValueError(wrong)

    def page(self) -> PageResponse:
        if isinstance(self.content, str):
            text = self.content
            content_type = "text/plain; charset=utf-8"
        else:
            text = json.dumps(self.content)
            content_type = "application/json"
        if self.content_type:
            content_type = self.content_type
        headers = []
        for name, value in self.headers.items():
            if name.lower() == "content-type":
                content_type = value
            else:
                headers.append((name, value))
        body = text.encode("utf-8", "replace")
        return PageResponse(self.status, body, content_type, tuple(headers))
