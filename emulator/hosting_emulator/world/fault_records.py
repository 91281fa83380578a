"""An armed fault, and the rule that selects the requests on which it acts.

The effects of the fault kinds are implemented in `faults.kinds`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from hosting_emulator.contract.durations import Duration, Moment
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.world.records import DataMode, Plan, WorldRecord

CommitPhase = Literal["before_commit", "after_commit"]
DnsStatus = Literal["not_authorized", "pending", "authorized", "expired", "revoked"]
DatabaseStatus = Literal["init", "ready", "suspended", "resizing", "failed", "absent"]
_PATH = "the path without its query, such as /v1/projects/*/domains; * matches any text"
_CHANCE = "act with this probability (above 0, at most 1), drawn from the world's seed"
_MOMENT = "a timestamp, or a duration from now"
_COMMIT_PHASE = (
    "before_commit, so that the request is not applied, or after_commit, so that it is applied "
    "and the response is lost"
)


_Count = Annotated[int, Meta(ge=1)] | None
_Texts = dict[str, str] | None
_DnsStatuses = DnsStatus | tuple[DnsStatus, ...] | None
_DatabaseStates = DatabaseStatus | tuple[DatabaseStatus, ...] | None


def _described(description: str, **bounds: Any) -> Meta:
    return Meta(description=description, **bounds)


class Condition(WorldRecord, frozen=True, gc=False, rename={"not_": "not"}):
    """Conditions on a request's project and organization. All of them must hold.

    A request that names no project does not meet any condition on a project.
    """

    dns: Annotated[_DnsStatuses, _described("the status of its DNS authorization")] = None
    zone: Annotated[bool | None, _described("a DNS zone is bound")] = None
    plan: Annotated[Plan | None, _described("its organization's plan")] = None
    credits_below: Annotated[_Count, _described("its organization has fewer credits")] = None
    claim: Annotated[
        Literal["free", "held"] | None, _described("whether an operation holds its mutation claim")
    ] = None
    flag: Annotated[bool | None, _described("the powered-by flag is on")] = None
    domain: Annotated[bool | None, _described("it has its own domain")] = None
    deployed: Annotated[bool | None, _described("one of its deployments is ready")] = None
    database: Annotated[_DatabaseStates, _described("the state of its production database")] = None
    database_change: Annotated[
        bool | None, _described("a change of that database is in progress")
    ] = None
    data_mode: Annotated[
        DataMode | None, _described("whether both environments share a database")
    ] = None
    not_: Annotated[Condition | None, _described("conditions of which none must hold")] = None


class Rule(
    WorldRecord,
    frozen=True,
    gc=False,
    rename={"from_": "from", "while_": "while", "commit_phase": "phase"},
):
    """The requests on which a fault acts, and when, as written in a scenario. None means no limit.

    In an armed fault `project`, `organization` and `principal` are ids, `from` and `until` are
    timestamps, and `ttl` has been merged into `until`.
    """

    call: Annotated[str | None, _described("the call's id, such as list_deployments")] = None
    project: Annotated[str | None, _described("a project, by alias or id")] = None
    organization: Annotated[str | None, _described("an organization, by alias or id")] = None
    principal: Annotated[str | None, _described("a user, by alias or id")] = None
    method: Annotated[str | None, _described("the HTTP method")] = None
    path: Annotated[str | None, _described(_PATH)] = None
    header: Annotated[_Texts, _described("headers by name; * in a value matches any text")] = None
    query: Annotated[
        _Texts, _described("query parameters by name; * in a value matches any text")
    ] = None
    body: Annotated[
        dict[str, Any] | None,
        _described("body fields by path, such as key.name; * in a string matches any text"),
    ] = None
    credentials: Annotated[
        Literal["token", "key", "none", "invalid", "any"] | None,
        _described("the request's credentials (default: a valid token or key)"),
    ] = None
    times: Annotated[_Count, _described("act on this many requests (at least 1), then stop")] = None
    skip_first: Annotated[
        int, _described("do not act on this many matching requests at first", ge=0)
    ] = 0
    every: Annotated[
        int,
        _described(
            "act on every n-th matching request; for example, 3 means the 3rd, 6th and 9th", ge=1
        ),
    ] = 1
    probability: Annotated[float, _described(_CHANCE, gt=0, le=1)] = 1.0
    from_: Annotated[Moment | None, _described(f"act from this world time on: {_MOMENT}")] = None
    until: Annotated[Moment | None, _described(f"act only before this world time: {_MOMENT}")] = (
        None
    )
    ttl: Annotated[
        Duration | None, _described("act for this duration of world time after it is armed")
    ] = None
    while_: Annotated[
        Condition | None, _described("act only while these conditions on the world hold")
    ] = None
    commit_phase: Annotated[CommitPhase, _described(_COMMIT_PHASE)] = "before_commit"
    optional: Annotated[
        bool,
        _described(
            "true if a story passes even though this never acts (default: the story then fails)"
        ),
    ] = False

    @property
    def from_ms(self) -> int | None:
        """The world time from which an armed fault acts, or None if there is no such limit."""
        return None if self.from_ is None else parse_timestamp(self.from_)

    @property
    def until_ms(self) -> int | None:
        """The world time at which an armed fault stops acting, or None if there is no such limit."""
        return None if self.until is None else parse_timestamp(self.until)


class Fault(WorldRecord, frozen=True, gc=False):
    """An armed fault or outcome.

    `armed_ms` is world time. `seen` counts the requests that it matched, and `hits` those on which
    it acted. The `window_` fields count the requests of a rate limit in the current window of world
    time. With `skips_replays` the fault does not match replays. The counts are part of the world:
    they survive a restart, and a fork has its own counts.
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
    skips_replays: bool = False
