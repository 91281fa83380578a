"""What the control API answers: JSON objects whose members are attributes too.

They describe, and check nothing. `--json` writes them as they are; a member that a kind declares is
known to editors. What nobody needs by name (tables of the contract, say) is a plain `Record`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict

JsonObject: TypeAlias = dict[str, Any]
ClockMode: TypeAlias = Literal["real", "frozen", "scaled", "skip"]
Severity: TypeAlias = Literal["note", "warning", "error"]


class Record(JsonObject):
    """A JSON object of the control API."""

    if not TYPE_CHECKING:  # a type checker knows the members that a kind declares, and no other

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"{type(self).__name__}({members})"


# --- What is asked for -----------------------------------------------------------------------


class ClockRequest(TypedDict, total=False):
    """What a clock is asked to become; `rate` is world seconds per real second."""

    mode: ClockMode
    rate: float
    at: str


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


# --- The process and its worlds --------------------------------------------------------------


class Info(Record):
    """The running process; `data_dir` is None when nothing is kept."""

    version: str
    pid: int
    base_url: str
    dev_base_url: str
    control_url: str
    docs_url: str
    openapi_url: str
    data_dir: str | None
    durability: str
    tls_port: int | None
    started_at: str


class ClockState(Record):
    """A world's time; `pending` counts the events still due, the first at `next_due_at`.

    `next_event` says what the first is; None when nothing is scheduled. After a move there are
    `moved_ms`, in world time, and `events_run`, the due events on the way.
    """

    mode: ClockMode
    now: str
    rate: float
    next_due_at: str | None
    next_event: str | None
    pending: int
    moved_ms: int
    events_run: int


class VariationState(Record):
    """How a world's answers vary: `only` are the points it is confined to; None: all.

    `assumed` are assumptions that the seed has drawn; `varied` counts answers by point.
    """

    seed: str
    only: list[str] | None
    assumed: JsonObject
    varied: dict[str, int]


class WorldMember(Record):
    """An organization, person or project of a world: its `id`, and the `alias` tools call it by.

    A project has the `organization_id` that it belongs to.
    """

    alias: str
    id: str
    name: str
    organization_id: str


class WorldSummary(Record):
    """A world in short; `assumptions` holds only those that differ from their defaults.

    `counts` says how many projects, operations, deployments, tickets and api_keys it has.
    """

    name: str
    seed: str
    ephemeral: bool
    base_url: str
    control_url: str
    issuer: str
    commit: int
    clock: ClockState
    assumptions: JsonObject
    variation: VariationState | None
    counts: dict[str, int]
    organizations: list[WorldMember]
    people: list[WorldMember]
    projects: list[WorldMember]


class FaultState(Record):
    """An armed fault and its counts. Beside these stands what was written: effect, match, times.

    `order` is its place among a world's faults; `seen` counts the requests it matched, `hits` those
    it acted on; one that is `spent` can act no more.
    """

    id: str
    order: int
    phase: Literal["before_commit", "after_commit"]
    armed_at: str
    seen: int
    hits: int
    spent: bool


class CommitEntry(Record):
    """A change of a world that was accepted: its number, world time, and what made it.

    `says` is what it changed, in short, where the title leaves that open; else empty.
    """

    commit: int
    at: str
    title: str
    says: str


# --- Requests --------------------------------------------------------------------------------


class Message(Record):
    """A request or an answer, its secrets redacted.

    `body` is None where it is no text, and only the beginning of it with `body_cut`; `body_bytes` is
    the length of all of it.
    """

    headers: list[list[str]]
    body: str | None
    body_bytes: int
    body_cut: bool

    @property
    def content(self) -> Any:
        """The body: JSON read, other text (and JSON that was cut) as it is, None for none."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            return self.body


class Exchange(Record):
    """A request and its answer, as one line of the request log tells them.

    `n` is its number, `at` world time, `duration_us` real time; `why` explains the answer, in
    sentences. `call` is None for a path that is no call's; `who` is the alias of the `principal`,
    `nobody` without a known token, and None where nobody was looked for. `operation` is the id in
    the path, `project` that in the path or of the operation, `code` that of a problem. `status` is 0
    when the connection was lost before there was an answer; `lost` names the fault that ate it.
    `replayed`: the answer was the remembered first one of its `idempotency_key`. `varied` are the
    points at which the answer varies. `trail` has every decision on the request's way, each with its
    `step` and what it `says`, unless it was not asked for.
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
    why: Sequence[str]
    varied: list[str]
    duration_us: float
    trail: list[Record]

    @property
    def failed(self) -> bool:
        """Whether the client saw no success: a status from 400 on, or a lost answer."""
        return self.status >= 400 or self.lost is not None


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


class HeaderValues(Mapping[str, str]):
    """Headers by name, whose case does not matter; a header given twice is joined by a comma."""

    def __init__(self, pairs: Iterable[Iterable[str]]) -> None:
        self._values: dict[str, str] = {}
        for name, value in pairs:
            key = name.lower()
            self._values[key] = f"{self._values[key]}, {value}" if key in self._values else value

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"HeaderValues({self._values!r})"


# --- Operations and conduct ------------------------------------------------------------------


class Why(Record):
    """Why an operation is where it is; `str()` is the whole story.

    `says` are sentences; `next` tells `at` and `what`, None when time alone moves nothing;
    `waits_for` is the id of the operation that must end first; `held_by` says what keeps it;
    `commands` would move it on.
    """

    operation: str
    kind: str
    project: str
    state: str
    phase: str
    at: str
    says: list[str]
    next: Record | None
    waits_for: str | None
    held_by: str | None
    reconciliation: str | None
    commands: list[str]

    def __str__(self) -> str:
        phase = "" if self.phase in (self.state, "done") else f" ({self.phase})"
        lines = [
            f"{self.kind} of {self.project} ({self.operation}) is {self.state}{phase} at {self.at}",
            *(f"  {sentence}" for sentence in self.says),
        ]
        if self.next:
            lines.append(f"  next, at {self.next['at']}: {self.next['what']}")
        return "\n".join([*lines, *(f"  try: {command}" for command in self.commands)])


class ConductFinding(Record):
    """A rule that the client broke; `str()` is what it did.

    `requests` are numbers of the request log, oldest first (and there may be `more_requests`). `at`
    is world time. `because` is the sentence that the rule is from, `place` where it stands, `matters`
    what happens to who breaks it, and `instead` what to do.
    """

    rule: str
    severity: Severity
    title: str
    says: str
    requests: list[int]
    more_requests: int
    at: str
    because: str
    place: str
    matters: str
    instead: str

    def __str__(self) -> str:
        return self.says


class ConductReport(Record):
    """What was found in `judged` requests; `unseen` ones had left the log before the first look.

    `counts` are findings by rule, also those beyond the ones that are listed.
    """

    judged: int
    unseen: int
    findings: list[ConductFinding]
    counts: dict[str, int]
    rules_off: list[str]
    remarks: list[str]
