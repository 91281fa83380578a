"""The kinds of faults. A new kind needs only its own file in this package.

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

#: The order of the kinds in lists. Kinds that are missing here follow in alphabetical order.
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

#: The stage of a kind that acts neither directly before nor directly after the commit. The stages
#: are the TLS handshake, the upload of the request's body, the delivery of the request, a read of
#: the world's state, and the response that the call has returned.
KindStage: TypeAlias = Literal["handshake", "upload", "delivery", "read", "response"]
Stage: TypeAlias = KindStage | CommitPhase
#: The stages of faults that have no commit phase and let other faults act.
_WITHOUT_PHASE: tuple[Stage, ...] = ("delivery", "read", "response")
#: The modes of a clock that moves with real time.
RUNNING_CLOCKS = ("real", "scaled")
#: A function that draws a number from [0, 1).
Chance = Callable[[], float]


class Wire(Protocol):
    """The connection on which a response is sent. `head` and `body` contain all bytes of the response."""

    head: bytes
    body: bytes

    async def send(self, data: bytes) -> None:
        """Send bytes, and wait whenever the client does not read fast enough."""

    async def end(self) -> None:
        """End the response. The connection can then serve another request."""

    async def wait(self, within_s: float | None = None) -> None:
        """Wait until the client has closed the connection, for at most `within_s` real seconds."""

    async def wait_for_world_time(self, ms: int) -> None:
        """Wait until world time has advanced by `ms`, or until the client has closed the connection."""

    def close(self) -> None:
        """Close the connection."""

    def reset(self) -> None:
        """Reset the connection (TCP RST)."""

    def refuse(self, for_s: float) -> None:
        """Make the server refuse all new connections for `for_s` real seconds."""


def cut(wire: Wire, length: int) -> bytes:
    """Return a response cut off after `length` bytes of its body, but never the whole response.

    A response without a body is cut off in its first line, because clients accept a response in
    which only the last headers are missing.
    """
    if not wire.body:
        return wire.head[:8]
    return wire.head + wire.body[: cut_at(length, len(wire.body))]


def cut_at(length: int, body_bytes: int) -> int:
    """Return the number of body bytes to send, which is `length` but never includes the last byte."""
    return min(length, max(0, body_bytes - 1))


@dataclass(frozen=True, slots=True)
class PageResponse:
    """A response that does not come from the API."""

    status: int
    body: bytes
    content_type: str
    headers: tuple[tuple[str, str], ...] = ()


class FaultKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base class of all kinds of faults. A kind overrides the methods for its effects.

    A kind with `delays` lets later faults act on the same request. A kind with `replaces_response`
    replaces the call's response with another response. A kind with `sends_nothing` sends no part of
    a response, so the call is not made if the fault acts before the commit. A kind with
    `delivers_response` lets the client receive a whole response.

    A kind with `needs_running_clock` makes requests wait until a certain world time. Such a kind
    acts only while the world's clock runs.

    A kind whose stage is `upload` acts while the request's body is read, and only on a request with
    a body. A kind whose stage is `handshake` acts before there is a request. A kind whose stage is
    `delivery` determines how often the request is handled. A kind whose stage is `read` shows an
    earlier state in the response to a read. A kind whose stage is `response` changes the response
    that the call returned. A kind whose stage is `delivery`, `read` or `response` has no commit
    phase, and lets other faults act.
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
        """Return the fault with a matching request counted, and whether the fault acts on the request."""
        return fault, True

    def delay(self, chance: Chance) -> int:
        """Return the delay of the request in real milliseconds."""
        return 0

    def wait_ms(self, fault: Fault, now_ms: int) -> int:
        """Return how long the request that `count` counted must wait, in milliseconds of world time."""
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
        """Return the delay of a response's last byte, in real milliseconds."""
        return 0

    def world_pause_ms(self) -> int:
        """Return the length of the pause in a response, in milliseconds of world time."""
        return 0

    def deviation(self, body_bytes: int) -> str | None:
        """Describe how the effect deviates from the options, or return None if it does not."""
        return None

    async def send(self, wire: Wire) -> None:
        """Send the response with the changes that the fault makes."""
        await wire.send(wire.head + wire.body)
        await wire.end()

    @classmethod
    def note(cls, rule: Rule) -> str | None:
        """Return a note for the user who arms a fault with this rule, or None if no note is needed."""
        return None


@cache
def fault_kinds() -> Mapping[str, type[FaultKind]]:
    """Return all kinds by name, in the order used by lists."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds = {_name_of(kind): kind for kind in FaultKind.__subclasses__()}
    return {name: kinds[name] for name in _ordered(kinds, _LIST_ORDER)}


def kind_of(fault: Fault) -> FaultKind:
    """Return a fault's kind with its options.

    Raises KeyError for an unknown kind, and msgspec.ValidationError for invalid options.
    """
    return convert(fault.options, fault_kinds()[fault.kind])


def stage_of(fault: Fault) -> Stage:
    """Return the stage in which a fault acts."""
    return fault_kinds()[fault.kind].stage or fault.rule.commit_phase


def commit_phase_of(fault: Fault) -> CommitPhase | None:
    """Return the commit phase in which a fault acts, or None if the fault's kind has no phase."""
    return fault.rule.commit_phase if has_phase(fault.kind) else None


def has_phase(kind: str) -> bool:
    """Return whether faults of this kind act in a commit phase.

    A kind without a commit phase alters the response, delivers the request twice, or shows an
    earlier state in the response to a read.
    """
    return fault_kinds()[kind].stage not in _WITHOUT_PHASE


def needs_running_clock(kind: str) -> bool:
    """Return whether faults of this kind act only while the world's clock runs."""
    fault_kind = fault_kinds().get(kind)
    return fault_kind is not None and fault_kind.needs_running_clock


def _name_of(kind: type[FaultKind]) -> str:
    return kind.__module__.rpartition(".")[2]


def _ordered(names: Iterable[str], order: tuple[str, ...]) -> list[str]:
    """Return names sorted by `order`. Names that are not in `order` follow in alphabetical order."""
    return sorted(
        names, key=lambda name: (order.index(name) if name in order else len(order), name)
    )
