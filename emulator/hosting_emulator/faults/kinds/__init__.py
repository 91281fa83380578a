"""The kinds of faults. To add a kind, add a file to this package.

A kind is a struct whose fields are its options and whose docstring is its help text.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import msgspec

from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.fault_records import CommitPhase, Fault, Rule

#: The order in which lists show the kinds. Any other kinds follow in alphabetical order.
_LIST_ORDER = (
    "abort",
    "gateway_error",
    "latency",
    "timeout",
    "connection_reset",
    "empty_response",
    "truncate",
    "malformed_response",
    "slow_response",
    "rate_limit",
    "redirect",
    "reset_in_body",
    "wrong_content_length",
    "duplicate_response",
    "respond",
    "refuse_connections",
    "slow_upload",
    "reset_in_upload",
    "sliced_response",
    "stalled_response",
    "bad_certificate",
    "alter",
    "deliver_twice",
    "stale_read",
    "admission_window",
    "admission_queue",
)

#: The stage at which a kind acts, for kinds that do not act directly before or after the commit:
#: the TLS handshake, the upload of the request body, the delivery of the request, a read of the
#: world's state, or the response that the call has returned.
KindStage: TypeAlias = Literal["handshake", "upload", "delivery", "read", "response"]
Stage: TypeAlias = KindStage | CommitPhase
#: The stages in which faults have no commit phase and do not prevent other faults from acting.
_WITHOUT_PHASE: tuple[Stage, ...] = ("delivery", "read", "response")
#: The clock modes in which world time advances with real time.
RUNNING_CLOCKS = ("real", "scaled")
#: A function that draws a number from [0, 1).
Chance = Callable[[], float]


class Wire(Protocol):
    """The connection on which a response is sent. `head` and `body` together are all the bytes of
    the response.
    """

    head: bytes
    body: bytes

    async def send(self, data: bytes) -> None:
        """Send bytes, waiting whenever the client does not read fast enough."""

    async def end(self) -> None:
        """End the response. After that, the connection can be used for another request."""

    async def wait(self, within_s: float | None = None) -> None:
        """Wait until the client closes the connection, for at most `within_s` real seconds."""

    async def wait_for_world_time(self, ms: int) -> None:
        """Wait until world time has advanced by `ms`, or until the client closes the connection."""

    def close(self) -> None:
        """Close the connection."""

    def reset(self) -> None:
        """Reset the connection (TCP RST)."""

    def refuse(self, for_s: float) -> None:
        """Make the server refuse any new connection for `for_s` real seconds."""


def cut(wire: Wire, length: int) -> bytes:
    """Return a response truncated after `length` bytes of its body. The result is never the whole
    response.

    A response without a body is truncated in its first line, because clients accept a response that
    lacks only its last headers.
    """
    if not wire.body:
        return wire.head[:8]
    return wire.head + wire.body[: cut_at(length, len(wire.body))]


def cut_at(length: int, body_bytes: int) -> int:
    """Return the number of body bytes to send: `length`, but always less than the whole body."""
    return min(length, max(0, body_bytes - 1))


@dataclass(frozen=True, slots=True)
class PageResponse:
    """A response that does not come from the API."""

    status: int
    body: bytes
    content_type: str
    headers: tuple[tuple[str, str], ...] = ()


class FaultKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base class of all kinds of faults. Each kind overrides the methods that implement its effects.

    A kind with `delays` allows later faults to act on the same request. A kind with
    `replaces_response` replaces the call's response with a different one. A kind with
    `sends_nothing` does not send any part of a response, so the call is not made if the fault acts
    before the commit. With a kind that has `delivers_response`, the client receives a complete
    response.

    A kind with `needs_running_clock` makes requests wait until a particular world time, so it acts
    only while the world's clock is running.

    A kind in the stage `upload` acts while the request body is being read, and only on requests
    with a body. In the stage `handshake`, a kind acts before there is a request. In the stage
    `delivery`, it determines how often the request is handled. In the stage `read`, it makes the
    response to a read show an earlier state. In the stage `response`, it changes the response that
    the call returned. Kinds in the stages `delivery`, `read` and `response` have no commit phase,
    and do not prevent other faults from acting.
    """

    example: ClassVar[Mapping[str, Any]] = {}
    stage: ClassVar[KindStage | None] = None
    delays: ClassVar[bool] = False
    replaces_response: ClassVar[bool] = False
    sends_nothing: ClassVar[bool] = False
    delivers_response: ClassVar[bool] = True
    needs_running_clock: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of the kind, which is also the name of its file."""
        return _name_of(type(self))

    def count(self, fault: Fault, now_ms: int) -> tuple[Fault, bool]:
        """Count a matching request. Return the fault with its new counts, and whether it acts on
        the request.
        """
        return fault, True

    def delay(self, chance: Chance) -> int:
        """Return how long to delay the request, in real milliseconds."""
        return 0

    def wait_ms(self, fault: Fault, now_ms: int) -> int:
        """Return how long the request must wait, in milliseconds of world time. `fault` has already
        counted the request.
        """
        return 0

    def upload_rate(self) -> int | None:
        """Return the number of body bytes to read per real second, or None to read at full speed."""
        return None

    def upload_bytes(self) -> int | None:
        """Return the number of body bytes at which the request is cut off, or None if it is not."""
        return None

    def problem(self, fault: Fault, now_ms: int) -> Refused | None:
        """Return the problem that replaces the call's response, or None if the kind sends no problem."""
        return None

    def page(self) -> PageResponse | None:
        """Return the page that replaces the call's response, or None if the kind sends no page."""
        return None

    def late_ms(self, body_bytes: int) -> int:
        """Return how long the last byte of a response is delayed, in real milliseconds."""
        return 0

    def world_pause_ms(self) -> int:
        """Return how long a response pauses, in milliseconds of world time."""
        return 0

    def deviation(self, body_bytes: int) -> str | None:
        """Describe how the effect differs from what the options specify, or return None if it does
        not.
        """
        return None

    async def send(self, wire: Wire) -> None:
        """Send the response with the changes that the fault makes."""
        await wire.send(wire.head + wire.body)
        await wire.end()

    @classmethod
    def note(cls, rule: Rule) -> str | None:
        """Return a note to show when a user arms a fault with this rule, or None if no note is
        needed.
        """
        return None


@cache
def fault_kinds() -> Mapping[str, type[FaultKind]]:
    """Return all kinds by name, in the order in which lists show them."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds = {_name_of(kind): kind for kind in FaultKind.__subclasses__()}
    return {name: kinds[name] for name in _ordered(kinds, _LIST_ORDER)}


def kind_of(fault: Fault) -> FaultKind:
    """Return an instance of a fault's kind with its options.

    Raises KeyError for an unknown kind, and msgspec.ValidationError for invalid options.
    """
    return convert(fault.options, fault_kinds()[fault.kind])


def stage_of(fault: Fault) -> Stage:
    """Return the stage in which a fault acts."""
    return fault_kinds()[fault.kind].stage or fault.rule.commit_phase


def commit_phase_of(fault: Fault) -> CommitPhase | None:
    """Return the commit phase in which a fault acts, or None if its kind has none."""
    return fault.rule.commit_phase if has_phase(fault.kind) else None


def has_phase(kind: str) -> bool:
    """Return whether faults of this kind act in a commit phase.

    A kind without a commit phase alters the response, delivers the request twice, or makes the
    response to a read show an earlier state.
    """
    return fault_kinds()[kind].stage not in _WITHOUT_PHASE


def needs_running_clock(kind: str) -> bool:
    """Return whether faults of this kind act only while the world's clock runs."""
    fault_kind = fault_kinds().get(kind)
    return fault_kind is not None and fault_kind.needs_running_clock


def _name_of(kind: type[FaultKind]) -> str:
    return kind.__module__.rpartition(".")[2]


def _ordered(names: Iterable[str], order: tuple[str, ...]) -> list[str]:
    """Return names sorted as in `order`, followed by any other names in alphabetical order."""
    return sorted(
        names, key=lambda name: (order.index(name) if name in order else len(order), name)
    )
