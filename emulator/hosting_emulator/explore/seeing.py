"""What a world has seen when a run is over, asked of the control API; and arming it before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hosting_emulator.explore.planning import document_of
from hosting_emulator.explore.points import Point
from hosting_emulator.explore.requests import SeenRequest, number
from hosting_emulator.explore.states import summary
from hosting_emulator.sdk import ControlClient, ControlRefused, Exchange, world_path

#: How many exchanges a world's log keeps, and so how many requests a run may have.
MOST_REQUESTS = 1000
_SEVERE = ("warning", "error")


class TooManyRequests(Exception):
    """A run has more requests than a log keeps; the message says what would help."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A world after a run. `hit`: the armed fault acted; `codes` are those of its problems.

    `late`: a request that the fault delayed has not been answered yet, its client being gone.
    `conduct` says what the client did that it should not, where the emulator watches for it.
    """

    requests: tuple[SeenRequest, ...]
    state: Mapping[str, Counter[str]]
    codes: frozenset[str] = frozenset()
    hit: bool = False
    late: bool = False
    conduct: tuple[str, ...] = ()


def arm(client: ControlClient, world: str, point: Point, requests: Sequence[SeenRequest]) -> str:
    """Arm a point's fault in a world that begins as the clean run's did, and return its id.

    `requests` are the clean run's. Raises ValueError if the point cannot be met there.
    """
    request = next((r for r in requests if r.name == point.request), None)
    if request is None:
        count = sum(r.call == point.call for r in requests)
        raise ValueError(
            f"the clean run has no request {point.request}: it makes {count} of {point.call}"
        )
    if point.phase == "after_commit" and not request.succeeded:
        raise ValueError(
            f"{point.request} is answered {request.status} in the clean run: nothing is committed "
            "that a fault could come after; write before_commit"
        )
    return client.add_fault(document_of(point, request), world)["id"]


def see(
    client: ControlClient,
    world: str,
    fault: str | None = None,
    *,
    sizes: bool = False,
    off: Sequence[str] = (),
) -> Seen:
    """Look at a world after a run in which `fault` was armed. Raises ControlError, TooManyRequests.

    `sizes` asks how long each answer was, too; `off` are rules of conduct that do not count.
    """
    page = client.request_page(world, limit=MOST_REQUESTS, trail=False)
    if page["total"] > len(page["items"]):
        raise TooManyRequests(
            f"it makes {page['total']} requests, and a world remembers {MOST_REQUESTS}: explore a "
            "smaller part of it"
        )
    exchanges = page["items"][::-1]
    hit = fault is not None and _hits(client, world, fault) > 0
    return Seen(
        requests=number(exchanges, _sizes(client, world, exchanges) if sizes else None),
        state=summary(client.export_state(world)),
        codes=frozenset(e["code"] for e in exchanges if e["code"]),
        hit=hit,
        late=hit and not any(f"{fault} (" in why for e in exchanges for why in e["why"]),
        conduct=_conduct(client, world, off),
    )


def _sizes(client: ControlClient, world: str, exchanges: Sequence[Exchange]) -> dict[int, int]:
    return {e["n"]: client.request(e["n"], world)["answer"]["body_bytes"] for e in exchanges}


def _hits(client: ControlClient, world: str, fault: str) -> int:
    try:
        return client.fault(fault, world)["hits"]
    except ControlRefused as refused:
        if refused.status == 404:  # the client was at the control API itself, and removed it
            return 0
        raise


def _conduct(client: ControlClient, world: str, off: Sequence[str]) -> tuple[str, ...]:
    """Return what the client had better not have done, each rule once."""
    try:
        found = client.get(f"{world_path(world)}/conduct?final=true&off={','.join(off)}")[
            "findings"
        ]
    except ControlRefused as refused:
        if refused.status == 404:  # this emulator does not watch for it
            return ()
        raise
    said = (f"{f['rule']}: {f['title']}" for f in found if f["severity"] in _SEVERE)
    return tuple(dict.fromkeys(said))
