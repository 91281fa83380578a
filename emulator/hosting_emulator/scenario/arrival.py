"""The response that a step of a story receives, and requests to pages outside the API."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, TypeAlias

from msgspec import UNSET

from hosting_emulator.calls.request import Reply
from hosting_emulator.criteria.request_filters import GAVE_UP
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.request_views import document_of
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.faults.matching import value_at

#: The base URL of the emulator in a story.
OWN_URL = "http://127.0.0.1:4620"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request to a page outside the API, either under `/_emulator/` or at a dev origin.

    `own_url` is the base URL of the emulator.
    """

    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    own_url: str = OWN_URL


#: A request to a page in progress. The generator yields each delay in milliseconds. It returns the
#: response and the fault that damages the response in transit, or None if the response arrives
#: intact.
PageVisit: TypeAlias = Generator[int, None, tuple[Reply, FaultKind | None]]
#: A function that starts handling a request to a page.
PageHandler: TypeAlias = Callable[[Engine, PageRequest], PageVisit]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A response, its delay in real milliseconds, and the fault that damaged it in transit.

    `n` is the request's number in the request log. If `gave_up` is true, the client closed the
    connection before the response was sent.
    """

    reply: Reply
    late_ms: int = 0
    effect: FaultKind | None = None
    n: int | None = None
    gave_up: bool = False
    #: The time in the Date header, in seconds since 1970, or None if there is no Date header.
    date_s: int | None = None

    def summary(self) -> str:
        """Return the status and problem code, for example `403 forbidden`."""
        code = self.at("code")
        if isinstance(code, str):
            return f"{self.reply.status} {code}"
        return str(self.reply.status)

    def report(self) -> dict[str, Any]:
        """Return the entry for the response in the step's report."""
        code = self.at("code")
        detail = self.at("detail")
        return {
            "n": self.n,
            "status": self.reply.status or None,
            "code": code if isinstance(code, str) else None,
            "detail": detail if isinstance(detail, str) else None,
            "lost": self.lost,
        }

    def document(self) -> dict[str, Any]:
        """Return the response as a JSON object, for steps that collect whole responses.

        If the response was lost, its status, code and body are null.
        """
        code = self.at("code")
        return {
            "status": None if self.lost else self.reply.status,
            "code": code if isinstance(code, str) and not self.lost else None,
            "lost": self.lost,
            "delayed": self.is_delayed,
            "body": None if self.lost else document_of(self.reply.body),
        }

    @property
    def lost(self) -> str | None:
        """The kind of fault that caused the response to be lost, or None if the response arrived.

        It is `gives_up` if the client did not wait for the response.
        """
        if self.gave_up:
            return GAVE_UP
        if self.effect is None or self.effect.delivers_response:
            return None
        return self.effect.name

    @property
    def is_delayed(self) -> bool:
        """Whether the response arrived late or was sent slowly."""
        if self.gave_up:
            return False
        if self.late_ms > 0:
            return True
        if self.effect is None or not self.effect.delivers_response:
            return False
        return self.effect.late_ms(len(self.reply.body)) > 0 or self.effect.world_pause_ms() > 0

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None if the response has no such header.

        If the header occurs several times, the last value is returned.
        """
        headers = {"content-type": self.reply.content_type}
        if self.date_s is not None:
            headers["date"] = formatdate(self.date_s, usegmt=True)
        for header, value in self.reply.headers:
            headers[header.lower()] = value
        return headers.get(name.lower())

    def at(self, path: str) -> Any:
        """Return the value at a path, such as `key.id` or `headers.Location`.

        Return UNSET if the response has no value at the path.
        """
        if path.startswith("headers."):
            value = self.header(path.removeprefix("headers."))
            return UNSET if value is None else value
        return value_at(document_of(self.reply.body), path)


def drip_ms(effect: FaultKind | None, reply: Reply) -> int:
    """Return how long a fault delays the response by sending the body slowly, in milliseconds."""
    return 0 if effect is None else effect.late_ms(len(reply.body))
