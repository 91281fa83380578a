"""What a call is asked and what it answers: plain values, without sockets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hosting_emulator.contract.calls import CallSpec


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. `permissions` is None for an access token: only API keys are limited to some."""

    person_id: str
    organization_id: str | None
    interactive: bool
    permissions: frozenset[str] | None = None
    api_key_id: str | None = None


NOBODY = Principal("", None, False)


@dataclass(slots=True)
class CallRequest:
    """One request of a call, as it came in; `request_id` is worked out only when it is needed.

    `headers` returns every value of a header: more than one may be ambiguous.
    `dev_port` is the port dev origins answer at, None for the scheme's own.
    """

    spec: CallSpec
    subject_id: str
    request_id: Callable[[], str]
    headers: Callable[[str], Sequence[str]]
    query: str = ""
    body: bytes = b""
    dev_port: int | None = None
    principal: Principal = NOBODY
    values: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str = ""
    canonical_body: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its status, its body's bytes and what it made (for whoever explains it).

    `secret` says that the body shows credential material, so it must not be kept. `varied` are the
    points at which the body was varied; None: nobody has looked yet. `assumption` is one without
    which the body would say something else, where only the call can tell.
    """

    status: int
    body: bytes
    subject: str | None = None
    content_type: str = "application/json"
    secret: bool = False
    varied: tuple[str, ...] | None = None
    assumption: str | None = None
