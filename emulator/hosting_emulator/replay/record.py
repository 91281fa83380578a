"""A record: requests that were sent once, each with what was answered, read to be sent again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Headers = tuple[tuple[str, str], ...]


class RecordRefused(ValueError):
    """A record that cannot be read; the message says what is wrong, where, and what would be right."""


@dataclass(frozen=True, slots=True)
class Who:
    """Who asked, as our own records tell it. `alias` is None for a person without one."""

    person: str
    alias: str | None
    organization: str | None
    interactive: bool
    api_key: str | None
    permissions: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that arrived. `text` is None where it was no text or was not kept whole."""

    status: int
    headers: Headers
    text: str | None

    def header(self, name: str) -> str | None:
        """Return the first header of a name, in lower case; None: there is none."""
        return next((value for known, value in self.headers if known.lower() == name), None)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request of a record, and its answer.

    `n` is its number, `call` the name of its call, None where it is none; `at_ms` when it was
    answered, in milliseconds since 1970; `target` its path and query from `/v1` on. `answer` is None
    when none arrived. `unsendable` says why it cannot be sent again. `credential`: whether it had an
    Authorization header; None: the record does not tell.
    """

    n: int
    at_ms: int
    method: str
    target: str
    headers: Headers
    body: bytes | None
    who: Who | None
    credential: bool | None
    answer: Answered | None
    unsendable: str | None = None
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The world a record is of, its ids by alias for each of its tables.

    `at` is its time before the first request, `began_at` when it was as its seed makes it, if that is
    known; RFC 3339 timestamps.
    """

    name: str = ""
    seed: str | None = None
    at: str | None = None
    began_at: str | None = None
    assumptions: Mapping[str, object] = field(default_factory=dict)
    ids: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """Requests in the order they were sent.

    `own`: it is a record of an emulator, which tells who asked. `state` is the world as the first
    request found it. `left_out` says which requests of the file are not among them, and why.
    """

    requests: tuple[Recorded, ...]
    own: bool
    origin: Origin = Origin()
    state: Mapping[str, object] | None = None
    left_out: tuple[str, ...] = ()
