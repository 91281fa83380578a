"""The declaration of a path under `/_emulator`: its endpoint and the type of its response."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from hosting_emulator.contract.calls import IDENTITY_PROVIDER
from hosting_emulator.http.endpoint import BODY_LIMIT

PREFIX: Final = "/_emulator"


@dataclass(frozen=True, slots=True)
class Json:
    """A response that consists of one JSON object."""

    kind: Any


@dataclass(frozen=True, slots=True)
class JsonList:
    """A response with a list of JSON objects in its `items` member."""

    kind: Any


@dataclass(frozen=True, slots=True)
class JsonOrNull:
    """A response that consists of a JSON object or `null`."""

    kind: Any


@dataclass(frozen=True, slots=True)
class Media:
    """A response with a media type other than JSON."""

    media_type: str


@dataclass(frozen=True, slots=True)
class NoContent:
    """A response with status 204 and no body."""


ResponseType: TypeAlias = Json | JsonList | JsonOrNull | Media | NoContent


@dataclass(frozen=True)
class Route:
    """A row in the table of routes.

    In `path`, `{name}` matches one segment and `{name*}` matches the rest of the path. `endpoint`
    is `MODULE:FUNCTION`, where MODULE is relative to `hosting_emulator`. `tag` is a key of TAGS, by
    which the routes are grouped in the OpenAPI document. `body_limit` is the maximum size of the
    request body in bytes.
    """

    method: str
    path: str
    endpoint: str
    response: ResponseType
    tag: str
    status: int = 200
    is_identity: bool = False
    body_limit: int = BODY_LIMIT

    @property
    def function(self) -> str:
        """The name of the endpoint's function."""
        return self.endpoint.partition(":")[2]

    @property
    def identity_call(self) -> str:
        """The name under which faults match an endpoint of the identity provider, or "" for other
        endpoints.
        """
        if not self.is_identity:
            return ""
        return IDENTITY_PROVIDER + self.function

    def match(self, path: str) -> re.Match[str] | None:
        """Return the match of a complete path under the prefix, or None if the path does not match."""
        # Compare the literal parts first. This is quick, and almost every route fails here, so that a
        # new process compiles only the few regular expressions that it needs.
        start, end = self._literal_ends
        if path.startswith(start) and path.endswith(end):
            return self.pattern.fullmatch(path)
        return None

    @cached_property
    def _literal_ends(self) -> tuple[str, str]:
        """The parts of the path before the first parameter and after the last one."""
        path = self.path.rstrip("/")
        return path.partition("{")[0], path.rpartition("}")[2]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The regular expression that matches a complete path under the prefix."""
        pattern = re.escape(self.path.rstrip("/"))
        pattern = re.sub(r"\\{(\w+)\\\*\\}", r"(?P<\1>.+)", pattern)
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", pattern)
        return re.compile(pattern)
