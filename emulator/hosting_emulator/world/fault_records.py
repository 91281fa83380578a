"""Faults as data: which requests one matches, when it acts, its kind and the options of that.

What a kind does is none of the world's business: it stands in `faults.kinds`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.world.records import WorldRecord

Phase = Literal["before_commit", "after_commit"]
DnsStatus = Literal["not_authorized", "pending", "authorized", "expired", "revoked"]
DatabaseState = Literal["init", "ready", "suspended", "resizing", "failed", "absent"]
_PATH = "the path without its query; * stands for any text, such as /v1/projects/*/domains"
_CHANCE = "act with this probability, above 0 up to 1, drawn from the world's seed"
_MOMENT = "a timestamp, or a duration from now"
_PHASE = "before_commit: the request is not applied; after_commit: it is applied, and the response is lost"


_Count = Annotated[int, Meta(ge=1)]
_Texts = dict[str, str]
_DnsStatuses = DnsStatus | tuple[DnsStatus, ...]
_DatabaseStates = DatabaseState | tuple[DatabaseState, ...]


def _says(description: str, **bounds: Any) -> Meta:
    return Meta(description=description, **bounds)


class Condition(WorldRecord, frozen=True, gc=False, rename={"not_": "not"}):
    """How the world must be at the request, for its project and organization: all that is given.

    A request that names no project meets no condition about one.
    """

    dns: Annotated[_DnsStatuses | None, _says("the status of its DNS authorization")] = None
    zone: Annotated[bool | None, _says("a DNS zone is bound")] = None
    plan: Annotated[Literal["free", "paid"] | None, _says("its organization's plan")] = None
    credits_below: Annotated[_Count | None, _says("its organization has fewer credits")] = None
    claim: Annotated[
        Literal["free", "held"] | None, _says("whether an operation holds its mutation claim")
    ] = None
    flag: Annotated[bool | None, _says("the powered-by flag is on")] = None
    domain: Annotated[bool | None, _says("it has its own domain")] = None
    deployed: Annotated[bool | None, _says("one of its deployments is ready")] = None
    database: Annotated[_DatabaseStates | None, _says("the state of its production database")] = (
        None
    )
    database_change: Annotated[bool | None, _says("that database is changing its state")] = None
    data_mode: Annotated[
        Literal["separate", "shared"] | None, _says("whether both environments share a database")
    ] = None
    not_: Annotated[Condition | None, _says("conditions that must not hold")] = None


class Rule(WorldRecord, frozen=True, gc=False, rename={"from_": "from", "while_": "while"}):
    """Which requests a fault acts on, and when, as people write it. What is None matches everything.

    Once a fault is armed, `project`, `organization` and `principal` are ids, `from` and `until`
    timestamps, and `ttl` has gone into `until`.
    """

    call: Annotated[str | None, _says("the call's id, such as list_deployments")] = None
    project: Annotated[str | None, _says("a project, by alias or id")] = None
    organization: Annotated[str | None, _says("an organization, by alias or id")] = None
    principal: Annotated[str | None, _says("a user, by alias or id")] = None
    method: Annotated[str | None, _says("the HTTP method")] = None
    path: Annotated[str | None, _says(_PATH)] = None
    header: Annotated[_Texts | None, _says("headers by name; in values * stands for any text")] = (
        None
    )
    query: Annotated[
        _Texts | None, _says("parameters by name; in values * stands for any text")
    ] = None
    body: Annotated[
        dict[str, Any] | None,
        _says("body fields by path, such as key.name; in texts * stands for any text"),
    ] = None
    credentials: Annotated[
        Literal["token", "key", "none", "invalid", "any"] | None,
        _says("the request's credentials; without this, a valid token or key"),
    ] = None
    times: Annotated[
        _Count | None, _says("act on this many requests, then no more (1 or more)")
    ] = None
    skip_first: Annotated[int, _says("let this many matching requests pass first", ge=0)] = 0
    every: Annotated[
        int, _says("act on every n-th matching request: 3 means the 3rd, 6th, 9th", ge=1)
    ] = 1
    probability: Annotated[float, _says(_CHANCE, gt=0, le=1)] = 1.0
    from_: Annotated[str | None, _says(f"act from this world time on: {_MOMENT}")] = None
    until: Annotated[str | None, _says(f"act only before this world time: {_MOMENT}")] = None
    ttl: Annotated[str | None, _says("act for this long in world time after it is armed")] = None
    while_: Annotated[
        Condition | None, _says("act only while these conditions on the world hold")
    ] = None
    phase: Annotated[Phase, _says(_PHASE)] = "before_commit"

    @property
    def from_ms(self) -> int | None:
        """The first moment of world time at which an armed fault acts; None: any."""
        return None if self.from_ is None else parse_timestamp(self.from_)

    @property
    def until_ms(self) -> int | None:
        """The first moment of world time at which an armed fault acts no more; None: never."""
        return None if self.until is None else parse_timestamp(self.until)


class Fault(WorldRecord, frozen=True, gc=False):
    """An armed fault or outcome, kept under its id.

    `armed_ms` is world time. `seen` counts the requests it matched, `hits` those it acted on; a kind
    that limits counts in windows of world time. `first_answers`: it matches no replay. All are part of
    the world, so they survive a restart and a fork counts on its own.
    """

    id: str
    order: int
    armed_ms: int
    kind: str
    options: dict[str, Any] = field(default_factory=dict)
    rule: Rule = Rule()
    seen: int = 0
    hits: int = 0
    window_began_ms: int = 0
    window_count: int = 0
    first_answers: bool = False
