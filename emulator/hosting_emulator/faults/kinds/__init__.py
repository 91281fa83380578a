"""The kinds of faults. Each has a file in this package, and no other file needs to name it.

A kind is a struct. Its fields are its options, and its docstring is its help text.
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

#: The order of the kinds in lists. A kind that is not named here follows, by its name.
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
)
#: The order in which explore tries kinds: the ones that reveal most come first, because a bounded run
#: leaves out the last ones. A kind that is not named here follows, by its name.
_EXPLORE_ORDER = (
    "timeout",
    "abort",
    "rate_limit",
    "connection_reset",
    "gateway_error",
    "truncate",
    "empty_response",
    "malformed_response",
    "latency",
    "slow_response",
)

#: When a fault is decided on: at the TLS handshake, while the request's body is still to be read, in its
#: rule's commit phase, or once the call has returned its response.
Stage: TypeAlias = Literal["handshake", "upload", "response"] | CommitPhase
#: Draws a number from [0, 1).
Chance = Callable[[], float]


class Wire(Protocol):
    """The connection of a response. `head` and `body` are all of its bytes."""

    head: bytes
    body: bytes

    async def send(self, data: bytes) -> None:
        """Send bytes. Waits while the client does not read them."""

    async def end(self) -> None:
        """End the response. The connection can then serve another request."""

    async def wait(self, within_s: float | None = None) -> None:
        """Wait until the client has closed the connection, at most for this many real seconds."""

    async def wait_for_world_time(self, ms: int) -> None:
        """Wait until world time has moved on by `ms`, or the client has closed the connection."""

    def close(self) -> None:
        """Close the connection."""

    def reset(self) -> None:
        """Reset the connection (TCP RST)."""

    def refuse(self, for_s: float) -> None:
        """Let the server refuse every new connection for this many real seconds."""


def cut(wire: Wire, length: int) -> bytes:
    """Return a response up to this many bytes of its body, but never all of it.

    A response without a body is cut in its first line, because clients accept one that lacks only its
    last headers.
    """
    if not wire.body:
        return wire.head[:8]
    return wire.head + wire.body[: cut_at(length, len(wire.body))]


def cut_at(length: int, body_bytes: int) -> int:
    """Return how many bytes of a body are sent: at most `length`, and at most all but one."""
    return min(length, max(0, body_bytes - 1))


@dataclass(frozen=True, slots=True)
class PageResponse:
    """A response that does not come from the API."""

    status: int
    body: bytes
    content_type: str
    headers: tuple[tuple[str, str], ...] = ()


class FaultKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all kinds. A kind overrides what it does.

    With `delays` other faults act on the same request too. With `replaces_response` the kind responds
    instead of the call. With `sends_nothing` no byte of a response is sent, so before a commit the call
    is not made. With `delivers_response` the client receives a whole response. With `is_explored`
    explore tries the kind. A kind of the stage `upload` acts before the request's body is read, and
    only on a request that has one. A kind of the stage `handshake` acts before there is a request. A kind
    of the stage `response` changes the response that the call returned, and lets other faults act; it
    has no commit phase.
    """

    example: ClassVar[Mapping[str, Any]] = {}
    stage: ClassVar[Literal["handshake", "upload", "response"] | None] = None
    delays: ClassVar[bool] = False
    replaces_response: ClassVar[bool] = False
    sends_nothing: ClassVar[bool] = False
    delivers_response: ClassVar[bool] = True
    is_explored: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of the kind, which is the name of its file."""
        return _name_of(type(self))

    def count(self, fault: Fault, now_ms: int) -> tuple[Fault, bool]:
        """Count a request that the fault matched. Return the fault, and whether it acts on the request."""
        return fault, True

    def delay(self, chance: Chance) -> int:
        """Return the delay of the request in real milliseconds."""
        return 0

    def upload_rate(self) -> int | None:
        """Return how many bytes of the request's body are read in a real second. None: all at once."""
        return None

    def upload_bytes(self) -> int | None:
        """Return after how many bytes of its body the request breaks off. None: it does not."""
        return None

    def problem(self, fault: Fault, now_ms: int) -> Refused | None:
        """Return the problem that is sent instead of the call's response. None: the kind sends none."""
        return None

    def page(self) -> PageResponse | None:
        """Return the page that is sent instead of the call's response. None: the kind sends none."""
        return None

    def late_ms(self, body_bytes: int) -> int:
        """Return the delay of a response's last byte, in real milliseconds."""
        return 0

    def world_pause_ms(self) -> int:
        """Return for how many milliseconds of world time a response stops."""
        return 0

    def deviation(self, body_bytes: int) -> str | None:
        """Describe how the effect on a response deviates from the options. None: it does not."""
        return None

    async def send(self, wire: Wire) -> None:
        """Send the response as the fault changes it."""
        await wire.send(wire.head + wire.body)
        await wire.end()

    @classmethod
    def note(cls, rule: Rule) -> str | None:
        """Return what a user should know of a fault with this rule when it is armed. None: nothing."""
        return None

    @classmethod
    def explore_options(cls, detail: str, body_bytes: int, late_ms: int) -> dict[str, Any]:
        """Return the options that explore uses for a response of this many bytes.

        If the kind delays, the last byte is `late_ms` real milliseconds late. `detail` is the second
        part of explore's word, such as `forbidden` in `abort:forbidden`.
        """
        return {}


@cache
def fault_kinds() -> Mapping[str, type[FaultKind]]:
    """Return every kind by its name, in the order of lists."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds = {_name_of(kind): kind for kind in FaultKind.__subclasses__()}
    return {name: kinds[name] for name in _ordered(kinds, _LIST_ORDER)}


def explored_kinds() -> tuple[str, ...]:
    """Return the names of the kinds that explore tries, in its order."""
    names = [name for name, kind in fault_kinds().items() if kind.is_explored]
    return tuple(_ordered(names, _EXPLORE_ORDER))


def kind_of(fault: Fault) -> FaultKind:
    """Return a fault's kind with its options. Raises msgspec.ValidationError or KeyError."""
    return convert(fault.options, fault_kinds()[fault.kind])


def stage_of(fault: Fault) -> Stage:
    """Return when a fault is decided on."""
    return fault_kinds()[fault.kind].stage or fault.rule.commit_phase


def commit_phase_of(fault: Fault) -> CommitPhase | None:
    """Return the commit phase in which a fault acts. None: it has none, because it alters the response."""
    return None if stage_of(fault) == "response" else fault.rule.commit_phase


def _name_of(kind: type[FaultKind]) -> str:
    return kind.__module__.rpartition(".")[2]


def _ordered(names: Iterable[str], order: tuple[str, ...]) -> list[str]:
    """Return names in an order. Names that it lacks follow, sorted."""
    return sorted(
        names, key=lambda name: (order.index(name) if name in order else len(order), name)
    )
