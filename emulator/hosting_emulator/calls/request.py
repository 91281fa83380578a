"""The request to a call and the reply from it, as plain values that do not depend on a connection."""

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

#: The headers that are included in every response to a call.
NO_STORE = (("Cache-Control", "no-store"),)
#: The headers of a request. Names are case-insensitive, and a name can occur more than once.
Headers: TypeAlias = MultiMapping[str]
NO_HEADERS = CIMultiDict[str]()


@dataclass(frozen=True, slots=True)
class Principal:
    """The user or API key that makes a request.

    `permissions` is None for an access token, because only API keys are restricted to certain
    permissions. `session_id` is the session in which the token was issued, even if that session has
    since ended.
    """

    user_id: str
    organization_id: str | None
    session_id: str | None = None
    permissions: frozenset[str] | None = None
    api_key_id: str | None = None

    @property
    def interactive(self) -> bool:
        """Whether the token was issued in a session."""
        return self.session_id is not None

    def __bool__(self) -> bool:
        """Whether the request was authenticated as a user or an API key. Only NOBODY is falsy."""
        return self is not NOBODY


NOBODY = Principal("", None)


class CallRequest(msgspec.Struct, kw_only=True):
    """A request to the API, along with what has already been parsed from it.

    `path` does not include the prefix that selects the world. `dev_port` is the port of the dev
    origins, or None for the default HTTPS port. `world` is the world as it was before the request.
    `n` is the request's number in the log, and `starts` is the number of times that the world has
    been loaded from disk. Together, `n` and `starts` identify the request within its world until
    the log is cleared.
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
    #: For a request with an Idempotency-Key, the key under which its response is remembered.
    storage_key: str = ""
    #: A digest of the call, the path and the body. Requests with equal fingerprints count as the
    #: same request.
    fingerprint: str = ""
    #: The armed outcome for the operation that the call starts.
    outcome: OperationOutcome | None = None

    def request_id(self) -> str:
        """Return the request id that the client sent, or a generated id if it sent no valid id."""
        if self.given_request_id is None:
            number = str(self.n)
            if self.starts:
                number = f"{self.starts}/{self.n}"
            self.given_request_id = derived_request_id(self.world.seed, number, self.at_ms)
        return self.given_request_id


def derived_request_id(seed: str, number_text: str, now_ms: int) -> str:
    """Return a request id derived from the seed, the request's number and the time."""
    return "req_" + make_ulid(now_ms, derive(seed, "request", number_text, size=10))


class Reply(msgspec.Struct):
    """The response to a call.

    The status is 0 if there is no response. `subject` is the id of the resource that was created,
    changed or read.

    `secret` is true if the body contains credential material and must not be stored. `varied` lists
    the variation points at which the body was varied, and is None until the variation has been
    applied. `assumption` names an assumption that affected the body, if only the call's own
    implementation can detect the effect.
    """

    status: int
    body: bytes
    subject: str | None = None
    content_type: str = "application/json"
    secret: bool = False
    varied: tuple[str, ...] | None = None
    assumption: str | None = None
    headers: Sequence[tuple[str, str]] = NO_STORE
