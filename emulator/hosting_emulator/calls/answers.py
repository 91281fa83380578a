"""What each call does: one function for each row of the contract's table, under the call's name.

It is given the change it may write in, the request, and what that is about; it returns the reply, or
raises Refused and has then changed nothing.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from hosting_emulator.calls.access import role_of
from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import success_status
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import operations, views
from hosting_emulator.world.naming import hostnames, zone_of
from hosting_emulator.world.records import (
    ApiKey,
    Database,
    Dns,
    Operation,
    Organization,
    Project,
    RememberedAnswer,
    Ticket,
)
from hosting_emulator.world.sessions import put_key
from hosting_emulator.world.streams import derive, digest, new_id, new_secret
from hosting_emulator.world.tables import API_KEYS, DATABASES, DNS, ORGANIZATIONS, PROJECTS, TICKETS
from hosting_emulator.world.value import Change, Run, deployment_count, deployment_runs, in_runs

#: A ticket is valid ten minutes (contract, Limits).
TICKET_LIFETIME_MS = 600_000
#: The cookie that a redeemed ticket sets at the dev origin, and how long (world time) it opens it.
DEV_SESSION_COOKIE = "dev_access"
DEV_SESSION_LIFETIME_MS = 12 * 3_600_000
REDEEM_PATH = "/.service/dev-access/redeem"


def set_project_powered_by_flag(change: Change, request: CallRequest, project: Project) -> Reply:
    """Switch the flag. Hiding is refused while a Free workspace's domain depends on it."""
    assumption = None
    if request.values["enabled"]:
        by = project.flag_enabled_by
        # Whoever is owner no more leaves the moment to the next who switches it on. Who asks is one.
        own = by == request.principal.user_id
        if by is not None and (own or role_of(change, by, project) == "owner"):
            assumption = "flag_reenabled"
        if assumption is None or change.assumptions.flag_reenabled != "kept":
            now, by = format_timestamp(change.now_ms), request.principal.user_id
            project = replace(project, flag_enabled=True, flag_enabled_at=now, flag_enabled_by=by)
    else:
        plan = change.row(ORGANIZATIONS, project.organization_id).plan
        if project.flag_enabled and project.custom_domain and plan == "free":
            raise Refused(
                change.assumptions.code_of("domain_depends_on_flag"),
                f"The Free workspace's domain {project.custom_domain} depends on the flag.",
            )
        project = replace(project, flag_enabled=False, flag_enabled_at=None, flag_enabled_by=None)
    change.put(PROJECTS, project.id, project)
    body = views.encode(views.powered_by_flag(project), change.assumptions)
    return Reply(200, body, project.id, assumption=assumption)


# --- operations ------------------------------------------------------------------------------------


def initialize_managed_source(change: Change, request: CallRequest, project: Project) -> Reply:
    """Begin the operation, if the caller knows the project's current source generation."""
    assumptions = change.assumptions
    expected = request.values.get("expected_source_generation")
    if assumptions.source_generation == "ignored":
        # It stays ignored when the operation starts, whatever the world assumes by then.
        expected = None
    if expected is not None and expected != project.source_generation:
        raise Refused(
            assumptions.code_of("generation_stale"),
            f"The project's source generation is {project.source_generation}, "
            "not the expected one.",
            field="expected_source_generation",
            assumption="source_generation",
        )
    return _accept(change, request, project, operations.INITIALIZE, expected)


def apply_project_domains(change: Change, request: CallRequest, project: Project) -> Reply:
    """Begin the operation, if the plan allows it; its result holds the hostnames."""
    organization = change.row(ORGANIZATIONS, project.organization_id)
    if organization.plan == "free" and change.assumptions.domains_plan == "paid":
        raise Refused(
            change.assumptions.code_of("plan_too_small"),
            f"The organization {organization.name} is on the free plan.",
            assumption="domains_plan",
        )
    return _accept(change, request, project, operations.APPLY_DOMAINS)


def _accept(
    change: Change, request: CallRequest, project: Project, kind: str, generation: int | None = None
) -> Reply:
    """Begin an operation. Nothing spends credits: an organization has some, or none."""
    organization = change.row(ORGANIZATIONS, project.organization_id)
    if not organization.credits and change.assumptions.zero_credits == "operations_refused":
        raise Refused(
            change.assumptions.code_of("credits_used_up"),
            f"The organization {organization.name} has no credits left.",
            assumption="zero_credits",
        )
    begun = operations.begin(
        change, project, kind, expected_generation=generation, outcome=request.outcome
    )
    return _created(change, request, views.operation(change, begun), begun.id)


def _created(
    change: Change, request: CallRequest, document: Any, subject: str, *, secret: bool = False
) -> Reply:
    status = success_status(request.spec, change.assumptions)
    return Reply(status, views.encode(document, change.assumptions), subject, secret=secret)


def get_operation(change: Change, request: CallRequest, operation: Operation) -> Reply:
    """Show the operation as it now is. Where its profile counts polls, this one counts."""
    if not operations.finished(operation):
        operation = operations.count_poll(change, operation)
    body = views.encode(views.operation(change, operation), change.assumptions)
    return Reply(200, body, operation.id)


# --- API keys: the full value is shown once and kept nowhere ----------------------------------------


def create_user_api_key(change: Change, request: CallRequest, organization: Organization) -> Reply:
    """Create the key. Needs no credits, but at least one product permission to carry."""
    permissions = organization.permissions
    if not permissions:
        raise Refused(
            change.assumptions.code_of("no_permission_enabled"),
            "The organization has enabled no product permission that a key could have.",
        )
    user_id, name = request.principal.user_id, request.values["name"]
    key, value = make_key(change, organization, user_id, name, permissions)
    return _created(change, request, _key(change, request, key, value), key.id, secret=True)


def make_key(
    change: Change,
    organization: Organization,
    user_id: str,
    name: str,
    permissions: tuple[str, ...],
) -> tuple[ApiKey, str]:
    """Write a new key and return it with its full value, which is not kept."""
    value = change.assumptions.key_prefix + new_secret(change)
    of, kept = (organization.id, user_id, name), (digest(value), value[-4:])
    return put_key(change, new_id(change), of, kept, permissions), value


def create_key_again(change: Change, request: CallRequest, found: RememberedAnswer) -> Reply:
    """Return the key's metadata as it now is, and no value, for an exact replay.

    The product permissions are revalidated (contract, Endpoints, 3). Raises Refused.
    """
    key = change.row(API_KEYS, str(found.subject))
    enabled = change.row(ORGANIZATIONS, request.subject_id).permissions
    remaining = [name for name in key.permissions if name in enabled]
    if not remaining:
        raise Refused(
            change.assumptions.code_of("no_permission_enabled"),
            "The organization has disabled product permissions of this key.",
            why=f"it still enables {', '.join(remaining) or 'none'} of the key's permissions",
            assumption="replayed_key_permissions",
        )
    body = views.encode(_key(change, request, key, None), change.assumptions)
    return Reply(change.assumptions.key_replayed_status, body, key.id)


def _key(change: Change, request: CallRequest, key: ApiKey, value: str | None) -> dict[str, Any]:
    return {
        "replayed": value is None,
        "value": value,
        "request_id": request.request_id(),
        "key": views.api_key(key, change.assumptions),
    }


# --- dev access -----------------------------------------


def create_dev_access_ticket(change: Change, request: CallRequest, project: Project) -> Reply:
    """Issue a single-use ticket; the principal's earlier unused one is revoked."""
    principal = request.principal.user_id
    # Each new ticket revokes the one before, so at most the last one can still be unused.
    last_id = change.world.indexes.get(f"last_ticket:{principal}")
    last = change.get(TICKETS, last_id) if last_id else None
    unused = last is not None and last.state == "unused"
    if last and unused and last.expires_ms > change.now_ms:
        change.put(TICKETS, last.id, replace(last, state="revoked"))
    secret = new_secret(change)
    ticket = Ticket(
        id=new_id(change),
        project_id=project.id,
        principal=principal,
        digest=digest(secret),
        expires_ms=change.now_ms + TICKET_LIFETIME_MS,
    )
    change.put(TICKETS, ticket.id, ticket)
    origin = dev_origin(change, project, request.dev_port)
    document = {
        "ticket_id": ticket.id,
        "project_id": project.id,
        "environment_id": project.dev_environment_id,
        "origin": origin,
        "redeem_url": f"{origin}{REDEEM_PATH}?stage=dev&ticket={secret}",
        "expires_at": format_timestamp(ticket.expires_ms),
    }
    return _created(change, request, document, ticket.id)


def dev_origin(change: Change, project: Project, port: int | None) -> str:
    """Return the https origin of a project's dev host."""
    host = hostnames(change.world.name, change.assumptions, project).development
    return f"https://{host}" if port in (None, 443) else f"https://{host}:{port}"


# What becomes of a ticket at a project's dev origin. To a stranger, one that is unknown, used, expired,
# revoked or of another origin looks the same.


def project_at(change: Change, host: str) -> Project | None:
    """Return the project whose dev host this is (without port), or None."""
    label, _, zone = host.lower().partition(".")
    if zone != zone_of(change.world.name, change.assumptions.dev_zone):
        return None
    project_id = change.world.indexes.get(f"dev:{label}")
    return change.get(PROJECTS, project_id) if project_id else None


def ticketed_project(change: Change, secret: str) -> Project | None:
    """Return the project that a ticket was issued for, also where it is no longer good."""
    ticket = _ticket_of(change, secret)
    return None if ticket is None else change.get(PROJECTS, ticket.project_id)


def _ticket_of(change: Change, secret: str) -> Ticket | None:
    ticket_id = change.world.indexes.get(f"ticket:{digest(secret)}")
    return change.get(TICKETS, ticket_id) if ticket_id else None


def redeem(change: Change, project: Project, secret: str) -> str:
    """Use a ticket up and return the secret of the session it opens. Raises Refused."""
    ticket = _ticket_of(change, secret)
    if why := _why_refused(change, project, ticket):
        detail = "This ticket cannot be redeemed here: ask for a new one."
        raise Refused("resource_not_found", detail, why=why)
    assert ticket is not None
    session = new_secret(change)
    used = replace(ticket, state="used", session_digest=digest(session), used_ms=change.now_ms)
    change.put(TICKETS, ticket.id, used)
    return f"{ticket.id}.{session}"


def _why_refused(change: Change, project: Project, ticket: Ticket | None) -> str | None:
    if ticket is None:
        return "no ticket has this secret"
    if ticket.project_id != project.id:
        return f"the ticket is for project {ticket.project_id}"
    if ticket.state != "unused":
        return f"the ticket is {ticket.state}"
    return "the ticket has expired" if ticket.expires_ms <= change.now_ms else None


def session_of(change: Change, project: Project, cookie: str) -> Ticket | None:
    """Return the ticket that opened this session at this project's origin, or None."""
    ticket_id, _, session = cookie.partition(".")
    ticket = change.get(TICKETS, ticket_id)
    if ticket is None or ticket.used_ms is None or ticket.session_digest != digest(session):
        return None
    over = ticket.used_ms + DEV_SESSION_LIFETIME_MS <= change.now_ms
    return None if over or ticket.project_id != project.id else ticket


# --- what is only read -------------------------------------------------------------------------------


def get_dns_authorization(change: Change, request: CallRequest, project: Project) -> Reply:
    """Show the authorization as it is now, without credentials."""
    found = views.dns_authorization(change.get(DNS, project.id) or Dns(), change.assumptions)
    return Reply(200, views.encode(found, change.assumptions), project.id)


def read_database_compute(change: Change, request: CallRequest, project: Project) -> Reply:
    """Show what is observed now; a database without placement is null, never invented."""
    environment = request.values["environment"]
    record = change.get(DATABASES, f"{project.id}/{environment}") or Database("separate")
    if record.provider_failing:
        raise Refused(
            change.assumptions.code_of("provider_failing"),
            f"The database provider does not respond for the {environment} environment.",
            why="an intervention made the provider fail",
        )
    found = views.database_compute(project, environment, record, change.now_ms, change.assumptions)
    return Reply(200, views.encode(found, change.assumptions), project.id)


# --- pages of deployments ----------------------------------------------------------------------------
#
# A cursor names a place in the project's list, which only ever grows at its new end; so each
# deployment that was there when the paging began comes exactly once, whatever arrives meanwhile. The
# same place can be written at several lengths (`LONGER`): each is read, whatever is written now.

_Key: TypeAlias = tuple[str, str, int, int, int | None, int]
_TAG = 6
_PLACE = 6
_SHORTEST = (_TAG + _PLACE) * 4 // 3
#: By how many characters a cursor may be longer than it must be, where one is asked to vary it.
LONGER = (1, 6, 20, 48, 80)
#: Pages written before: one is a pure function of its runs, its place, seed and assumptions.
_pages: dict[_Key, tuple[list[Run], Assumptions, bytes]] = {}
_MOST_PAGES = 256


def list_deployments(change: Change, request: CallRequest, project: Project) -> Reply:
    """Answer one page, and a cursor for the next."""
    assumptions = change.assumptions
    newest_first = assumptions.deployment_order == "newest_first"
    indexes = change.world.indexes
    count = deployment_count(indexes, project.id)
    limit, cursor = request.values["limit"], request.values["cursor"]
    if newest_first:
        stop = count if cursor is None else _read_cursor(change, project, cursor, count)
        start = max(0, stop - limit)
        following = start if start > 0 else None
    else:
        start = 0 if cursor is None else _read_cursor(change, project, cursor, count)
        stop = min(count, start + limit)
        following = stop if stop < count else None
    runs = deployment_runs(indexes, project.id, start, stop)
    longer = request.values.get("cursor_longer", 0)
    key = (change.world.seed, project.id, start, stop, following, longer)
    # A run is immutable and replaced when one of its deployments changes: the bytes of equal runs hold,
    # and nothing needs to be told of a change, in this world or any other.
    kept = _pages.get(key)
    if kept is not None and kept[1] is assumptions and kept[0] == runs:
        return Reply(200, kept[2], project.id)
    next_cursor = None if following is None else _write_cursor(change, project, following, longer)
    records = in_runs(runs, start, stop)[:: -1 if newest_first else 1]
    body = views.deployments_page(records, next_cursor, assumptions)
    if len(_pages) >= _MOST_PAGES:
        _pages.clear()
    _pages[key] = (runs, assumptions, body)
    return Reply(200, body, project.id)


def _write_cursor(change: Change, project: Project, place: int, longer: int) -> str:
    packed = place.to_bytes(_PLACE, "big")
    short = urlsafe_b64encode(_tag(change, project, packed) + packed).decode()
    return _lengthened(change, short, longer)


def _lengthened(change: Change, short: str, longer: int) -> str:
    """Write a cursor `longer` characters longer, first of them one that is no letter or digit."""
    if not longer:
        return short
    drawn = derive(change.world.seed, "longer cursor", short, str(longer), size=64)
    return ("-_"[drawn[0] % 2] + urlsafe_b64encode(drawn[1:]).decode())[:longer] + short


def _read_cursor(change: Change, project: Project, cursor: str, count: int) -> int:
    name = change.assumptions.cursor_parameter
    short = cursor[-_SHORTEST:]
    longer = len(cursor) - _SHORTEST
    if longer and longer not in LONGER:
        raise bad_cursor(name)
    raw = urlsafe_b64decode(short)
    place = int.from_bytes(raw[_TAG:], "big")
    if raw[:_TAG] != _tag(change, project, raw[_TAG:]) or not 0 < place <= count:
        raise bad_cursor(name)
    if cursor != _lengthened(change, short, longer):
        raise bad_cursor(name)
    return place


def _tag(change: Change, project: Project, packed: bytes) -> bytes:
    """Bind a cursor to its list: one that was made up, or of another project or order, is refused."""
    order = change.assumptions.deployment_order
    return derive(change.world.seed, "cursor", order, project.id, packed.hex(), size=_TAG)


#: What answers a retry of a call that succeeded, where that is not what was remembered.
AGAIN = {"create_user_api_key": create_key_again}
#: The function of each call, by its name.
ANSWERS: dict[str, Callable[[Change, CallRequest, Any], Reply]] = {
    call_id: globals()[call_id] for call_id in ALL_CALLS
}
