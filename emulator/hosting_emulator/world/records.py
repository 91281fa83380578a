"""What a world is made of: frozen records, one kind a table. Behaviour lives elsewhere.

Timestamps that the wire shows are kept as its text (`…_at`), moments that are compared are whole
milliseconds of world time (`…_ms`). Records form no cycles and are left out of garbage collection
(`gc=False`): a large world then costs no pauses.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from hosting_emulator.contract.assumptions import Assumptions

Plan = Literal["free", "paid"]
ProjectRole = Literal["owner", "maintainer", "reader"]
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


class Person(WorldRecord, frozen=True, gc=False):
    """Someone the identity provider knows; `id` is the `sub` of their tokens."""

    id: str
    alias: str
    name: str
    email: str
    order: int = 0


class Membership(WorldRecord, frozen=True, gc=False):
    """A person's place in an organization; kept under `organization/person`."""

    organization_id: str
    person_id: str
    role: Literal["owner", "member"]


class Grant(WorldRecord, frozen=True, gc=False):
    """A person's role in one project; kept under `project/person`."""

    project_id: str
    person_id: str
    role: ProjectRole


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
    scopes: tuple[str, ...] = ()
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


class Operation(WorldRecord, frozen=True, gc=False):
    """A durable operation. `step` is its place in its plan, `event` its next entry in the schedule.

    While it is stuck, `left_ms` is how long it was from its next step, if that was on the schedule.
    """

    id: str
    kind: str
    project_id: str
    created_at: str
    updated_at: str
    created_ms: int
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
    left_ms: int | None = None
    reconciliation: Reconciliation | None = None
    outcome: OperationOutcome | None = None


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
    #: Who is one principal with its person, where that is not the person (`same_principal`).
    holder: str | None = None


class ApiKey(WorldRecord, frozen=True, gc=False):
    """A user API key; only the digest of its value is kept."""

    id: str
    organization_id: str
    person_id: str
    name: str
    digest: str
    obfuscated_value: str
    permissions: tuple[str, ...]
    created_at: str
    expires_ms: int
    last_used_at: str | None = None
    revoked: bool = False


class InteractiveSession(WorldRecord, frozen=True, gc=False):
    """That a person signed in by a browser; kept under the id that tokens name as `sid`."""

    person_id: str
    organization_id: str | None
    began_ms: int
    ended_ms: int | None = None


class AuthorizationGrant(WorldRecord, frozen=True, gc=False):
    """What a sign-in gave a client (RFC 6749, 1.3), kept under the digest of its authorization code.

    `generation` is that of the newest refresh token, 0 before the first; `auth_time` in seconds of
    world time. Once it is `revoked`, or past `expires_ms`, nothing of it is good any more.
    """

    session_id: str
    person_id: str
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
    """How many requests a person made since a moment, under a rate limit."""

    began_ms: int
    count: int


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
    it was `done`, in its time, and made no sense; `said` tells why.
    """

    order: int
    action: Literal["fault", "outcome", "intervene"]
    document: dict[str, Any]
    after_calls: int | None = None
    call: str | None = None
    done: bool = False
    said: str | None = None
    refused: bool = False


class ScheduledEvent(WorldRecord, frozen=True, gc=False):
    """An entry of the schedule: at `due_ms`, something happens to `subject`."""

    due_ms: int
    sequence: int
    kind: EventKind
    subject: str


class ClockRecord(WorldRecord, frozen=True, gc=False):
    """How world time follows the machine's: at `machine_ms` the world's time was `world_ms`."""

    mode: Literal["real", "frozen", "scaled", "skip"]
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
    that a reset sets again.
    """

    mode: Literal["real", "frozen", "scaled", "skip"] = "real"
    rate: float | None = None
    at_ms: int | None = None
    assumptions: Assumptions = Assumptions()
    scenario: str | None = None
    scenario_file: str | None = None
    chosen: tuple[str, ...] = ()
    variation: Variation | None = None
