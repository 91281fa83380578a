"""What the control API answers: JSON objects whose members are attributes too.

The one declaration of them: the server's table of routes names them, its OpenAPI document is made of
them, and the SDK returns them. They describe, and check nothing.
"""

from __future__ import annotations

import json
from collections import UserDict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypedDict

JsonObject: TypeAlias = dict[str, Any]
ClockMode: TypeAlias = Literal["real", "frozen", "scaled", "skip"]
Severity: TypeAlias = Literal["note", "warning", "error"]


class Record(JsonObject):
    """A JSON object of the control API.

    A kind may say which of its members are not always there. One that Python has a word for ends
    with `_` as an attribute.
    """

    members: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, optional: Sequence[str] = ()) -> None:
        super().__init_subclass__()
        cls.optional |= frozenset(optional)
        cls.members += tuple(name.removesuffix("_") for name in cls.__annotations__)

    @classmethod
    def of(cls, source: object, **more: Any) -> Self:
        """Return a record of this kind: its members as given, or else attributes of `source`."""
        return cls({n: more[n] if n in more else getattr(source, n) for n in cls.members})

    if not TYPE_CHECKING:  # a type checker knows the members that a kind declares, and no other

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name.removesuffix("_")]
            except KeyError:
                raise AttributeError(name) from None

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"{type(self).__name__}({members})"


# --- What is asked for -----------------------------------------------------------------------


class ClockRequest(TypedDict, total=False):
    """The new settings of a clock; `rate` is world seconds per real second."""

    mode: ClockMode
    rate: float
    at: str


class RequestFilters(TypedDict, total=False):
    """Filters of exchanges: all given ones must match.

    `call` is a call's name or `none`; `status` like `404` or `4xx`; `user` and `project` are aliases
    or ids (`nobody`: without a known token); `since` and `until` are world time, until is exclusive;
    `text` is searched in everything shown; `after` leaves out exchanges up to that number.
    """

    call: str | None
    status: str | None
    user: str | None
    project: str | None
    since: str | None
    until: str | None
    text: str | None
    after: int | None


# --- The process and its worlds --------------------------------------------------------------


class Info(Record):
    """The running process; `data_dir` is None when nothing is kept.

    `build` tells builds of one version apart; an editable install is `editable`.
    """

    version: str
    build: str
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


class PageSecret(Record):
    """The header, and its value, that mark requests of the emulator's own pages."""

    header: str
    value: str


class ClockState(Record):
    """A world's time; `pending` counts the events still due, the first at `next_due_at`.

    `next_event` says what the first is; None when nothing is scheduled.
    """

    mode: ClockMode
    now: str
    rate: float
    next_due_at: str | None
    next_event: str | None
    pending: int


class ClockMove(ClockState):
    """A clock after a move: by `moved_ms` of world time, with `events_run` due events on the way."""

    moved_ms: int
    events_run: int


class VariationState(Record):
    """How a world's responses vary: `only` are the points it is limited to; None: all.

    `assumed` are assumptions that the seed has drawn; `varied` counts responses by point.
    """

    seed: str
    only: list[str] | None
    assumed: JsonObject
    varied: dict[str, int]


class WorldMember(Record):
    """An organization, user or project of a world: its `id`, and its `alias`."""

    alias: str
    id: str


class WorldOrganization(WorldMember):
    """An organization of a world."""

    name: str
    plan: str


class WorldUser(WorldMember):
    """A user of a world."""

    email: str
    name: str


class WorldProject(WorldMember):
    """A project of a world."""

    handle: str
    organization_id: str
    source_generation: int


class EntryCounts(Record):
    """The counts of a fault or an outcome.

    `considered` counts the requests that were compared with it, `seen` those it matched, `hits` those
    it acted on. `unused` says why it has never acted, and is null once it has.
    """

    id: str
    kind: str
    optional_: bool
    considered: int
    seen: int
    hits: int
    unused: str | None


class WorldSummary(Record):
    """A world's summary; `assumptions` has only those that differ from their defaults.

    `warnings` names each of them that contradicts the contract. `armed` lists the faults and
    outcomes with their counts. `counts` says how many projects, operations, deployments, tickets
    and api_keys it has.
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
    warnings: list[str]
    variation: VariationState | None
    counts: dict[str, int]
    armed: list[EntryCounts]
    organizations: list[WorldOrganization]
    users: list[WorldUser]
    projects: list[WorldProject]


class NewWorldSummary(WorldSummary, optional=("token",)):
    """A new world's summary, with an access token if requested."""

    token: AccessToken


class OutcomeState(Record):
    """An armed outcome and its counts, beside what was written.

    `order` is its place among a world's outcomes; `considered` counts the operations that began,
    `seen` those that match, `hits` those it applies to; a `spent` one applies to no more. `unused`
    says why it has changed no operation yet, and is null once it has.
    """

    id: str
    order: int
    armed_at: str
    considered: int
    seen: int
    hits: int
    spent: bool
    unused: str | None


class ProtectedFaultState(Record):
    """A fault, outcome or intervention that a judge keeps in every world, or in some `worlds`.

    `seen` counts the requests of all worlds that it matched, `hits` those it acted on; of an
    intervention both count the worlds in which it was possible.
    """

    id: str
    worlds: list[str] | None
    kind: Literal["fault", "outcome", "intervention"]
    seen: int
    hits: int


class FaultState(Record, optional=("protected",)):
    """An armed fault and its counts, beside what was written: effect, match, times.

    `order` is its place among a world's faults; `considered` counts the requests that were compared
    with it, `seen` those it matched, `hits` those it acted on; a `spent` one acts no more. `unused`
    says why it has never acted, and is null once it has. A `protected` one is of a judge, such as
    explore, and cannot be removed here.
    """

    id: str
    order: int
    phase: Literal["before_commit", "after_commit"]
    armed_at: str
    considered: int
    seen: int
    hits: int
    spent: bool
    unused: str | None
    protected: bool


class CommitEntry(Record):
    """An accepted change of a world: its number, world time, and what caused it.

    `summary` describes what it changed if the title does not; otherwise it is empty.
    """

    commit: int
    at: str
    title: str
    summary: str


# --- Requests --------------------------------------------------------------------------------


class Message(Record):
    """A request or a response, with secrets redacted.

    `body` is None where it is not text, and only the beginning of it with `body_cut`; `body_bytes` is
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


class TrailStep(Record):
    """A decision about a request: its step, and what it says."""

    step: str
    text: str


class Exchange(Record, optional=("trail", "arrival")):
    """A request and its response, as one line of the request log shows them.

    `n` is its number, `at` world time, `duration_us` real time; `why` explains the response,
    in sentences. `call` is None for a path that is no call's; `user` is the alias of the `principal`,
    `nobody` without a known token, and None where nobody was looked for. `operation` is the id in
    the path, or of the operation that it began, `project` that in the path or of the operation,
    `code` that of a problem. `status` is 0 when the connection was lost before there was an answer;
    `lost` names the fault that ate it.
    `replayed`: the answer was the remembered first one of its `idempotency_key`. `varied` are the
    points at which the answer varies. `in_progress`: it waits for its body, a delay or the disk, and
    its response has not left. `trail` has every decision on the request's way, each with its
    `step` and `text`, unless it was not asked for. `arrival` is its position in the order in
    which the requests of the process arrived; only an observation shows it.
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
    user: str | None
    status: int
    code: str | None
    idempotency_key: str | None
    replayed: bool
    lost: str | None
    why: Sequence[str]
    varied: list[str]
    duration_us: float
    in_progress: bool
    trail: list[TrailStep]
    arrival: int

    @property
    def failed(self) -> bool:
        """Whether the client saw no success: a status from 400 on, or a lost response."""
        return self.status >= 400 or self.lost is not None


class WholeExchange(Exchange):
    """An exchange with what was sent and what came back."""

    request: Message
    response: Message


class WorldEvent(NamedTuple):
    """Something that happened in a world: `request` (an Exchange), `commit`, `clock`, `fault`,
    `world` (another took its place) or `gap` (some were missed). `id` goes up.
    """

    id: int
    kind: str
    data: JsonObject


class HeaderValues(UserDict[str, str]):
    """Headers by name, whose case does not matter; a header given twice is joined by a comma."""

    def __init__(self, pairs: Iterable[Iterable[str]]) -> None:
        super().__init__()
        for name, value in pairs:
            self.data[name.lower()] = f"{self[name]}, {value}" if name in self else value

    def __getitem__(self, name: str) -> str:
        return self.data[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self.data


# --- Operations and conduct ------------------------------------------------------------------


class NextStep(Record):
    """An operation's next event, and its world time."""

    at: str
    event: str


class Why(Record):
    """Explains an operation's state; `str()` is the full explanation.

    `next` has the time (`at`) and the `event`, None when time alone moves nothing;
    `waits_for` is the id of the operation that must end first; `held_by` says what keeps it;
    `commands` would move it on.
    """

    operation: str
    kind: str
    project: str
    state: str
    finished: bool
    phase: str
    at: str
    sentences: list[str]
    next: NextStep | None
    waits_for: str | None
    held_by: str | None
    reconciliation: str | None
    commands: list[str]

    def __str__(self) -> str:
        phase = "" if self.phase in (self.state, "done") else f" ({self.phase})"
        lines = [
            f"{self.kind} of {self.project} ({self.operation}) is {self.state}{phase} at {self.at}",
            *(f"  {sentence}" for sentence in self.sentences),
        ]
        if self.next:
            lines.append(f"  next, at {self.next['at']}: {self.next['event']}")
        return "\n".join([*lines, *(f"  try: {command}" for command in self.commands)])


class ConductFinding(Record, optional=("chapter",)):
    """A rule that the client broke; `str()` is what it did.

    `requests` are numbers of the request log, oldest first (and there may be `more_requests`). `at`
    is world time. `because` is the sentence that the rule is from, `place` where it is from, `matters`
    what goes wrong otherwise, and `instead` what to do. `chapter` is there where the log was cleared
    since: it says when, and the numbers are those of that log.
    """

    rule: str
    severity: Severity
    title: str
    message: str
    requests: list[int]
    more_requests: int
    at: str
    because: str
    place: str
    matters: str
    instead: str
    chapter: str

    def __str__(self) -> str:
        return self.message


class ConductReport(Record):
    """What was found in `judged` requests; `unseen` ones left the log before the first check.

    `counts` are findings by rule, including those not listed. `errors` are errors of the judges
    themselves: a report that has any proves nothing about the requests it does not accuse. `complete`:
    every request was judged; `remarks` say which ones were not.
    """

    judged: int
    unseen: int
    findings: list[ConductFinding]
    counts: dict[str, int]
    skipped_rules: list[str]
    remarks: list[str]
    errors: list[str]
    complete: bool


class ConductRuleRow(Record):
    """A conduct rule: the sentence it is from and its place, the reason, and what to do instead."""

    id: str
    severity: Severity
    title: str
    because: str
    place: str
    matters: str
    instead: str


class ObservationState(Record):
    """An observation: the `id` to read it by, and the `skip_rules` that it does not judge."""

    id: str
    skip_rules: list[str]


class RequestInProgress(Record):
    """A request that arrived and whose response has not left: its world, number, method and path."""

    world: str
    n: int
    method: str
    path: str


class ChapterReport(Record):
    """One life of one world name, from `began` (world time) until it `ended`, or null.

    `requests` is how many requests arrived. `released`: the state and the requests are no longer
    kept. `conduct` is the verdict about this chapter; its request numbers are those of the chapter.
    """

    index: int
    world: str
    began: str
    ended: Literal["deleted", "reset", "loaded", "replaced"] | None
    requests: int
    released: bool
    conduct: ConductReport


class ObservationReport(Record):
    """What an observation saw: every chapter of every observed world, with what was found.

    `requests` is how many requests arrived in all chapters. `in_progress` are those whose response
    has not left. `errors` are errors of the judges: the observation then proves nothing.
    """

    id: str
    requests: int
    in_progress: list[RequestInProgress]
    chapters: list[ChapterReport]
    errors: list[str]
    remarks: list[str]


# --- The contract's tables -------------------------------------------------------------------


class ApiProblem(Record):
    """Why the control API refused a request (RFC 9457); `documentation` is the page of this API."""

    type: str
    title: str
    status: int
    detail: str
    documentation: str


class OAuthError(Record):
    """Why the identity provider refused a request (RFC 6749, 5.2)."""

    error: str
    error_description: str


class Health(Record):
    """That the emulator is up, and its version.

    `storage` describes the last problem with files of the data directory that were deleted or replaced
    while the emulator was running. None: there was no such problem.
    """

    status: Literal["ok"]
    version: str
    storage: str | None


class CallRow(Record):
    """A call of the public API: its path, what it reads, who may make it, and its responses."""

    call_id: str
    operation_id: str
    method: str
    path: str
    subject: str
    summary: str
    description: str
    idempotent: bool
    interactive: bool
    response: str
    body: list[JsonObject]
    query: list[JsonObject]
    role: str
    permission: str | None
    success: int
    codes: list[str]


class ProblemRow(Record):
    """A problem code of the public API; `specified` names the members that the contract fixes."""

    code: str
    status: int
    retryable: bool
    title: str
    suggested_action: str
    meaning: str
    when: str
    advice: str
    specified: list[str]


class AssumptionRow(Record):
    """An assumption of a world where the contract is silent, with the `sentence` that leaves it open.

    `alternatives` are allowed values, or `any`; `outside_the_letter` those that contradict the
    contract, and `contradicts` is the sentence that they contradict. `warning` is empty unless
    the value is one of these. `fixed` says why it cannot be set; it is empty if it can.
    """

    name: str
    value: Any
    default: Any
    alternatives: list[Any] | Literal["any"]
    outside_the_letter: list[str]
    contradicts: str
    warning: str
    about: str
    sentence: str
    fixed: str


class FaultEffect(Record):
    """What a fault can do: the names of its options and an example of them."""

    kind: str
    about: str
    options: list[str]
    example: JsonObject


class FaultKinds(Record):
    """What a fault or outcome can do, what it can match and when it acts; all but the first in words.

    `while_` are the conditions on the world that its `while` takes.
    """

    effects: list[FaultEffect]
    matches: dict[str, str]
    conditions: dict[str, str]
    while_: dict[str, str]


class InterventionField(Record):
    """A field of an intervention."""

    name: str
    required: bool


class InterventionRow(Record):
    """A change of a world from outside the contract."""

    name: str
    about: str
    fields: list[InterventionField]


class VariationPoint(Record):
    """A freedom that the contract leaves, by its `sentence`, and which responses it varies."""

    id: str
    about: str
    sentence: str
    calls: list[str]
    assumptions: list[str]


# --- Scenarios -------------------------------------------------------------------------------


class ScenarioName(Record):
    """A scenario of the library.

    `kind` says whether its failure is in its world (faults, outcomes, timeline, …), or only in a
    story in the usual world, of which `start --scenario` shows nothing.
    """

    name: str
    kind: Literal["world", "story"]
    description: str


class ScenarioText(ScenarioName):
    """A scenario of the library with its YAML."""

    text: str


class RecordedScenario(ScenarioText):
    """What was done in a world, as a scenario whose story passes: the number of `steps`.

    `left_out` lists requests it leaves out, with the reason: they changed nothing.
    """

    steps: int
    left_out: list[str]


class StoryStep(Record):
    """A step of a story; what else it holds depends on what it does."""

    passed: bool


class StoryEntry(EntryCounts):
    """A fault, an outcome or a timeline entry of a story; `at` is its path in the file."""

    at: str
    line: int


class StoryReport(Record):
    """How a scenario's story went, up to the first step that failed.

    An entry that never acted and is not optional fails the story. `digest` covers all responses:
    equal runs have equal ones. `warnings` names each assumption of its world, at any step, that
    contradicts the contract.
    """

    scenario: str
    file: str
    passed: bool
    steps: list[StoryStep]
    entries: list[StoryEntry]
    digest: str
    variation: VariationState | None
    warnings: list[str]


# --- Tokens ----------------------------------------------------------------------------------


class AccessToken(Record):
    """An access token, valid for `expires_in` seconds of world time, until `expires_at`."""

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    expires_at: str


class KeyMetadata(Record):
    """A user API key without its value."""

    id: str
    organization_id: str
    name: str
    obfuscated_value: str
    permissions: list[str]
    expires_at: str
    created_at: str


class NewApiKey(Record):
    """A user API key; its `value` is returned only here."""

    value: str
    key: KeyMetadata


class KeyState(Record):
    """A user API key of a world; `user` and `organization` are aliases."""

    id: str
    name: str
    user: str
    organization: str
    obfuscated_value: str
    permissions: list[str]
    created_at: str
    expires_at: str
    last_used_at: str | None
    revoked: bool
    expired: bool


# --- What a world holds ----------------------------------------------------------------------


class RequestPage(Record):
    """Exchanges, newest first; `total` counts all since the log was last cleared.

    `times_cleared` says how often a reset or another world cleared the log: numbers begin at 1 again.
    """

    total: int
    times_cleared: int
    items_: list[Exchange]


class OperationName(Record):
    """An operation's summary; `project` is an alias."""

    id: str
    kind: str
    project: str
    state: str


class OperationState(OperationName):
    """An operation and where it is."""

    phase: str
    stuck: bool
    created_at: str
    updated_at: str


class OperationSpan(Record):
    """A state that an operation was in; `to` is null while it is."""

    state: str
    phase: str
    stuck: bool
    from_: str
    to: str | None


class OperationHistory(OperationName):
    """An operation and the states that it went through, oldest first."""

    spans: list[OperationSpan]


class Timeline(Record):
    """The newest operations, newest first; `total` counts all."""

    now: str
    total: int
    items_: list[OperationHistory]


class CommitHistory(Record):
    """Commits, newest first; `first` is the oldest that is kept."""

    first: int
    items_: list[CommitEntry]


class SnapshotState(Record):
    """A snapshot: its commit and its world time."""

    id: str
    commit: int
    at: str


class FlagState(Record):
    """A project's flag."""

    enabled: bool
    enabled_at: str | None


class DatabaseState(Record):
    """A project's database in one environment; `compute` as the public API shows it."""

    data_mode: str
    provider_failing: bool
    compute: JsonObject | None


class ProjectMember(Record):
    """Who has a role in a project, by alias, and whether as its organization's owner."""

    user: str
    role: str
    through: Literal["organization", "project"]


class TicketState(Record):
    """A dev access ticket without its value."""

    id: str
    user: str
    state: str
    expires_at: str


class ProjectState(Record):
    """A project with all that belongs to it.

    Of deployments and tickets only the newest are there; `counts` says how many deployments there
    are. `claim` is the operation that holds the claim, `claim_held` whether hold_claim does.
    """

    alias: str
    id: str
    handle: str
    organization: str
    plan: str | None
    credits: int | None
    flag: FlagState
    custom_domain: str | None
    source_generation: int
    claim: str | None
    claim_held: bool
    dns: JsonObject
    databases: dict[str, DatabaseState]
    counts: dict[str, int]
    deployments: list[JsonObject]
    users: list[ProjectMember]
    tickets: list[TicketState]


class InterventionDone(Record):
    """What an intervention did, in one sentence."""

    intervention: str
    message: str


class FaultsRemoved(Record):
    """How many faults or outcomes were removed."""

    removed: int


class ReportedProblem(Record):
    """The problem that a request got."""

    code: str
    detail: str


class ReportedExchange(Exchange, optional=("trail",)):
    """An exchange with its problem, if it had one."""

    problem: ReportedProblem | None


class ReportedRequests(Record):
    """The last exchanges, oldest first; `total` counts all."""

    total: int
    items_: list[ReportedExchange]


class WorldReport(Record):
    """A world's report in one document, with its last requests and pending operations.

    `refused` lists timeline entries that were refused when due.
    """

    world: str
    base_url: str
    scenario: str | None
    clock: ClockState
    commit: int
    assumptions: JsonObject
    variation: VariationState | None
    requests: ReportedRequests
    refused: list[str]
    operations: list[Why]
    faults: list[FaultState]
    outcomes: list[OutcomeState]
