"""What a call is asked and what it answers: plain values, without sockets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import msgspec
from multidict import CIMultiDict, MultiMapping

from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.ids import make_ulid
from hosting_emulator.world.records import OperationOutcome
from hosting_emulator.world.streams import derive
from hosting_emulator.world.value import World

#: What goes with every answer of a call.
NO_STORE = (("Cache-Control", "no-store"),)


#: The headers of a request: one name may have come more than once, in any case.
Headers: TypeAlias = MultiMapping[str]
NO_HEADERS = CIMultiDict[str]()


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. `permissions` is None for an access token: only API keys are limited to some.

    `session_id` is the session that the token was issued in, which may have ended since.
    """

    user_id: str
    organization_id: str | None
    session_id: str | None = None
    permissions: frozenset[str] | None = None
    api_key_id: str | None = None

    @property
    def interactive(self) -> bool:
        """Whether the token is one that a session gives."""
        return self.session_id is not None

    def __bool__(self) -> bool:
        """Whether it is anybody."""
        return self is not NOBODY


NOBODY = Principal("", None)


class CallRequest(msgspec.Struct, kw_only=True):
    """One request of a call: how it came in, and what has been read of it since.

    `path` is without a world's prefix; `dev_port` is the port dev origins answer at, None for the
    scheme's own. `world` is as the request found it; `n`, and how often the world was started
    before, tell the request from every other of its world.
    """

    method: str
    path: str
    query: str = ""
    headers: Headers
    body: bytes = b""
    dev_port: int | None = None
    world: World = cast("World", None)
    n: int = 0
    starts: int = 0
    at_ms: int = 0
    given_request_id: str | None = None
    spec: CallSpec = cast("CallSpec", None)
    subject_id: str = ""
    principal: Principal = NOBODY
    values: Mapping[str, Any] = {}
    idempotency_key: str = ""
    canonical_body: str = ""
    #: Where an answer under its Idempotency-Key is remembered, and what two requests share exactly
    #: when they are the same request: call, path and body.
    storage_key: str = ""
    fingerprint: str = ""
    #: What is told beforehand of the operation that the call is to begin.
    outcome: OperationOutcome | None = None

    def request_id(self) -> str:
        """Return the id the client gave, or one of our own, which is worked out when it is needed."""
        if self.given_request_id is None:
            number = f"{self.starts}/{self.n}" if self.starts else str(self.n)
            self.given_request_id = derived_request_id(self.world.seed, number, self.at_ms)
        return self.given_request_id


def derived_request_id(seed: str, number_text: str, now_ms: int) -> str:
    """Return the request id of the request of this number."""
    return "req_" + make_ulid(now_ms, derive(seed, "request", number_text, size=10))


class Reply(msgspec.Struct):
    """An answer: its status (0: none at all), its body's bytes and what it made (for explanations).

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
    headers: Sequence[tuple[str, str]] = NO_STORE
