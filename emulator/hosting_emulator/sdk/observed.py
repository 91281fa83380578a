"""What a world tells of itself: requests, operations, snapshots, as types.

They describe; nothing here checks a value at run time.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, NotRequired, TypedDict

from hosting_emulator.sdk.answers import Clock, JsonObject, Variation


class RequestFilters(TypedDict, total=False):
    """Which exchanges are meant: all that is given must fit.

    `call` is a call's name or `none`; `status` like `404` or `4xx`; `who` and `project` are aliases
    or ids (`nobody`: without a known token); `since` and `until` are world time, until not included;
    `text` is looked for in all that is shown; `after` leaves out the exchanges up to that number.
    """

    call: str | None
    status: str | None
    who: str | None
    project: str | None
    since: str | None
    until: str | None
    text: str | None
    after: int | None


class TrailStep(TypedDict):
    """One decision on a request's way, as a sentence. `step` is one of a few words, in order."""

    step: Literal[
        "due",
        "principal",
        "fault",
        "scope",
        "role",
        "idempotency",
        "commit",
        "assumption",
        "refusal",
    ]
    says: str


class Exchange(TypedDict):
    """One line of the request log; `why` explains the answer, `duration_us` is real time.

    `operation` is the id in its path, `project` that in its path or of its operation; `who` is the
    alias of the `principal`, `nobody` without a known token, and None where nobody was looked for.
    `replayed`: the answer was the remembered first one of its `idempotency_key`. `lost` is the
    fault of the connection that ate the answer; `status` is 0 when there was none to eat. `trail`
    is there unless it was not asked for. `varied` are the points at which the answer varies.
    """

    n: int
    at: str
    method: str
    path: str
    query: str
    call: str | None
    project: str | None
    operation: str | None
    principal: str | None
    who: str | None
    status: int
    code: str | None
    idempotency_key: str | None
    replayed: bool
    lost: str | None
    why: list[str]
    varied: list[str]
    duration_us: float
    trail: NotRequired[list[TrailStep]]


class ExchangePage(TypedDict):
    """The newest exchanges first; `total` is how many requests the world has had."""

    items: list[Exchange]
    total: int


class Message(TypedDict):
    """A request or an answer, its secrets redacted.

    `body` is None where it is no text, and only the beginning of it with `body_cut`; `body_bytes` is
    the length of all of it.
    """

    headers: list[list[str]]
    body: str | None
    body_bytes: int
    body_cut: bool


class WholeExchange(Exchange):
    """An exchange with what was sent and what came back."""

    request: Message
    answer: Message


class WorldEvent(NamedTuple):
    """Something that happened in a world: `request` (an Exchange), `commit`, `clock`, `fault`,
    `world` (another took its place) or `gap` (some were missed). `id` goes up.
    """

    id: int
    kind: str
    data: JsonObject


class UnfinishedOperation(TypedDict):
    """An operation that has not ended; `project` is an alias."""

    id: str
    kind: str
    project: str
    state: str
    phase: str
    stuck: bool
    created_at: str
    updated_at: str


class NextEvent(TypedDict):
    """What happens next, and when in world time."""

    at: str
    what: str


class Why(TypedDict):
    """Why an operation is where it is: in sentences, with the shell `commands` that would move it."""

    operation: str
    kind: str
    project: str
    state: str
    phase: str
    at: str
    says: list[str]
    next: NextEvent | None
    waits_for: str | None
    held_by: str | None
    reconciliation: str | None
    commands: list[str]


class Commit(TypedDict):
    """A change of a world that was accepted: its number, world time, and what made it.

    `says` is what it changed, in short, where the title leaves that open; else empty.
    """

    commit: int
    at: str
    title: str
    says: str


class SnapshotEntry(TypedDict):
    """A world as it was at `commit`, at `at` in world time, kept for going back to."""

    id: str
    commit: int
    at: str


class ConductRule(TypedDict):
    """A rule of conduct: the sentence it is from, where that stands, and what to do instead."""

    id: str
    severity: Literal["note", "warning", "error"]
    title: str
    because: str
    place: str
    matters: str
    instead: str


class ConductFinding(TypedDict):
    """A rule that the client broke, by which requests of the log (and how many more)."""

    rule: str
    severity: Literal["note", "warning", "error"]
    title: str
    says: str
    requests: list[int]
    more_requests: int
    at: str
    because: str
    place: str
    matters: str
    instead: str


class ConductReport(TypedDict):
    """What was found in `judged` requests; `unseen` ones had left the log before the first look.

    `counts` are findings by rule, also those beyond the ones that are listed.
    """

    judged: int
    unseen: int
    findings: list[ConductFinding]
    counts: dict[str, int]
    rules_off: list[str]
    remarks: list[str]


class ProblemBrief(TypedDict):
    """What a problem document says, in short."""

    code: str
    detail: str


class ReportedExchange(Exchange):
    """An exchange with its problem, if its answer was one."""

    problem: ProblemBrief | None


class ReportedRequests(TypedDict):
    """The last exchanges, oldest first, and how many there were in all."""

    total: int
    items: list[ReportedExchange]


class WorldReport(TypedDict):
    """A world's story, for a test that failed."""

    world: str
    base_url: str
    scenario: str | None
    clock: Clock
    commit: int
    assumptions: JsonObject
    variation: Variation | None
    requests: ReportedRequests
    operations: list[Why]
    faults: list[JsonObject]
