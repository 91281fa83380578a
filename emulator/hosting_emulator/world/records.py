"""What a world is made of: frozen records, one kind a table. Behaviour lives elsewhere.

Timestamps that the wire shows are kept as its text (`…_at`), moments that are compared are whole
milliseconds of world time (`…_ms`). Records form no cycles and are left out of garbage collection
(`gc=False`): a large world then costs no pauses.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from hosting_emulator.contract.access import Role
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.messages import ClockMode

Plan = Literal["free", "paid"]
OrganizationRole = Literal["owner", "member"]
DataMode = Literal["separate", "shared"]
#: How a deployment may have ended.
DeploymentEnd = Literal["ready", "failed", "cancelled"]
EventKind = Literal["operation_step", "dns_expiry", "timeline"]


class WorldRecord(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True
):
    """Base of all records: immutable, strict when read back from disk."""


class Organization(WorldRecord, frozen=True, gc=False):
    """A workspace. `permissions` are those its API keys may carry, `order` its place in the world."""

    id: str
    alias: str
    name: str
    plan: Plan
    credits: int = 0
    permissions: tuple[str, ...] = ()
    order: int = 0


class User(WorldRecord, frozen=True, gc=False):
    """Someone the identity provider knows; `id` is the `sub` of their tokens."""

    id: str
    alias: str
    name: str
    email: str
    order: int = 0


class Membership(WorldRecord, frozen=True, gc=False):
    """A user's place in an organization; kept under `organization/user`."""

    organization_id: str
    user_id: str
    role: OrganizationRole


class Grant(WorldRecord, frozen=True, gc=False):
    """A user's role in one project; kept under `project/user`."""

    project_id: str
    user_id: str
    role: Role


class Project(WorldRecord, frozen=True, gc=False):
    """A hosted project. `claim` is the operation that holds the mutation claim.

    Those that wait for it form a queue from `queue_head` to `queue_tail`, linked through
    `Operation.next_waiting`, so that a long queue costs no more than a short one.
    """

    id: str
    alias: str
    organization_id: str
    handle: str
    dev_label: str
    dev_environment_id: str
    flag_enabled: bool = False
    flag_enabled_at: str | None = None
    flag_enabled_by: str | None = None
    custom_domain: str | None = None
    source_generation: int = 0
    claim: str | None = None
    queue_head: str | None = None
    queue_tail: str | None = None
    order: int = 0


class Dns(WorldRecord, frozen=True, gc=False):
    """A project's DNS authorization; kept under the project's id."""

    status: str = "not_authorized"
    zone: str | None = None
    scopes: Annotated[tuple[str, ...], Meta(max_length=2)] = ()
    expires_ms: int | None = None


class Placement(WorldRecord, frozen=True, gc=False):
    """The observed compute configuration of a managed database (CU, GB, seconds)."""

    min_cu: float
    max_cu: float
    min_memory_gb: float
    max_memory_gb: float
    suspend_timeout_seconds: int
    state: str
    disabled: bool
    region: str
    pending_state: str | None = None


class Database(WorldRecord, frozen=True, gc=False):
    """A project's database in one environment; kept under `project/environment`."""

    data_mode: str
    placement: Placement | None = None
    provider_failing: bool = False


class Deployment(WorldRecord, frozen=True, gc=False):
    """A deployment, field for field as the wire shows it: a page needs no translation."""

    id: str
    project_id: str
    operation_id: str
    commit_sha: str
    source_digest: str
    build_plan_digest: str
    status: str
    created_at: str
    updated_at: str
    artifact_digest: str | None = None
    url: str | None = None


class OperationFailure(WorldRecord, frozen=True, gc=False):
    """Why an operation failed, as the wire's `error` object."""

    code: str
    message: str
    retryable: bool
    suggested_action: str


class Reconciliation(WorldRecord, frozen=True, gc=False):
    """The current observation of an operation whose outcome must be found out.

    `was_stuck`: the operation was stuck before, and stays so when this is completed.
    """

    state: str
    attempt_id: str
    suggested_action: str
    was_stuck: bool = False


class OperationOutcome(WorldRecord, frozen=True, gc=False):
    """What was told beforehand of an operation, by the outcome `id`; `done` of its turns are taken.

    The turns come one after the other when its `phase` is over: the first at the time of the next
    step, each other `turn_ms` later (None: as long as the phase lasts). A turn is a state of
    reconciliation, or `stuck`, `failed` or `cancelled`. With `queued_ms` or `running_ms` the
    operation takes that time, whatever its profile says.
    """

    id: str
    kind: str
    phase: str = ""
    turns: tuple[str, ...] = ()
    done: int = 0
    turn_ms: int | None = None
    queued_ms: int | None = None
    running_ms: int | None = None
    failure: OperationFailure | None = None


class Ending(WorldRecord, frozen=True, gc=False):
    """What decided how an operation ended.

    `by` is `plan` if it completed its plan, `generation` if its expected source generation was no
    longer current, or `outcome` or `intervention`. `name` is the id of the outcome or the name of
    the intervention; for `plan`, the intervention that took the last step, if one did.
    """

    by: Literal["plan", "generation", "outcome", "intervention"]
    name: str = ""


class Operation(WorldRecord, frozen=True, gc=False):
    """A durable operation. `step` is its place in its plan, `event` its next entry in the schedule.

    `profile` is the profile under which it was accepted; the world's assumptions may name another
    one since. While it is stuck, `stuck_by` is the outcome or intervention that stopped it, and
    `left_ms` is how long it was from its next step, if that was on the schedule. `ending` is None
    until it ends, and for an operation that was put into the world with its deployment.
    """

    id: str
    kind: str
    project_id: str
    created_at: str
    updated_at: str
    created_ms: int
    profile: str = "manual"
    state: str = "queued"
    phase: str = "queued"
    step: int = 0
    polls: int = 0
    event: str | None = None
    deployment_id: str | None = None
    expected_generation: int | None = None
    build_completed_at: str | None = None
    result: dict[str, Any] | None = None
    error: OperationFailure | None = None
    next_waiting: str | None = None
    stuck: bool = False
    stuck_by: str = ""
    left_ms: int | None = None
    reconciliation: Reconciliation | None = None
    outcome: OperationOutcome | None = None
    ending: Ending | None = None


class Ticket(WorldRecord, frozen=True, gc=False):
    """A dev access ticket; only digests of its secret and of the session it opened are kept."""

    id: str
    project_id: str
    principal: str
    digest: str
    expires_ms: int
    state: Literal["unused", "used", "revoked"] = "unused"
    session_digest: str | None = None
    used_ms: int | None = None


class ApiKey(WorldRecord, frozen=True, gc=False):
    """A user API key; only the digest of its value is kept."""

    id: str
    organization_id: str
    user_id: str
    name: Annotated[str, Meta(min_length=1, max_length=64)]
    digest: str
    obfuscated_value: str
    permissions: tuple[str, ...]
    created_at: str
    expires_ms: int
    last_used_at: str | None = None
    revoked: bool = False


class InteractiveSession(WorldRecord, frozen=True, gc=False):
    """That a user signed in by a browser; kept under the id that tokens name as `sid`."""

    user_id: str
    organization_id: str | None
    began_ms: int
    ended_ms: int | None = None


class AuthorizationGrant(WorldRecord, frozen=True, gc=False):
    """What a sign-in gave a client (RFC 6749, 1.3), kept under the digest of its authorization code.

    `generation` is that of the newest refresh token, 0 before the first; `auth_time` in seconds of
    world time. Once it is `revoked`, or past `expires_ms`, nothing of it is good any more.
    """

    session_id: str
    user_id: str
    organization_id: str | None
    client_id: str
    scope: str
    auth_time: int
    redirect_uri: str
    challenge: str
    expires_ms: int
    nonce: str | None = None
    redeemed: bool = False
    generation: int = 0
    revoked: bool = False

    def has(self, scope: str) -> bool:
        """Tell whether a scope was granted."""
        return scope in self.scope.split()


class RateWindow(WorldRecord, frozen=True, gc=False):
    """How many requests a user made since a moment, under a rate limit."""

    began_ms: int
    count: int


class RetryWait(WorldRecord, frozen=True, gc=False):
    """Until when a refused request has to wait, under a skip clock; kept under a digest of the request.

    A retry of the request moves the clock there.
    """

    due_ms: int


class RememberedAnswer(WorldRecord, frozen=True, gc=False):
    """A first answer, kept under principal and a digest of the key until `expires_ms`; None: for ever."""

    fingerprint: str
    call_id: str
    status: int
    body: str
    expires_ms: int | None = None
    subject: str | None = None
    content_type: str = "application/json"
    varied: tuple[str, ...] = ()


class TimelineEntry(WorldRecord, frozen=True, gc=False):
    """An entry of a scenario's timeline, and what came of it.

    It happens at its event in the schedule, or when `after_calls` more calls (of `call`, if named)
    have succeeded. `document` is an intervention, a fault or an outcome, as it is written. `refused`:
    it was `done`, in its time, and made no sense; `said` tells why. `armed` is the id of the fault
    or outcome that it armed. A story also passes if an `optional` entry never happens.
    """

    order: int
    action: Literal["fault", "outcome", "intervene"]
    document: dict[str, Any]
    after_calls: int | None = None
    call: str | None = None
    done: bool = False
    said: str | None = None
    refused: bool = False
    armed: str | None = None
    optional: bool = False


class ScheduledEvent(WorldRecord, frozen=True, gc=False):
    """An entry of the schedule: at `due_ms`, something happens to `subject`."""

    due_ms: int
    sequence: int
    kind: EventKind
    subject: str


class ClockRecord(WorldRecord, frozen=True, gc=False):
    """How world time follows the machine's: at `machine_ms` the world's time was `world_ms`."""

    mode: ClockMode
    world_ms: int
    machine_ms: int
    rate: float = 1.0


class Variation(WorldRecord, frozen=True, gc=False):
    """That a world answers differently where the contract leaves freedom, drawn from `seed`.

    `only` names the points it is confined to; None: all. `kept` are assumptions that were chosen by
    hand and so are left alone, `assumed` those that the seed chose, with their values.
    """

    seed: str
    only: tuple[str, ...] | None = None
    kept: tuple[str, ...] = ()
    assumed: dict[str, Any] = {}


class Origin(WorldRecord, frozen=True, gc=False):
    """How a world began, which is what a reset returns to.

    `at_ms` None is wherever the mode starts; `scenario` is the text of the scenario it came from.
    `chosen` are the assumptions that were named, whatever their value, and `variation` is the one
    that a reset sets again. `commit` is the world's number when it began so; None: not known, as it
    came from an exported state.
    """

    mode: ClockMode = "real"
    rate: float | None = None
    at_ms: int | None = None
    assumptions: Assumptions = Assumptions()
    scenario: str | None = None
    scenario_file: str | None = None
    chosen: tuple[str, ...] = ()
    variation: Variation | None = None
    commit: int | None = None


# --- Faults: which requests one matches, and when; what a kind does stands in `faults.kinds` -------

Phase = Literal["before_commit", "after_commit"]
DnsStatus = Literal["not_authorized", "pending", "authorized", "expired", "revoked"]
DatabaseStatus = Literal["init", "ready", "suspended", "resizing", "failed", "absent"]
_PATH = "the path without its query; * stands for any text, such as /v1/projects/*/domains"
_CHANCE = "act with this probability, above 0 up to 1, drawn from the world's seed"
_MOMENT = "a timestamp, or a duration from now"
_PHASE = "before_commit: the request is not applied; after_commit: it is applied, and the response is lost"


_Count = Annotated[int, Meta(ge=1)] | None
_Texts = dict[str, str] | None
_DnsStatuses = DnsStatus | tuple[DnsStatus, ...] | None
_DatabaseStates = DatabaseStatus | tuple[DatabaseStatus, ...] | None


def _says(description: str, **bounds: Any) -> Meta:
    return Meta(description=description, **bounds)


class Condition(WorldRecord, frozen=True, gc=False, rename={"not_": "not"}):
    """How the world must be at the request, for its project and organization: all that is given.

    A request that names no project meets no condition about one.
    """

    dns: Annotated[_DnsStatuses, _says("the status of its DNS authorization")] = None
    zone: Annotated[bool | None, _says("a DNS zone is bound")] = None
    plan: Annotated[Plan | None, _says("its organization's plan")] = None
    credits_below: Annotated[_Count, _says("its organization has fewer credits")] = None
    claim: Annotated[
        Literal["free", "held"] | None, _says("whether an operation holds its mutation claim")
    ] = None
    flag: Annotated[bool | None, _says("the powered-by flag is on")] = None
    domain: Annotated[bool | None, _says("it has its own domain")] = None
    deployed: Annotated[bool | None, _says("one of its deployments is ready")] = None
    database: Annotated[_DatabaseStates, _says("the state of its production database")] = None
    database_change: Annotated[bool | None, _says("that database is changing its state")] = None
    data_mode: Annotated[DataMode | None, _says("whether both environments share a database")] = (
        None
    )
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
    header: Annotated[_Texts, _says("headers by name; in values * stands for any text")] = None
    query: Annotated[_Texts, _says("parameters by name; in values * stands for any text")] = None
    body: Annotated[
        dict[str, Any] | None,
        _says("body fields by path, such as key.name; in texts * stands for any text"),
    ] = None
    credentials: Annotated[
        Literal["token", "key", "none", "invalid", "any"] | None,
        _says("the request's credentials; without this, a valid token or key"),
    ] = None
    times: Annotated[_Count, _says("act on this many requests, then no more (1 or more)")] = None
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
    optional: Annotated[
        bool, _says("true: a story also passes if this never acts; otherwise it fails")
    ] = False

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
