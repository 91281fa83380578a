"""Armed faults, and the rules that decide which requests they act on.

The `faults.kinds` package implements what each kind of fault does.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from hosting_emulator.contract.durations import Moment
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.record_base import WorldRecord

CommitPhase = Literal["before_commit", "after_commit"]
_PATH = "the path without the query, such as /v1/projects/*/domains; * matches any text"
_CHANCE = "act with this probability (above 0, at most 1), drawn from the world's seed"
_MOMENT = "a timestamp, or a duration from now"
_AFTER_COMMIT = (
    "true if the fault acts after the request has been applied, so that only the response is "
    "affected (by default, the fault acts first, and most kinds prevent the request from being "
    "applied)"
)


_Count = Annotated[int, Meta(ge=1)] | None
_Texts = dict[str, str] | None


def _described(description: str, **bounds: Any) -> Meta:
    return Meta(description=description, **bounds)


class Rule(
    WorldRecord,
    frozen=True,
    gc=False,
    rename={"from_": "from", "while_": "while"},
):
    """Which requests a fault acts on and when, as written in a scenario.

    A field that is None imposes no restriction. In the rule of an armed fault, `project`,
    `organization` and `principal` are ids, and `from` and `until` are timestamps.
    """

    call: Annotated[
        str | None,
        _described(
            "the id of a call or other endpoint, such as list_deployments (default: all API calls); "
            "for an outcome, a call that starts operations"
        ),
    ] = None
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
        _described("body fields by path, such as name; * in a string matches any text"),
    ] = None
    credentials: Annotated[
        Literal["token", "key", "none", "invalid", "any"] | None,
        _described("the request's credentials (default: a valid token or key)"),
    ] = None
    connection: Annotated[
        Literal["new", "reused"] | None,
        _described("the request's connection: new, or reused after an earlier request"),
    ] = None
    times: Annotated[
        _Count,
        _described(
            "act on this many requests (default: no limit) or operations (default: 1), then stop"
        ),
    ] = None
    skip_first: Annotated[
        int, _described("skip this many matching requests or operations before acting", ge=0)
    ] = 0
    every: Annotated[
        int,
        _described(
            "act on every n-th matching request or operation: 3 means the 3rd, 6th, 9th and so on",
            ge=1,
        ),
    ] = 1
    probability: Annotated[float, _described(_CHANCE, gt=0, le=1)] = 1.0
    from_: Annotated[
        Moment | None, _described(f"act only from this world time onwards: {_MOMENT}")
    ] = None
    until: Annotated[Moment | None, _described(f"act only before this world time: {_MOMENT}")] = (
        None
    )
    pauses: Annotated[
        tuple[Moment, ...] | None,
        _described(
            "an even number of world times: do not act from the first to the second, from the "
            "third to the fourth, and so on"
        ),
    ] = None
    while_: Annotated[
        Condition | None, _described("act only while these conditions on the world hold")
    ] = None
    after_commit: Annotated[bool, _described(_AFTER_COMMIT)] = False
    optional: Annotated[
        bool,
        _described(
            "true if a story may pass even if the entry never acts (default: the story fails)"
        ),
    ] = False

    @property
    def commit_phase(self) -> CommitPhase:
        """Whether the fault acts before or after the request is committed."""
        return "after_commit" if self.after_commit else "before_commit"

    @property
    def from_ms(self) -> int | None:
        """The world time from which an armed fault acts, or None if there is no such limit."""
        return None if self.from_ is None else parse_timestamp(self.from_)

    @property
    def until_ms(self) -> int | None:
        """The world time at which an armed fault stops acting, or None if there is no such limit."""
        return None if self.until is None else parse_timestamp(self.until)

    @property
    def pauses_ms(self) -> list[tuple[int, int]]:
        """An armed fault's pauses, as pairs of world times: the start and the end of each pause."""
        moments = [parse_timestamp(moment) for moment in self.pauses or ()]
        return list(zip(moments[::2], moments[1::2], strict=True))

    def pause_end_ms(self, now_ms: int) -> int | None:
        """Return the world time at which the current pause ends, or None if the fault is not paused."""
        ends = [end_ms for begin_ms, end_ms in self.pauses_ms if begin_ms <= now_ms < end_ms]
        return ends[0] if ends else None

    def stop_ms(self, now_ms: int) -> int | None:
        """Return the next world time at which an armed fault pauses or stops, or None if it never
        does.
        """
        stops = [begin_ms for begin_ms, _ in self.pauses_ms if begin_ms > now_ms]
        if self.until_ms is not None:
            stops.append(self.until_ms)
        return min(stops, default=None)


class Fault(WorldRecord, frozen=True, gc=False):
    """An armed fault or outcome.

    `armed_ms` is world time. `seen` counts the matching requests for which the fault was
    considered, and `hits` counts those on which it acted. If the fault is a rate limit,
    `window_count` counts the requests in the window that began at world time `window_began_ms`.
    With `skips_replays`, the fault ignores requests whose response is a replay. The counts are part
    of the world, so they survive a restart, and a fork counts separately from the original.
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


def is_spent(fault: Fault, now_ms: int) -> bool:
    """Return whether a fault or an outcome can no longer act."""
    rule = fault.rule
    used_up = rule.times is not None and fault.hits >= rule.times
    return used_up or (rule.until_ms is not None and now_ms >= rule.until_ms)
