"""A recording as a value: requests, their responses, and the world in which they were recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

Headers = tuple[tuple[str, str], ...]

#: The text in a recording in place of a secret.
REDACTED = "<redacted>"
#: Why a request with a long body cannot be sent again.
INCOMPLETE_BODY = "only a part of its body was recorded"
#: Why a request whose body is missing from the recording cannot be sent again.
MISSING_BODY = "its body was not recorded"
#: Headers that a replay writes itself or does not send, so a redacted value does not matter.
_REPLACED_HEADERS = ("authorization", "cookie", "x-control-token")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: The end of a long header value of which the emulator's request log contains only the beginning.
_CUT_HEADER_END = re.compile(r"\.\.\. \([0-9]+ bytes\)\Z")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class RecordRefused(ValueError):
    """A file is not a recording. The message says what is wrong, where, and what would be right."""


def header_of(headers: Headers, name: str) -> str | None:
    """Return the value of the first header with this lowercase name, or None if there is none."""
    for header_name, value in headers:
        if header_name.lower() == name:
            return value
    return None


class Sender(Struct, frozen=True):
    """The sender of a request, as the emulator's own recordings name it.

    `alias` is None for a user without an alias. `api_key` is the id of the API key that was used.
    """

    user: str
    alias: str | None = None
    organization: str | None = None
    interactive: bool = False
    api_key: str | None = None
    permissions: tuple[str, ...] | None = None


class RecordedResponse(Struct, frozen=True):
    """A response that arrived. `text` is its body, or None if it is not text or not complete."""

    status: int
    headers: Headers
    text: str | None

    @property
    def members(self) -> dict[str, Any]:
        """The members of the body, which are empty if the body is not a JSON object."""
        try:
            document = json.loads(self.text or "")
        except ValueError:
            return {}
        if isinstance(document, dict):
            return document
        return {}

    @property
    def code(self) -> str | None:
        """The code of a problem, or None for any other response."""
        if self.status < 400:
            return None
        code = self.members.get("code")
        if isinstance(code, str):
            return code
        return None


class RecordedExchange(Struct, frozen=True):
    """A request of a recording and its response, which is None if none arrived.

    `n` is the number in the recording. `at_ms` is when the response was sent, in milliseconds since
    1970. `target` is the path with the query, from `/v1` on. `missing_part` describes the part of
    the request that the recording lacks, or is None if the request is complete. `call` is the name
    of the call, or None if the request is not a call.
    """

    n: int
    at_ms: int
    method: str
    target: str
    headers: Headers
    body: bytes | None
    sender: Sender | None
    response: RecordedResponse | None
    missing_part: str | None = None
    call: str | None = None

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]

    @property
    def authorization(self) -> str | None:
        """The Authorization header, or None if the recording has none."""
        return header_of(self.headers, "authorization")

    @property
    def unsendable(self) -> str | None:
        """The reason why the request cannot be sent as recorded, or None if it can be sent."""
        if self.missing_part:
            return self.missing_part
        if REDACTED in self.target:
            return "a secret was redacted in its address"
        if not _TOKEN.fullmatch(self.method):
            return "its method cannot be sent"
        if not self.target.startswith("/"):
            return "its address has no path"
        if not self.target.isascii() or not self.target.isprintable() or " " in self.target:
            return "its address cannot be sent"
        for name, value in self.headers:
            is_replaced = name.lower() in _REPLACED_HEADERS
            if REDACTED in value and not is_replaced:
                return f"what looks like a secret was redacted in its header {name}"
            if _CUT_HEADER_END.search(value) and not is_replaced:
                return f"only the beginning of its header {name} was recorded"
            if not _TOKEN.fullmatch(name.removeprefix(":")) or _CONTROL_CHARACTER.search(value):
                return "one of its headers cannot be sent"
        if self.body is not None and REDACTED.encode() in self.body:
            return "a secret was redacted in its body"
        return None


class RecordedWorld(Struct, frozen=True):
    """The world of a recording, with ids by alias.

    `at` is the world's time before the first request, and `began_at` is the time at which the world
    was created from its seed. Both are RFC 3339 timestamps.
    """

    name: str = ""
    at: str | None = None
    began_at: str | None = None
    assumptions: dict[str, Any] = {}
    organizations: dict[str, str] = {}
    users: dict[str, str] = {}
    projects: dict[str, str] = {}


class Recording(Struct, frozen=True):
    """Requests in the order in which they were sent.

    `from_emulator` means that an emulator wrote the recording, which names the sender of each
    request. `state` is the state of the world before the first request. `left_out` describes the
    entries of the file that are not calls.
    """

    requests: tuple[RecordedExchange, ...]
    from_emulator: bool
    world: RecordedWorld = field(default_factory=RecordedWorld)
    state: Mapping[str, object] | None = None
    left_out: tuple[str, ...] = ()
