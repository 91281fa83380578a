"""The types of the records in a world's tables. The behavior of records is implemented in other modules.

Fields named `…_at` contain timestamps that appear in responses, stored as text. Fields named `…_ms`
contain times that the code compares, stored as integers in milliseconds of world time.

Records never form reference cycles. Their types therefore set `gc=False`, which excludes them from
cyclic garbage collection. Without this setting, a large world would cause long pauses.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from hosting_emulator.contract.access import Role
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.messages import ClockMode
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.record_base import Plan, WorldRecord

OrganizationRole = Literal["owner", "member"]
#: The statuses that a deployment can have when its operation ends.
DeploymentEnd = Literal["ready", "failed", "cancelled"]
#: The names of a project's hosts in the result of an operation.
HostName = Literal["development", "production", "mail"]
EventKind = Literal["operation_step", "dns_expiry", "timeline"]


class Organization(WorldRecord, frozen=True, gc=False):
    """An organization, which the contract also calls a workspace.

    An API key in the organization can have any of the `permissions`. `order` is the organization's
    position in lists.
    """

    id: str
    alias: str
    name: str
    plan: Plan
    credits: int = 0
    permissions: tuple[str, ...] = ()
    order: int = 0


class User(WorldRecord, frozen=True, gc=False):
    """A user of the identity provider. `id` is the `sub` claim of the user's tokens."""

    id: str
    alias: str
    name: str
    email: str
    order: int = 0


class Membership(WorldRecord, frozen=True, gc=False):
    """A user's membership in an organization, stored under the key `organization/user`."""

    organization_id: str
    user_id: str
    role: OrganizationRole


class Grant(WorldRecord, frozen=True, gc=False):
    """A user's role in a project, stored under the key `project/user`."""

    project_id: str
    user_id: str
    role: Role


class Project(WorldRecord, frozen=True, gc=False):
    """A hosted project. `claim` is the id of the operation that holds the mutation claim.

    Operations that are waiting for the claim form a linked list from `queue_head` to `queue_tail`,
    linked by `Operation.next_waiting`. Adding or removing an operation therefore costs the same
    however long the queue is.
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
    """A project's DNS authorization, stored under the project's id."""

    status: str = "not_authorized"
    zone: str | None = None
    scopes: Annotated[tuple[str, ...], Meta(max_length=2)] = ()
    expires_ms: int | None = None


class Placement(WorldRecord, frozen=True, gc=False):
    """The observed compute configuration of a managed database, in CU, GB and seconds."""

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
    """A project's database in an environment, stored under the key `project/environment`."""

    data_mode: str
    placement: Placement | None = None
    provider_failing: bool = False


class Deployment(WorldRecord, frozen=True, gc=False):
    """A deployment. The record has the contract's fields, so that a page can be encoded directly
    from the records.

    `removed_at` is set if the deployment has been removed. A removed deployment no longer appears
    on any page, but keeps its position in the project's list.
    """

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
    removed_at: str | None = None


class OperationFailure(WorldRecord, frozen=True, gc=False):
    """The reason why an operation failed, with the fields of the contract's `error` object."""

    code: str
    message: str
    retryable: bool
    suggested_action: str


class Reconciliation(WorldRecord, frozen=True, gc=False):
    """The last observed state of the reconciliation that determines an operation's result.

    `was_stuck` is true if the operation was already stuck when reconciliation became required. Such
    an operation stays stuck when the reconciliation completes.
    """

    state: str
    attempt_id: str
    suggested_action: str
    was_stuck: bool = False


class PartialEffects(WorldRecord, frozen=True, gc=False):
    """The effects that a failed or cancelled operation leaves behind.

    `hosts` are the hosts whose domains were applied. `source` is set if the source was initialized.
    `deployment` and `dns` are the final states of the deployment and the DNS authorization. None
    means no such effect. A client sees `hosts` as `hostnames` and `source` as `source_generation`
    in the operation's `result`, the deployment in list_deployments, and `dns` in
    get_dns_authorization. If the lifecycle does not allow the DNS authorization to change from its
    current state to `dns`, an outcome leaves it unchanged, and an intervention is refused. For
    example, an authorized DNS authorization cannot become pending. Effects that no client could
    ever see are not allowed. A queued operation leaves no effects behind.
    """

    hosts: tuple[HostName, ...] = ()
    source: Literal["initialized"] | None = None
    deployment: Literal["ready"] | None = None
    dns: Literal["pending", "expired", "revoked"] | None = None


class OperationOutcome(WorldRecord, frozen=True, gc=False, rename={"while_": "while"}):
    """The part of an armed outcome that determines how a single operation proceeds and ends.

    `id` is the id of the armed outcome. The `steps` are taken in order. The first step is taken at
    the end of the `phase`, in place of the plan's next step. Each later step is taken after another
    `step_ms` milliseconds of world time, or after the duration of the phase if `step_ms` is None.
    `steps_taken` is the number of steps that have been taken. A step is a state of reconciliation,
    or `stuck`, `released`, `failed` or `cancelled`. `queued_ms` and `running_ms` replace the times
    of the operation's profile.

    With a `while_` condition, the first step is taken as soon as the condition is true during the
    `phase`. An empty `phase` means any phase in which the first step is possible. If the first step
    is `stuck`, it is still taken at the end of the `phase`, and the operation is held for as long
    as the condition is true. A `stuck` operation is released at the latest `hold_ms` after the
    start of the phase. `leaves` contains the effects that the operation leaves behind if it fails
    or is cancelled.
    """

    id: str
    kind: str
    phase: str = ""
    steps: tuple[str, ...] = ()
    steps_taken: int = 0
    step_ms: int | None = None
    queued_ms: int | None = None
    running_ms: int | None = None
    failure: OperationFailure | None = None
    while_: Condition | None = None
    hold_ms: int | None = None
    leaves: PartialEffects | None = None


class Ending(WorldRecord, frozen=True, gc=False):
    """Why an operation ended.

    `by` is `plan` if the operation completed its plan, and `generation` if the source generation
    that the operation expected was no longer current. If an outcome or an intervention ended the
    operation, `name` is the id of the outcome or the name of the intervention. If an intervention
    completed the last step of the plan, `name` is the name of that intervention.

    `leaves` are the effects that the operation was meant to leave behind. If `leaves` contains a
    state of the DNS authorization that the lifecycle did not allow, `unchanged_dns` is the state in
    which the DNS authorization stayed. Otherwise, it is an empty string.
    """

    by: Literal["plan", "generation", "outcome", "intervention"]
    name: str = ""
    leaves: PartialEffects | None = None
    unchanged_dns: str = ""


class Operation(WorldRecord, frozen=True, gc=False):
    """An operation, as stored in the world.

    `step` is the index of the operation's current step in its plan. `event` is the key of the
    operation's next scheduled event. `profile` is the profile under which the operation was
    accepted. The world's assumptions may have changed since then. `stuck_by` names the outcome or
    the intervention that stopped a stuck operation. For a stuck operation, `remaining_ms` is the
    time that was left until the next step when it got stuck, or None if no step was scheduled.
    `ending` is None until the operation ends. `ending` is always None for an operation that was
    created with the world.
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
    remaining_ms: int | None = None
    reconciliation: Reconciliation | None = None
    outcome: OperationOutcome | None = None
    ending: Ending | None = None


class Ticket(WorldRecord, frozen=True, gc=False):
    """A dev access ticket. The ticket's secret and its session cookie are stored only as digests."""

    id: str
    project_id: str
    principal: str
    digest: str
    expires_ms: int
    state: Literal["unused", "used", "revoked"] = "unused"
    session_digest: str | None = None
    used_ms: int | None = None


class ApiKey(WorldRecord, frozen=True, gc=False):
    """A user API key. The key's value is stored only as a digest and in obfuscated form."""

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
    """The session of a user who signed in with a browser, or an implicit session that has ended.

    The session is stored under the `sid` claim of its tokens.
    """

    user_id: str
    organization_id: str | None
    began_ms: int
    ended_ms: int | None = None


class AuthorizationGrant(WorldRecord, frozen=True, gc=False):
    """The authorization grant issued at a sign-in (RFC 6749, section 1.3), stored under a digest of
    the code.

    `generation` is the number of refresh tokens issued under the grant. `auth_time` is the time of
    the sign-in, in seconds of world time. The grant's code and tokens are invalid once the grant is
    `revoked`, and after `expires_ms`.
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
        """Return whether the grant includes a scope."""
        return scope in self.scope.split()


class RateWindow(WorldRecord, frozen=True, gc=False):
    """The number of requests that a user has made since `began_ms`, under a rate limit."""

    began_ms: int
    count: int


class RetryWait(WorldRecord, frozen=True, gc=False):
    """The time at which a client may retry a request after a refusal or a stale read, in a world
    whose clock is in skip mode.

    The record is stored under a digest of the request. A retry of the request moves the clock to
    `due_ms`.
    """

    due_ms: int


class RememberedResponse(WorldRecord, frozen=True, gc=False):
    """The first response to a request with an Idempotency-Key, stored under the principal and a
    digest of the key.

    The response is remembered until `expires_ms`, or forever if `expires_ms` is None.
    """

    fingerprint: str
    call_id: str
    status: int
    body: str
    expires_ms: int | None = None
    subject: str | None = None
    content_type: str = "application/json"
    varied: tuple[str, ...] = ()


class TimelineEntry(WorldRecord, frozen=True, gc=False):
    """An entry in a scenario's timeline, with its result.

    The entry takes effect when its scheduled event is due, or after `after_calls` more calls have
    succeeded. If `call` is set, only that call's successes count. `document` is an intervention, a
    fault or an outcome, as written in a scenario. Once the entry has `happened`, `message` says
    what it did, or why it was `refused`. `armed_id` is the id of the fault or outcome that the
    entry armed. A story can pass even if an `optional` entry never takes effect.
    """

    order: int
    action: Literal["fault", "outcome", "intervene"]
    document: dict[str, Any]
    after_calls: int | None = None
    call: str | None = None
    happened: bool = False
    message: str | None = None
    refused: bool = False
    armed_id: str | None = None
    optional: bool = False


class ScheduledEvent(WorldRecord, frozen=True, gc=False):
    """An event in the schedule. `subject` is the key of the record that the event changes at
    `due_ms`.
    """

    due_ms: int
    sequence: int
    kind: EventKind
    subject: str


class ClockRecord(WorldRecord, frozen=True, gc=False):
    """How world time relates to the machine's clock.

    World time was `world_ms` when the machine's clock read `machine_ms`. The identity provider's
    clock, which sets the timestamps in tokens, is ahead of world time by `token_skew_ms`. The clock
    used for Date headers is ahead of world time by `date_skew_ms`. A clock with a negative skew is
    behind world time.
    """

    mode: ClockMode
    world_ms: int
    machine_ms: int
    rate: float = 1.0
    token_skew_ms: int = 0
    date_skew_ms: int = 0


class Variation(WorldRecord, frozen=True, gc=False):
    """How a world's responses vary where the contract leaves a choice open. All choices are derived
    from `seed`.

    `only` lists the variation points at which responses vary, or is None for all points. The
    assumptions in `chosen` were set by a user, so the variation does not change them. `assumed`
    contains the values of the assumptions that the variation did choose.
    """

    seed: str
    only: tuple[str, ...] | None = None
    chosen: tuple[str, ...] = ()
    assumed: dict[str, Any] = field(default_factory=dict)


class DefaultSettings(WorldRecord, frozen=True, gc=False):
    """The settings of a default world that a scenario replaced. The fields are explained in
    `WorldSource`.
    """

    mode: ClockMode = "real"
    rate: float | None = None
    at_ms: int | None = None
    assumptions: Assumptions = Assumptions()
    chosen: tuple[str, ...] = ()
    variation: Variation | None = None


class WorldSource(WorldRecord, frozen=True, gc=False):
    """The settings from which a world was built, and from which a reset rebuilds the world.

    `at_ms` is None if the world starts at the default time of its clock's mode. `scenario` is the
    text of the world's scenario. `chosen` lists the assumptions that a user set, even if set to the
    default. `variation` is the variation that a reset restores. `commit` is the world's first
    commit number, or None for a world that was imported from an exported state. If the scenario
    replaced a default world, `default` contains that world's settings, and otherwise None.
    `has_own_seed` is true if the scenario sets the world's seed.
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
    default: DefaultSettings | None = None
    has_own_seed: bool = False
