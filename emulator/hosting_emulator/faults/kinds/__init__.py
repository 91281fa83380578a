"""The kinds of faults: one file here for each, which is all there is of it.

A kind is a struct whose fields are its options and whose docstring says what it is for.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Protocol

import msgspec

from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.fault_records import Fault

#: Draws a number from [0, 1).
Chance = Callable[[], float]


class Wire(Protocol):
    """The connection that an answer is to be sent on: `head` and `body` are all bytes of it."""

    head: bytes
    body: bytes

    async def send(self, data: bytes) -> None:
        """Send bytes; waits while the client does not take them."""

    async def end(self) -> None:
        """End the answer; the connection serves another request."""

    async def wait(self, within_s: float | None = None) -> None:
        """Wait until the client is gone, or until so many real seconds have passed."""

    def close(self) -> None:
        """Close the connection."""

    def reset(self) -> None:
        """Reset the connection (TCP RST)."""

    def refuse(self, for_s: float) -> None:
        """Let the server refuse every new connection, for so many real seconds."""


def cut(wire: Wire, length: int) -> bytes:
    """Return an answer up to so many bytes of its body, and never all of it.

    One without a body is cut in its first line: clients forgive what is missing behind that.
    """
    return wire.head + wire.body[: cut_at(length, len(wire.body))] if wire.body else wire.head[:8]


def cut_at(length: int, body_bytes: int) -> int:
    """Return how many bytes of a body are sent if at most `length` are: all but one at most."""
    return min(length, max(0, body_bytes - 1))


class Page(NamedTuple):
    """An answer that is no answer of the API."""

    status: int
    body: bytes
    content_type: str
    headers: tuple[tuple[str, str], ...] = ()


class FaultKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all kinds. Each overrides what it does.

    `order` is its place in lists. `delays`: others act beside it. `answers`: it answers in place of
    the call. `silent`: no byte of an answer leaves, so before a commit the call is not made.
    `arrives`: the client gets a whole answer. `explore_order` is its place among what explore
    tries, the most telling first.
    """

    order: ClassVar[int]
    example: ClassVar[Mapping[str, Any]] = {}
    delays: ClassVar[bool] = False
    answers: ClassVar[bool] = False
    silent: ClassVar[bool] = False
    arrives: ClassVar[bool] = True
    explore_order: ClassVar[int | None] = None

    @property
    def name(self) -> str:
        """What it is called: its file's name."""
        return type(self).__module__.rpartition(".")[2]

    def count(self, fault: Fault, now_ms: int) -> tuple[Fault, bool]:
        """Count a request that the fault matched in its time; False: it does not act on this one."""
        return fault, True

    def delay(self, chance: Chance) -> int:
        """Return for how many real milliseconds a request is held up."""
        return 0

    def problem(self, fault: Fault, now_ms: int) -> Refused | None:
        """Return the problem that answers in place of the call."""
        return None

    def page(self) -> Page | None:
        """Return the page that answers in place of the call, where it is no problem."""
        return None

    def late_ms(self, body_bytes: int) -> int:
        """Return how much later the last byte of an answer arrives, in real milliseconds."""
        return 0

    def remark(self, body_bytes: int) -> str | None:
        """Return what is to be said where it does something else with an answer than it was told."""
        return None

    async def send(self, wire: Wire) -> None:
        """Carry the fault out in place of sending the answer."""
        await wire.send(wire.head + wire.body)
        await wire.end()

    @classmethod
    def explored(cls, detail: str, body_bytes: int, late_ms: int) -> dict[str, Any]:
        """Return the options with which explore arms it, for an answer of so many bytes.

        Where it delays, the last byte is `late_ms` real milliseconds late. `detail` is what follows the
        kind in explore's word, `abort:forbidden` say.
        """
        return {}


@cache
def fault_kinds() -> Mapping[str, type[FaultKind]]:
    """Return every kind by its name, in their order."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds = sorted(FaultKind.__subclasses__(), key=lambda kind: kind.order)
    return {kind.__module__.rpartition(".")[2]: kind for kind in kinds}


def kind_of(fault: Fault) -> FaultKind:
    """Return a fault's kind with its options. Raises msgspec.ValidationError or KeyError."""
    return convert(fault.options, fault_kinds()[fault.kind])
