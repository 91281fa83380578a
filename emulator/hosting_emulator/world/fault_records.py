"""Faults as data: what one matches, when it acts and what it does. Decided in `faults`, not here.

An effect only says what is to happen, in the field's usual words. Those that are answers are given
by the engine; those that happen to a connection travel with the answer to the socket.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.words import nearest

#: The longest delay of a fault, in real milliseconds: ten minutes.
LONGEST_DELAY_MS = 600_000
Delay = Annotated[int, Meta(ge=0, le=LONGEST_DELAY_MS)]


class _Effect(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", omit_defaults=True
):
    """Base of all effects."""


class Abort(_Effect, frozen=True, tag="abort"):
    """Answer with a problem: any code; its usual status unless another is given."""

    code: str
    status: Annotated[int, Meta(ge=400, le=599)] | None = None
    detail: str | None = None
    retry_after_seconds: Annotated[int, Meta(ge=1, le=86_400)] | None = None

    def __post_init__(self) -> None:
        if self.code not in PROBLEMS:
            raise ValueError(f"no problem has the code {self.code!r}{nearest(self.code, PROBLEMS)}")


class GatewayError(_Effect, frozen=True, tag="gateway_error"):
    """Answer as a proxy in between would: an HTML page instead of a problem."""

    status: Literal[500, 502, 503, 504] = 502
    html: str | None = None


class Latency(_Effect, frozen=True, tag="latency"):
    """Answer late, by real milliseconds. `jitter_ms` spreads the delay, drawn from the seed."""

    delay_ms: Delay
    jitter_ms: Delay = 0
    distribution: Literal["uniform", "normal", "exponential"] = "uniform"


class Timeout(_Effect, frozen=True, tag="timeout"):
    """Never answer: the connection stays open until the client gives up."""


class ConnectionReset(_Effect, frozen=True, tag="connection_reset"):
    """Reset the connection (TCP RST) instead of answering."""


class EmptyResponse(_Effect, frozen=True, tag="empty_response"):
    """Close the connection without a byte of an answer."""


class Truncate(_Effect, frozen=True, tag="truncate"):
    """Send the headers and only so many bytes of the body, then close."""

    bytes: Annotated[int, Meta(ge=0, le=1_048_576)] = 0


class MalformedResponse(_Effect, frozen=True, tag="malformed_response"):
    """Send the right status and headers, then bytes that are no JSON of that length, and close."""


class SlowResponse(_Effect, frozen=True, tag="slow_response"):
    """Send the body slowly, at so many bytes a real second."""

    bytes_per_second: Annotated[int, Meta(ge=1, le=1_000_000)]


class RateLimit(_Effect, frozen=True, tag="rate_limit"):
    """Let `limit` requests pass in each `window` of world time; answer the others rate_limited."""

    limit: Annotated[int, Meta(ge=0, le=1_000_000)]
    window: str = "60s"

    def __post_init__(self) -> None:
        if not 1_000 <= parse_duration_ms(self.window) <= 86_400_000:
            raise ValueError(f"the window {self.window!r} is not between 1s and 24h")


Effect = (
    Abort
    | GatewayError
    | Latency
    | Timeout
    | ConnectionReset
    | EmptyResponse
    | Truncate
    | MalformedResponse
    | SlowResponse
    | RateLimit
)
#: Effects that replace or destroy the answer; a latency or a slow body lets it through.
KINDS: dict[str, type[_Effect]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (
        Abort,
        GatewayError,
        Latency,
        Timeout,
        ConnectionReset,
        EmptyResponse,
        Truncate,
        MalformedResponse,
        SlowResponse,
        RateLimit,
    )
}

Phase = Literal["before_commit", "after_commit"]


class Fault(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """An armed fault, kept under its id. Matches are ANDed; what is None matches everything.

    Moments are milliseconds of world time. `seen` counts the requests it matched, `hits` those it
    acted on; both are part of the world, so they survive a restart and a fork counts on its own.
    """

    id: str
    order: int
    armed_ms: int
    effect: Effect
    phase: Phase = "before_commit"
    call: str | None = None
    project: str | None = None
    principal: str | None = None
    method: str | None = None
    path: str | None = None
    header: dict[str, str] | None = None
    times: int | None = None
    skip_first: int = 0
    every: int = 1
    probability: float = 1.0
    from_ms: int | None = None
    until_ms: int | None = None
    seen: int = 0
    hits: int = 0
    window_began_ms: int = 0
    window_count: int = 0
