"""The records of a world: one frozen type for each table. They contain no behavior.

A timestamp that responses show is stored as text (`…_at`). A time that is compared is stored as an
integer, in milliseconds of world time (`…_ms`). Records do not form cycles, so they are excluded
from garbage collection (`gc=False`), and a large world causes no pauses.
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
#: The final statuses of a deployment.
DeploymentEnd = Literal["ready", "failed", "cancelled"]
#: The hosts of a project, as the result of an operation names them.
HostName = Literal["development", "production", "mail"]
EventKind = Literal["operation_step", "dns_expiry", "timeline"]


class Organization(WorldRecord, frozen=True, gc=False):
    """A workspace.

    Its API keys can have any of the `permissions`. `order` is its position in lists.
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
    """A hosted project. `claim` is the operation that holds the mutation claim.

    Operations that wait for the claim form a queue from `queue_head` to `queue_tail`. They are
    linked by `Operation.next_waiting`, so the cost does not depend on the length of the queue.
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
    """A project's database in an environment, stored under the key `project/environment`."""

    data_mode: str
    placement: Placement | None = None
    provider_failing: bool = False


class Deployment(WorldRecord, frozen=True, gc=False):
    """A deployment. It has the contract's fields, so a page of deployments can be encoded directly.

    A removed deployment has a time `removed_at`. It is in no page, but keeps its position in the list
    of its project.
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
    """The reason why an operation failed: the contract's `error` object."""

    code: str
    message: str
    retryable: bool
    suggested_action: str


class Reconciliation(WorldRecord, frozen=True, gc=False):
    """The current observation of an operation whose result must be determined.

    `was_stuck` tells whether the operation was stuck before. If it was, it stays stuck when the
    reconciliation is completed.
    """

    state: str
    attempt_id: str
    suggested_action: str
    was_stuck: bool = False


class PartialEffects(WorldRecord, frozen=True, gc=False):
    """The remaining effects of an operation that fails or is cancelled.

    `hosts` are the hosts whose domains were applied. With `source` the source was initialized, and
    `deployment` and `dns` are the states of the deployment and of the DNS authorization.
    """

    hosts: tuple[HostName, ...] = ()
    source: Literal["initialized"] | None = None
    deployment: Literal["ready"] | None = None
    dns: Literal["pending", "expired", "revoked"] | None = None


class OperationOutcome(WorldRecord, frozen=True, gc=False, rename={"while_": "while"}):
    """The end of an operation, as the armed outcome `id` determines it.

    The `steps` happen in order at the end of the `phase`. The first step replaces the next step of
    the plan. Each further step follows `step_ms` later, or after the duration of the phase if
    `step_ms` is None. `steps_taken` is the number of steps that have happened. A step is a state of
    reconciliation, or `stuck`, `released`, `failed` or `cancelled`. `queued_ms` and `running_ms`
    replace the times of the operation's profile.

    With `while_` the first step happens as soon as that condition holds during the phase (without a
    phase: during any phase that may end so), and `stuck` lasts while it holds. `hold_ms` is the
    longest time that the operation spends in the phase in which it is `stuck`. `leaves` is what an
    operation that ends so leaves behind.
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
    """The cause of an operation's end.

    `by` is `plan` if the operation completed its plan, `generation` if its expected source
    generation was no longer current, or `outcome` or `intervention`. `name` is the id of the
    outcome or the name of the intervention. With `plan` it is the intervention that took the last
    step, if there was one.
    """

    by: Literal["plan", "generation", "outcome", "intervention"]
    name: str = ""
    leaves: PartialEffects | None = None


class Operation(WorldRecord, frozen=True, gc=False):
    """A durable operation. `step` is its index in its plan. `event` is the key of its next event.

    The operation was accepted under `profile`. The world's assumptions may name a different profile
    by now. While the operation is stuck, `stuck_by` is the outcome or intervention that stopped it,
    and `remaining_ms` is the time that was left until its next step, if that step was scheduled.
    `ending` is None until the operation ends. It stays None for an operation that was part of the
    new world.
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
    """A dev access ticket. Its secret and its session are stored only as digests."""

    id: str
    project_id: str
    principal: str
    digest: str
    expires_ms: int
    state: Literal["unused", "used", "revoked"] = "unused"
    session_digest: str | None = None
    used_ms: int | None = None


class ApiKey(WorldRecord, frozen=True, gc=False):
    """A user API key. Only the digest of its value is stored."""

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
    """The session of a user who signed in with a browser. Its key is the `sid` claim of the tokens."""

    user_id: str
    organization_id: str | None
    began_ms: int
    ended_ms: int | None = None


class AuthorizationGrant(WorldRecord, frozen=True, gc=False):
    """The authorization grant of a sign-in (RFC 6749, 1.3), stored under the digest of its code.

    `generation` is the number of refresh tokens that it has issued. `auth_time` is in seconds of world
    time. Once it is `revoked`, or after `expires_ms`, its code and its tokens are no longer valid.
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
        """Tell whether the grant includes a scope."""
        return scope in self.scope.split()


class RateWindow(WorldRecord, frozen=True, gc=False):
    """The number of requests that a user has made since `began_ms`, under a rate limit."""

    began_ms: int
    count: int


class RetryWait(WorldRecord, frozen=True, gc=False):
    """The time until which a refused request must wait under a skip clock.

    Its key is a digest of the request. A retry of the request moves the clock to that time.
    """

    due_ms: int


class RememberedResponse(WorldRecord, frozen=True, gc=False):
    """The first response to an Idempotency-Key, stored under the principal and a digest of the key.

    It is remembered until `expires_ms`, or forever if that is None."""

    fingerprint: str
    call_id: str
    status: int
    body: str
    expires_ms: int | None = None
    subject: str | None = None
    content_type: str = "application/json"
    varied: tuple[str, ...] = ()


class TimelineEntry(WorldRecord, frozen=True, gc=False):
    """An entry of a scenario's timeline, and its result.

    It happens at its event in the schedule, or when `after_calls` more calls have succeeded. If
    `call` is set, only successes of that call count. `document` is an intervention, a fault or an
    outcome in the form used by scenarios. Once the entry has `happened`, `message` reports what it
    did, or why it was `refused`. `armed_id` is the id of the fault or outcome that it armed. A
    story passes even if an `optional` entry never happens.
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
    """An entry of the schedule. `subject` is the key of the record that changes at `due_ms`."""

    due_ms: int
    sequence: int
    kind: EventKind
    subject: str


class ClockRecord(WorldRecord, frozen=True, gc=False):
    """The relation of world time to the machine's clock.

    At `machine_ms`, world time was `world_ms`. Two other clocks may differ from world time, by
    milliseconds: that of the identity provider, which writes the times of tokens, by `token_skew_ms`,
    and that of the server that writes Date headers, by `date_skew_ms`.
    """

    mode: ClockMode
    world_ms: int
    machine_ms: int
    rate: float = 1.0
    token_skew_ms: int = 0
    date_skew_ms: int = 0


class Variation(WorldRecord, frozen=True, gc=False):
    """The variation of a world's responses where the contract leaves freedom, drawn from `seed`.

    `only` lists the points that vary, or is None for all points. The variation does not change the
    assumptions in `chosen`, because a user set them. `assumed` contains the assumptions that were
    drawn from the seed, with their values.
    """

    seed: str
    only: tuple[str, ...] | None = None
    chosen: tuple[str, ...] = ()
    assumed: dict[str, Any] = field(default_factory=dict)


class WorldSource(WorldRecord, frozen=True, gc=False):
    """The source of a world. A reset builds the world from it again.

    `at_ms` is None if the world starts at the default time of its clock's mode. `scenario` is the
    text of its scenario. `chosen` lists the assumptions that a user set, even if to the default.
    `variation` is the variation that a reset restores. `commit` is the world's first commit number,
    or None if it is unknown because the world was imported from an exported state.
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
