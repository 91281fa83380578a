"""One exchange through the core: what comes in from the socket, what goes out to it.

These are plain values: the server makes the one and writes the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.trail import Committed
from hosting_emulator.faults.deciding import Decision
from hosting_emulator.world.fault_records import Effect


def too_large(limit: int) -> Refused:
    """Return the refusal of a request body of more than `limit` bytes."""
    return Refused("payload_too_large", f"The request body is larger than {limit} bytes.")


@dataclass(slots=True)
class Incoming:
    """A request of the public API. `headers` returns every value of a header.

    `path` is without a world's prefix; `refused` is what the server found wrong before the core saw
    it (an oversized or broken body); `decided` is what faults do to it, once that is known,
    `commits` what was committed on the way to that, and `came` when (world time, machine's) it came;
    `docs_url` tells where problem types point; `dev_port` is the port of dev origins; `raw_headers`
    are all headers as they came, for the request log.
    """

    method: str
    path: str
    query: str
    docs_url: Callable[[], str]
    headers: Callable[[str], Sequence[str]]
    body: bytes = b""
    dev_port: int | None = None
    refused: Refused | None = None
    decided: Decision | None = None
    commits: list[Committed] | None = None
    came: tuple[int, int] | None = None
    raw_headers: Sequence[tuple[bytes, bytes]] = ()


@dataclass(slots=True)
class Outgoing:
    """An answer. `in_flight` is to be given back to the engine once it has been sent.

    It is to be sent after `delay_ms` of real time; with `resume` there is no answer yet, and the
    request is to be put to the engine again then. `breakage` is what happens to it at the socket.
    """

    status: int
    body: bytes
    content_type: str
    headers: Sequence[tuple[str, str]] = ()
    in_flight: str | None = None
    delay_ms: int = 0
    resume: bool = False
    breakage: Effect | None = None
