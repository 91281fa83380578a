"""One exchange through the core: all that is known of it, and the effects it asks for on its way.

These are plain values: the server makes the context and carries the effects out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from msgspec import field

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.calls import Subject
from hosting_emulator.contract.problems import Refused
from hosting_emulator.faults.decisions import Decision
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.variation.answers import Paging
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.records import ApiKey
from hosting_emulator.world.value import Change, Transition, World, Writes


class Delay(NamedTuple):
    """Wait for so many real milliseconds. `answered`: what was asked is done, only the client waits."""

    ms: int
    answered: bool = False


class Durable(NamedTuple):
    """Await what this returns, if anything, and send back the OSError that it raised, if it did."""

    kept: Callable[[], Awaitable[None] | None]


#: An exchange on its way: it yields effects and returns the answer.
Exchange: TypeAlias = Generator[Delay | Durable, OSError | None, Reply]


def run_through(exchange: Exchange) -> Reply:
    """Carry an exchange through without waiting for anything."""
    try:
        while True:
            next(exchange)
    except StopIteration as done:
        reply: Reply = done.value
        return reply


class Committed(NamedTuple):
    """A commit that an exchange made: its title, what it wrote, and the world it came to.

    `entered` is what operations went through in it.
    """

    title: str
    writes: Writes
    world: World
    entered: Sequence[Transition] = ()


class ExchangeContext(CallRequest, kw_only=True):
    """One exchange: what came in, what the steps find out, and why it went as it did.

    The first group of fields is given: `raw_headers` are all headers as they came, for the request
    log; `refused` is what the server found wrong before the core saw it (an oversized or broken
    body); `docs_url` tells where problem types point. Only references are kept: a plain read must
    not pay for what nobody may ever look at.
    """

    raw_headers: Sequence[tuple[bytes, bytes]] = ()
    refused: Refused | None = None
    docs_url: Callable[[], str] | None = None

    number: int = 0
    began_ns: int = 0
    #: World time and the machine's when the request came, and how long a fault held it up since.
    came_ms: int = 0
    real_ms: int = 0
    delayed_ms: int = 0
    call: str | None = None
    #: What `subject_id`, which the path names, is the id of.
    subject: Subject | None = None
    #: The API key that says who asks, if it is one.
    key: ApiKey | None = None
    #: Access was judged: nothing refused the request before that.
    judged: bool = False
    #: The change that its call is made in, and what the call is about.
    change: Change = cast("Change", None)
    record: Any = None
    reply: Reply | None = None
    replayed: bool = False
    #: The problem code it was answered with.
    code: str | None = None
    #: The assumption that decided the answer, where only the core can tell.
    assumption: str | None = None
    why: list[str] = field(default_factory=list)
    commits: list[Committed] = field(default_factory=list)
    #: What faults do before the commit, once that is decided, and to the answer on its wire.
    decision: Decision | None = None
    effect: FaultKind | None = None
    #: How late, in real milliseconds, the answer leaves once all is done.
    late_ms: int = 0
    #: The faults that acted, as their hits counted then.
    acted: tuple[Fault, ...] = ()
    #: What its answer is varied by, how its page is, and the points at which it varies.
    what: str = ""
    paging: Paging | None = None
    varied: tuple[str, ...] = ()

    def again(self, refused: Refused) -> ExchangeContext:
        """Return the same request as it came, to be refused."""
        given = (
            *("method", "path", "query", "headers", "body", "dev_port", "raw_headers", "docs_url"),
            "record",
        )
        kept: dict[str, Any] = {name: getattr(self, name) for name in given}
        return ExchangeContext(**kept, refused=refused)


def too_large(limit: int) -> Refused:
    """Return the refusal of a request body of more than `limit` bytes."""
    return Refused("payload_too_large", f"The request body is larger than {limit} bytes.")
