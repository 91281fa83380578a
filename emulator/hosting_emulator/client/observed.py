"""What a world tells of itself: requests, operations, snapshots, as types.

They describe; nothing here checks a value at run time.
"""

from __future__ import annotations

from typing import TypedDict

from hosting_emulator.client.answers import Clock, JsonObject


class Exchange(TypedDict):
    """One line of the request log; `why` explains the answer, `duration_us` is real time.

    `project` and `operation` are the ids in its path; `who` is the alias of the `principal`.
    `replayed`: the answer was the remembered first one of its `idempotency_key`. `lost` is the
    fault of the connection that ate the answer; `status` is 0 when there was none to eat.
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
    duration_us: float


class ExchangePage(TypedDict):
    """The newest exchanges first; `total` is how many requests the world has had."""

    items: list[Exchange]
    total: int


class Message(TypedDict):
    """A request or an answer, its secrets redacted; a `body` is cut, `body_bytes` is not."""

    headers: list[list[str]]
    body: str | None
    body_bytes: int


class WholeExchange(Exchange):
    """An exchange with what was sent and what came back."""

    request: Message
    answer: Message


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
    commands: list[str]


class SnapshotEntry(TypedDict):
    """A world as it was at `commit`, at `at` in world time, kept for going back to."""

    id: str
    commit: int
    at: str


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
    requests: ReportedRequests
    operations: list[Why]
    faults: list[JsonObject]
