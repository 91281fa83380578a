"""A response as any service may write it, and its body as JSON.

Nothing here raises: a body that is not JSON, or not an object, has no fields.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_JSON = json.JSONDecoder(parse_constant=_refuse_constant)


@dataclass(frozen=True)
class ServerResponse:
    """The response to a request of the check.

    `title` names the request: method, path, and why it was sent. If `status` is 0, no complete
    response arrived, and `broken` says what happened instead. `call_id` is the call that was
    requested, or an empty string for a dev origin. `purpose` says why the request was sent, and may
    be empty. `number` counts the requests of a check.
    """

    title: str
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    broken: str = ""
    call_id: str = ""
    purpose: str = ""
    number: int = 0

    def header(self, name: str) -> str | None:
        """Return the first value of a header, or None if there is no such header."""
        for header_name, value in self.headers:
            if header_name.lower() == name.lower():
                return value
        return None

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case, or an empty string if there is none."""
        return (self.header("Content-Type") or "").partition(";")[0].strip().lower()

    @cached_property
    def document(self) -> Any:
        """The body as JSON, or None if it is not valid UTF-8 or not valid JSON, which has no NaN.

        Do not change the value, because all callers share it.
        """
        try:
            return _JSON.decode(self.body.decode())
        except (ValueError, RecursionError):
            return None

    @property
    def fields(self) -> dict[str, Any]:
        """The body as a JSON object, or an empty object if it is anything else."""
        document = self.document
        if isinstance(document, dict):
            return document
        return {}

    def __getitem__(self, name: str) -> Any:
        """Return a field of the body, or None if there is no such field."""
        return self.fields.get(name)

    def text(self, name: str) -> str | None:
        """Return a field of the body if it is a string, otherwise None."""
        value = self[name]
        if isinstance(value, str):
            return value
        return None

    def part(self, name: str) -> dict[str, Any]:
        """Return a field of the body if it is an object, otherwise an empty dict."""
        value = self[name]
        if isinstance(value, dict):
            return value
        return {}

    @property
    def ok(self) -> bool:
        """Whether the response reports success."""
        return 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Whether the response refuses the request, rather than reporting a failure of the server."""
        return 400 <= self.status < 500

    @property
    def is_invalid_input(self) -> bool:
        """Whether the response refuses the content of the request. The contract names no status for it."""
        return self.status == 400 or self.code == "invalid_request"

    @cached_property
    def code(self) -> str | None:
        """The code of the problem, or None if the response has no code or is not an error."""
        if self.status < 400:
            return None
        return self.text("code")

    def __str__(self) -> str:
        """A short description of the request and the response, without the body."""
        if not self.status:
            return f"{self.title}: {self.broken}"
        if self.code:
            return f"{self.title}: {self.status} {self.code}"
        return f"{self.title}: {self.status}"


def http_date(text: str) -> int | None:
    """Read the date of an HTTP header. Return milliseconds since 1970, or None for other texts."""
    try:
        return int(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def same_value(first: Any, second: Any) -> bool | None:
    """Return whether two responses have the same value, or None if one of them lacks the value."""
    if first is None or second is None:
        return None
    return bool(first == second)
