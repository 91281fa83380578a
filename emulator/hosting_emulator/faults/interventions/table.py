"""The interventions, one function each, in the order in which they are listed.

A parameter that is a record is named in the document (see `declaration`): an operation by its id or
the project whose claim it holds, a ticket by its id or the user it was issued to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.access import PERMISSIONS, Role
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.json_schema import whole
from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.faults.documents import arm
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world import lifecycles, operations, population, sessions
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t
from hosting_emulator.world.streams import draw, new_deployment_id, new_id
from hosting_emulator.world.value import Change, newest_deployments

Text = Annotated[str, Meta(min_length=1)]

# --- who and what is there ------------------------------------------------------------------------


@intervention
def add(
    change: Change,
    organizations: Sequence[population.OrganizationPart] = (),
    users: Sequence[population.UserPart] = (),
    projects: Sequence[population.ProjectPart] = (),
    keys: Sequence[population.KeyPart] = (),
) -> str:
    """Organizations, users, projects and API keys are added to the world, written as in a world file."""
    part = population.WorldPart([*organizations], [*users], [*projects], keys=[*keys])
    there = change.applied()
    before, prefix = population.described(there), change.assumptions.key_prefix
    whole = population.WorldPart(
        before.organizations + part.organizations,
        before.users + part.users,
        before.projects + part.projects,
    )
    for path, message in population.mistakes_in(part, whole, change.now_ms, prefix):
        field = ".".join(map(str, path))
        raise DocumentRefused(f"{field}: {message}", field)
    for i, key in enumerate(keys):
        if f"api_key:{key.kept()[0]}" in there.indexes:
            raise DocumentRefused(
                f"keys.{i}.value: this value is already used in this world", "keys"
            )
    population.populate(change, part, whole)
    names = [one.alias for found in (organizations, users, projects) for one in found]
    names += [f"an API key of {one.user}" for one in keys]
    if not names:
        raise DocumentRefused("give what to add: organizations, users, projects or keys")
    return f"added {', '.join(names)}"


# --- operations, the project's claim and deployments --------------------------------------------


@intervention
def stick_operation(change: Change, operation: r.Operation) -> str:
    """An operation stops moving, whatever the clock does, until it is released."""
    if operation.stuck:
        raise DocumentRefused(f"operation {operation.id} is already stuck")
    operations.stick(change, operation, "stick_operation")
    return f"operation {operation.id} is stuck while {operation.state}"


@intervention
def release_operation(change: Change, operation: r.Operation) -> str:
    """A stuck operation continues from where it was."""
    if not operation.stuck:
        raise DocumentRefused(f"operation {operation.id} is not stuck")
    if operation.reconciliation and operation.reconciliation.state in ("required", "running"):
        raise DocumentRefused(
            f"operation {operation.id} waits for its reconciliation: complete or exhaust it"
        )
    operations.release(change, operation)
    return f"operation {operation.id} is no longer stuck"


@intervention
def step_operation(change: Change, operation: r.Operation) -> str:
    """An operation takes its next step now, whatever its profile says."""
    claim = change.row(t.PROJECTS, operation.project_id).claim
    if claim != operation.id:
        raise DocumentRefused(
            f"operation {operation.id} waits: operation {claim} holds the project's "
            "claim; step that one first"
        )
    if operation.kind == operations.HELD:
        raise DocumentRefused(f"operation {operation.id} only holds the claim: use release_claim")
    if operation.stuck:
        raise DocumentRefused(f"operation {operation.id} is stuck; release it first")
    stepped = operations.step(change, operation.id, "step_operation")
    return f"operation {operation.id} is {stepped.state} ({stepped.phase})"


@intervention
def fail_operation(
    change: Change,
    operation: r.Operation,
    code: Text = "operation_failed",
    message: str = "The operation failed.",
    *,
    retryable: bool = False,
    suggested_action: str = "Read the deployment logs, fix the cause and start a new operation.",
) -> str:
    """An operation fails now, with the given error."""
    failure = r.OperationFailure(code, message, retryable, suggested_action)
    operations.fail(change, operation, failure, r.Ending("intervention", "fail_operation"))
    return f"operation {operation.id} failed with {code}"


@intervention
def cancel_operation(change: Change, operation: r.Operation) -> str:
    """An operation is cancelled; a waiting one leaves the queue."""
    ending = r.Ending("intervention", "cancel_operation")
    operations.finish(change, operation, "cancelled", ending)
    return f"operation {operation.id} is cancelled"


@intervention
def require_reconciliation(change: Change, operation: r.Operation) -> str:
    """An unfinished operation needs reconciliation, and stops until that is completed."""
    moved = _reconcile(change, operation, "required")
    if not moved.stuck:
        operations.stick(change, moved, "require_reconciliation")
    return f"operation {moved.id} requires reconciliation"


@intervention
def run_reconciliation(change: Change, operation: r.Operation) -> str:
    """The required reconciliation of an operation starts running."""
    _reconcile(change, operation, "running")
    return f"the reconciliation of {operation.id} is running"


@intervention
def complete_reconciliation(change: Change, operation: r.Operation) -> str:
    """The reconciliation attempt is completed, and the operation continues.

    One that was stuck before stays stuck until it is released.
    """
    moved = _reconcile(change, operation, "completed")
    if moved.reconciliation and moved.reconciliation.was_stuck:
        return f"the reconciliation of {moved.id} is completed, and it is still stuck"
    operations.release(change, moved)
    return f"the reconciliation of {moved.id} is completed"


@intervention
def exhaust_reconciliation(change: Change, operation: r.Operation) -> str:
    """Reconciliation has no attempts left: the operation fails with reconciliation_exhausted."""
    moved = _reconcile(change, operation, "exhausted")
    ending = r.Ending("intervention", "exhaust_reconciliation")
    operations.fail(change, moved, operations.EXHAUSTED, ending)
    return f"operation {moved.id} failed: its reconciliation is exhausted"


def _reconcile(change: Change, operation: r.Operation, state: str) -> r.Operation:
    try:
        return operations.reconcile(change, operation, state)
    except ValueError:
        before = operation.reconciliation.state if operation.reconciliation else "none"
        raise DocumentRefused(
            f"the reconciliation of {operation.id} is {before} and cannot become {state}"
        ) from None


@intervention
def hold_claim(change: Change, project: r.Project) -> str:
    """Another operation takes a project's mutation claim: new operations wait."""
    if project.claim is not None:
        raise DocumentRefused(
            f"operation {project.claim} already holds the claim of {project.alias}"
        )
    held = operations.hold_claim(change, project)
    return f"operation {held.id} holds the claim of {project.alias}"


@intervention
def release_claim(change: Change, project: r.Project) -> str:
    """The operation of hold_claim ends, and the next operation starts."""
    held = change.get(t.OPERATIONS, project.claim) if project.claim else None
    if held is None or held.kind != operations.HELD:
        raise DocumentRefused(f"the claim of {project.alias} was not held by hold_claim")
    operations.finish(change, held, "succeeded", r.Ending("intervention", "release_claim"))
    return f"the claim of {project.alias} is free"


@intervention
def add_deployments(
    change: Change,
    project: r.Project,
    count: Annotated[int, Meta(ge=1, le=10_000)] = 1,
    status: r.DeploymentEnd = "ready",
    commit: Annotated[str, whole("^[0-9a-f]{40}$")] | None = None,
    ago: str | None = None,
    at: str | None = None,
) -> str:
    """A project gets more deployments, one after the other, created now unless `ago` or `at` set a time."""
    try:
        made_ms = population.DeploymentPart(ago=ago, at=at).began_ms(change.now_ms, change.now_ms)
    except ValueError as error:
        raise DocumentRefused(str(error), "at" if ago is None else "ago") from None
    now = format_timestamp(made_ms)
    for last in newest_deployments(change.world, project.id, 1):
        if now < last.created_at:  # they are listed in the order in which they came
            later = f"{project.alias} has a later deployment, from {last.created_at}"
            raise DocumentRefused(f"{later}: give a time")
    for _ in range(count):
        digests, ids = draw(change, "digests", 64), (new_deployment_id(change), new_id(change))
        digests = bytes.fromhex(commit or digests[:20].hex()) + digests[20:]
        operations.put_past_deployment(change, project, status, digests, ids, (now, now))
    return f"{project.alias} has {count} more deployment{'s' * (count > 1)}, {status}"


@intervention
def fail_deployment(
    change: Change, operation: r.Operation, message: str = operations.BUILD_FAILED.message
) -> str:
    """The deployment of an operation fails, and the operation with it."""
    if operation.deployment_id is None:
        raise DocumentRefused(f"operation {operation.id} creates no deployment")
    failure = replace(operations.BUILD_FAILED, message=message)
    operations.fail(change, operation, failure, r.Ending("intervention", "fail_deployment"))
    return f"deployment {operation.deployment_id} failed"


# --- tickets, API keys, users and organizations ------------------------------------------------


@intervention
def expire_ticket(change: Change, ticket: r.Ticket) -> str:
    """An unused ticket expires now, before its ten minutes are over."""
    change.put(t.TICKETS, ticket.id, replace(ticket, expires_ms=change.now_ms))
    return f"ticket {ticket.id} has expired"


@intervention
def revoke_ticket(change: Change, ticket: r.Ticket) -> str:
    """An unused ticket is revoked."""
    change.put(t.TICKETS, ticket.id, replace(ticket, state="revoked"))
    return f"ticket {ticket.id} is revoked"


@intervention
def expire_key(change: Change, key: r.ApiKey) -> str:
    """An API key expires now, before its 90 days are over."""
    change.put(t.API_KEYS, key.id, replace(key, expires_ms=change.now_ms))
    return f"API key {key.name} has expired"


@intervention
def revoke_key(change: Change, key: r.ApiKey) -> str:
    """An API key is revoked."""
    change.put(t.API_KEYS, key.id, replace(key, revoked=True))
    return f"API key {key.name} is revoked"


@intervention
def end_session(change: Change, user: r.User) -> str:
    """All sessions of a user end: their tokens cannot create API keys until they sign in again."""
    sessions.end_standing_session(change, user.id)
    for session_id, session in change.applied().rows(t.SESSIONS):
        if session.user_id == user.id:
            sessions.end_session(change, session_id)
    return f"{user.alias} has no session: a new sign-in, or a new token, starts one"


@intervention
def leave_key_creation_uncertain(
    change: Change, times: Annotated[int, Meta(ge=1, le=1000)] = 1, *, optional: bool = False
) -> str:
    """The next API keys are created, but the response is api_key_creation_uncertain.

    If `optional`, a story also passes if no key is created then.
    """
    fault = arm(
        change,
        {
            "abort": {"code": change.assumptions.code_of("creation_uncertain")},
            "call": "create_user_api_key",
            "phase": "after_commit",
            "times": times,
            "optional": optional,
        },
    )
    change.put(t.FAULTS, fault.id, replace(fault, first_answers=True))
    return f"{fault.id} makes the next {times} key creations uncertain"


@intervention
def set_plan(change: Change, organization: r.Organization, plan: r.Plan) -> str:
    """An organization changes its plan."""
    change.put(t.ORGANIZATIONS, organization.id, replace(organization, plan=plan))
    return f"{organization.alias} is on the {plan} plan"


@intervention
def set_credits(
    change: Change,
    organization: r.Organization,
    credits: Annotated[int, Meta(ge=0, le=1_000_000_000)],
) -> str:
    """An organization has this many credits."""
    change.put(t.ORGANIZATIONS, organization.id, replace(organization, credits=credits))
    return f"{organization.alias} has {credits} credits"


@intervention
def set_permissions(change: Change, organization: r.Organization, permissions: list[str]) -> str:
    """An organization enables exactly these product permissions for API keys."""
    for name in permissions:
        if name not in PERMISSIONS:
            raise DocumentRefused(unknown("permission", name, PERMISSIONS))
    enabled = tuple(name for name in PERMISSIONS if name in permissions)
    change.put(t.ORGANIZATIONS, organization.id, replace(organization, permissions=enabled))
    return f"{organization.alias} enables {', '.join(enabled) or 'no permission'}"


@intervention
def add_member(
    change: Change,
    organization: r.Organization,
    user: r.User,
    role: r.OrganizationRole = "member",
) -> str:
    """A user joins an organization, or changes their role in it."""
    membership = r.Membership(organization.id, user.id, role)
    change.put(t.MEMBERSHIPS, f"{organization.id}/{user.id}", membership)
    return f"{user.alias} is {role} of {organization.alias}"


@intervention
def remove_member(change: Change, organization: r.Organization, user: r.User) -> str:
    """A user leaves an organization; their tokens and keys lose access to it at once."""
    key = f"{organization.id}/{user.id}"
    if change.get(t.MEMBERSHIPS, key) is None:
        raise DocumentRefused(f"{user.alias} does not belong to {organization.alias}")
    change.delete(t.MEMBERSHIPS, key)
    return f"{user.alias} no longer belongs to {organization.alias}"


@intervention
def set_role(
    change: Change,
    project: r.Project,
    user: r.User,
    role: Literal[Role, "none"],
) -> str:
    """A user has this role in a project, or none."""
    membership = change.get(t.MEMBERSHIPS, f"{project.organization_id}/{user.id}")
    if membership is None:
        raise DocumentRefused(
            f"{user.alias} does not belong to the organization of {project.alias}; use "
            "add_member first"
        )
    if membership.role == "owner":
        raise DocumentRefused(
            f"{user.alias} owns the organization of {project.alias}, and so each of its projects"
        )
    key = f"{project.id}/{user.id}"
    if role == "none":
        if change.get(t.GRANTS, key) is None:
            raise DocumentRefused(f"{user.alias} has no role in {project.alias}")
        change.delete(t.GRANTS, key)
        return f"{user.alias} has no role in {project.alias}"
    change.put(t.GRANTS, key, r.Grant(project.id, user.id, role))
    return f"{user.alias} is {role} of {project.alias}"


@intervention
def transfer_ownership(change: Change, organization: r.Organization, to: r.User) -> str:
    """An organization gets another owner; previous owners become members."""
    owners = {
        key: membership
        for key, membership in change.applied().rows(t.MEMBERSHIPS)
        if membership.organization_id == organization.id and membership.role == "owner"
    }
    key = f"{organization.id}/{to.id}"
    if key in owners:
        raise DocumentRefused(f"{to.alias} already owns {organization.alias}")
    for other, membership in owners.items():
        change.put(t.MEMBERSHIPS, other, replace(membership, role="member"))
    change.put(t.MEMBERSHIPS, key, r.Membership(organization.id, to.id, "owner"))
    return f"{to.alias} owns {organization.alias}"


# --- a project's DNS authorization, databases and domain ----------------------------------------


@intervention
def move_dns(
    change: Change,
    project: r.Project,
    to: Literal["pending", "authorized", "expired", "revoked"],
    zone: str | None = None,
    expires_in: str = "30d",
) -> str:
    """A project's DNS authorization takes the next step: pending, authorized, expired or revoked.

    `zone` is the customer's zone, `expires_in` the authorization's lifetime (world time).
    """
    dns = change.get(t.DNS, project.id) or r.Dns()
    lifecycle = lifecycles.DNS_AUTHORIZATION
    if not lifecycle.may(dns.status, to):
        following = " or ".join(sorted(lifecycle.transitions[dns.status])) or "nothing else"
        raise DocumentRefused(
            f"the DNS authorization of {project.alias} is {dns.status} and "
            f"can only become {following}"
        )
    zone = zone or dns.zone or f"{project.handle}.example"
    _check_dns_name(zone, "zone")
    expires_ms = dns.expires_ms
    if to in ("pending", "authorized"):
        try:
            expires_ms = change.now_ms + parse_duration_ms(expires_in)
        except ValueError as error:
            raise DocumentRefused(str(error)) from None
    elif to == "expired":
        expires_ms = change.now_ms
    change.put(t.DNS, project.id, r.Dns(to, zone, ("dns.write", "zone.read"), expires_ms))
    if lifecycle.may(to, "expired") and expires_ms is not None:
        operations.schedule_event(change, expires_ms, "dns_expiry", project.id)
    return f"the DNS authorization of {project.alias} is {to}"


Environment = Literal["dev", "prod", "both"]


@intervention
def fail_database_provider(
    change: Change, project: r.Project, environment: Environment = "both"
) -> str:
    """The provider of a project's databases fails: reading their compute returns a problem."""
    return _turn_provider(change, project, environment, failing=True)


@intervention
def recover_database_provider(
    change: Change, project: r.Project, environment: Environment = "both"
) -> str:
    """The provider of a project's databases works again."""
    return _turn_provider(change, project, environment, failing=False)


def _turn_provider(
    change: Change, project: r.Project, environment: Environment, *, failing: bool
) -> str:
    databases = _databases(change, project, environment)
    does = "fails" if failing else "answers"
    text = f"the database provider of {project.alias} {does} ({' and '.join(databases)})"
    if all(record.provider_failing == failing for record in databases.values()):
        raise DocumentRefused(f"{text} already")
    for name, record in databases.items():
        change.put(t.DATABASES, f"{project.id}/{name}", replace(record, provider_failing=failing))
    return text


def _databases(
    change: Change, project: r.Project, environment: Environment
) -> dict[str, r.Database]:
    """Return what is meant, by environment: a shared database is both environments' at once."""
    databases = {
        name: change.get(t.DATABASES, f"{project.id}/{name}") or r.Database("separate")
        for name in ("dev", "prod")
    }
    if environment == "both" or any(r.data_mode == "shared" for r in databases.values()):
        return databases
    return {environment: databases[environment]}


@intervention
def set_database(
    change: Change,
    project: r.Project,
    environment: Environment = "both",
    state: r.DatabaseStatus | None = None,
    pending_state: Literal["init", "ready", "suspended", "resizing", "failed"] | None = None,
    data_mode: r.DataMode | None = None,
    suspend_timeout_seconds: Annotated[int, Meta(ge=-1, le=604_800)] | None = None,
) -> str:
    """A project's database gets this state, is absent (no placement), or is shared by both environments."""
    details = {"pending_state": pending_state, "suspend_timeout_seconds": suspend_timeout_seconds}
    details = {name: value for name, value in details.items() if value is not None}
    if not details and (state, data_mode) == (None, None):
        raise DocumentRefused(
            "give what changes: state, pending_state, data_mode or suspend_timeout_seconds"
        )
    if state == "absent" and details:
        raise DocumentRefused("an absent database has only a state")
    if data_mode is not None and environment != "both":
        raise DocumentRefused("data_mode applies to both environments: leave environment out")
    databases = _databases(change, project, environment)
    before = databases
    if "shared" in (data_mode, *(record.data_mode for record in databases.values())):
        # One physical database for both environments (contract, DatabaseCompute): dev's.
        one = min(databases.values(), key=lambda record: record.placement is None)
        before = dict.fromkeys(databases, one)
    for name, record in before.items():
        placement = _placed(record.placement, state, details)
        record = replace(record, data_mode=data_mode or record.data_mode, placement=placement)
        change.put(t.DATABASES, f"{project.id}/{name}", record)
    became = state or data_mode or "changed"
    return f"the database of {project.alias} ({' and '.join(databases)}) is {became}"


def _placed(
    before: r.Placement | None, state: str | None, details: Mapping[str, object]
) -> r.Placement | None:
    """Return the placement that a database gets."""
    if before is None and state is None and details:
        raise DocumentRefused("the database is absent; give it a state too")
    if state == "absent" or (before is None and state is None):
        return None
    after = before or r.Placement(0.25, 1.0, 1.0, 4.0, 300, "init", False, "eu-central-1")
    if state is not None:
        after = replace(after, state=state, pending_state=None)
    return replace(after, **details)


@intervention
def connect_domain(change: Change, project: r.Project, domain: str) -> str:
    """A project gets its own domain; in a Free workspace that requires the flag to be shown."""
    _check_dns_name(domain, "domain")
    plan = change.row(t.ORGANIZATIONS, project.organization_id).plan
    if plan == "free" and not project.flag_enabled:
        raise DocumentRefused(
            f"{project.alias} is in a Free workspace, where a domain needs the flag shown"
        )
    change.put(t.PROJECTS, project.id, replace(project, custom_domain=domain))
    return f"{project.alias} has the domain {domain}"


def _check_dns_name(text: str, what: str) -> None:
    if not 4 <= len(text) <= 253 or not re.fullmatch(population.DNS_NAME, text):
        raise DocumentRefused(f"{text[:80]!r} is not a {what}: write it like example.com")


@intervention
def disconnect_domain(change: Change, project: r.Project) -> str:
    """A project loses its own domain."""
    if project.custom_domain is None:
        raise DocumentRefused(f"{project.alias} has no own domain")
    change.put(t.PROJECTS, project.id, replace(project, custom_domain=None))
    return f"{project.alias} no longer has {project.custom_domain}"
