"""Builds a new world with organizations, users, projects and a history of deployments.

By default, the ids of organizations, users and projects depend only on the seed and the alias, so
documentation, scenarios and tests can rely on them. The ids of deployments, operations and API keys
contain the time of their creation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting_emulator.contract.access import PERMISSIONS
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import clock as clocks
from hosting_emulator.world.default_population import DEFAULT_POPULATION, with_extended_world
from hosting_emulator.world.deployments import put_past_deployment
from hosting_emulator.world.dev_labels import dev_label
from hosting_emulator.world.dns_authorizations import default_zone
from hosting_emulator.world.lifecycles import DNS_AUTHORIZATION
from hosting_emulator.world.naming import ALIASED_TABLES
from hosting_emulator.world.population_parts import (
    DeploymentPart,
    KeyPart,
    OrganizationPart,
    ProjectPart,
    UserPart,
    WorldPart,
    default_email,
)
from hosting_emulator.world.records import (
    Database,
    Dns,
    Grant,
    Membership,
    Organization,
    Placement,
    Project,
    User,
    WorldSource,
)
from hosting_emulator.world.schedule import schedule_event
from hosting_emulator.world.sessions import put_key
from hosting_emulator.world.streams import derive, past_id, seeded_id
from hosting_emulator.world.tables import (
    ASSUMPTIONS,
    CLOCK,
    DATABASES,
    DNS,
    GRANTS,
    MEMBERSHIPS,
    ORGANIZATIONS,
    ORIGIN,
    PROJECTS,
    SINGLETON_KEY,
    USERS,
)
from hosting_emulator.world.value import Change, World, apply, empty_world

HOUR_MS = 3_600_000
DAY_MS = 86_400_000
#: How long the operation of a past deployment took: 10 seconds, the default duration of a new
#: operation.
PAST_OPERATION_MS = 10_000
#: The earliest times of day (UTC) of a morning and an afternoon deployment on a past working day.
_WORK_BEGINS_MS = (9 * HOUR_MS, 14 * HOUR_MS)
_HALF_WORKING_DAY_S = 3 * 3_600
#: The timestamp in the ids of organizations, users, projects and environments (2025-01-01). No call
#: shows when these records were created. A fixed timestamp keeps the ids independent of the clock,
#: so users can put them in their settings.
SEEDED_MS = 1_735_689_600_000

#: Maps a record's kind and alias, such as ("user", "owner"), to its id.
_Ids = Mapping[tuple[str, str], str]


def new_world(
    name: str, seed: str, origin: WorldSource, machine_ms: int, world: WorldPart | None = None
) -> World:
    """Return a new world with the clock and the assumptions that `origin` specifies.

    `world` describes the organizations, users and projects of the new world. If it is None, they
    are those of the default world. Raises ClockRefused if the clock settings are invalid.
    """
    clock = clocks.start(origin.mode, origin.rate, origin.at_ms, machine_ms)
    change = Change(empty_world(name, seed), clock.world_ms)
    change.assumptions = origin.assumptions
    change.put(CLOCK, SINGLETON_KEY, clock)
    change.put(ASSUMPTIONS, SINGLETON_KEY, origin.assumptions)
    change.put(ORIGIN, SINGLETON_KEY, origin)
    description = with_extended_world(world or DEFAULT_POPULATION)
    populate(change, description, description)
    return change.applied()


def with_overrides(
    world: World,
    machine_ms: int,
    *,
    mode: str | None = None,
    rate: float | None = None,
    assumptions: Mapping[str, Any],
) -> World:
    """Return a copy of a new world with a different clock and different assumptions.

    The new clock starts at the world's current time. If `mode` is None, the clock does not change.
    A reset still restores the original clock and assumptions. Raises ClockRefused if a clock
    setting is invalid, and AssumptionRefused if an assumption is invalid.
    """
    change = Change(world, world.at_ms)
    if mode is not None:
        clock = clocks.start(mode, rate, world.clock.world_ms, machine_ms)
        change.put(CLOCK, SINGLETON_KEY, clock)
    if assumptions:
        change.put(ASSUMPTIONS, SINGLETON_KEY, world.assumptions.changed(assumptions))
    if not change.writes:
        return world
    return apply(world, change.writes, commit=world.commit, at_ms=world.at_ms)


def populate(change: Change, part: WorldPart, whole: WorldPart) -> None:
    """Write the records that `part` describes. The items of `part` must come last in each section
    of `whole`.

    `whole` describes the world after the change, and must be free of mistakes. Raises ValueError if
    the time of a deployment is invalid.
    """
    ids: _Ids = {
        (kind, item.alias): item.id or drawn_id(change.world.seed, kind, item.alias)
        for kind, table in ALIASED_TABLES.items()
        for item in getattr(whole, table.name)
    }
    first_order = len(whole.organizations) - len(part.organizations)
    for order, organization in enumerate(part.organizations, first_order):
        _add_organization(change, organization, order, ids)
    for order, user in enumerate(part.users, len(whole.users) - len(part.users)):
        _add_user(change, user, order, ids)
    for order, project in enumerate(part.projects, len(whole.projects) - len(part.projects)):
        _add_project(change, project, order, whole.users, ids)
    for key in part.keys:
        _add_key(change, key, whole, ids)


def drawn_id(seed: str, kind: str, alias: str) -> str:
    """Return the id for an organization, user or project whose description does not set one."""
    # User ids are drawn for the purpose "person". A different purpose would change all user ids.
    purpose = "person" if kind == "user" else kind
    return seeded_id(seed, SEEDED_MS, purpose, alias)


def organization_of(key: KeyPart, whole: WorldPart) -> str:
    """Return the alias of the organization that a key belongs to.

    The default is the first organization in the file to which the key's user belongs. Return an
    empty string if that user has none.
    """
    if key.organization is not None:
        return key.organization
    for user in whole.users:
        if user.alias == key.user:
            for organization in whole.organizations:
                if organization.alias in user.organizations:
                    return organization.alias
            return ""
    return ""


def _add_organization(change: Change, part: OrganizationPart, order: int, ids: _Ids) -> None:
    organization = Organization(
        id=ids["organization", part.alias],
        alias=part.alias,
        name=part.name or part.alias.capitalize(),
        plan=part.plan,
        credits=part.credits,
        permissions=PERMISSIONS if part.permissions is None else tuple(part.permissions),
        order=order,
    )
    change.put(ORGANIZATIONS, organization.id, organization)


def _add_user(change: Change, part: UserPart, order: int, ids: _Ids) -> None:
    user = User(
        id=ids["user", part.alias],
        alias=part.alias,
        name=part.name or part.alias.capitalize(),
        email=part.email or default_email(part.alias),
        order=order,
    )
    change.put(USERS, user.id, user)
    for alias, role in part.organizations.items():
        organization_id = ids["organization", alias]
        membership = Membership(organization_id, user.id, role)
        change.put(MEMBERSHIPS, f"{organization_id}/{user.id}", membership)
    for alias, project_role in part.projects.items():
        project_id = ids["project", alias]
        change.put(GRANTS, f"{project_id}/{user.id}", Grant(project_id, user.id, project_role))


def _add_key(change: Change, part: KeyPart, whole: WorldPart, ids: _Ids) -> None:
    organization = change.row(ORGANIZATIONS, ids["organization", organization_of(part, whole)])
    permissions = organization.permissions
    if part.permissions is not None:
        permissions = tuple(part.permissions)
    put_key(
        change,
        seeded_id(change.world.seed, change.now_ms, "key", part.digest),
        organization_id=organization.id,
        user_id=ids["user", part.user],
        name=part.name,
        digest=part.digest,
        last_characters=part.last_characters,
        permissions=permissions,
    )


def _add_project(
    change: Change, part: ProjectPart, order: int, users: list[UserPart], ids: _Ids
) -> None:
    seed = change.world.seed
    deployments = _deployments(change.now_ms, part)
    generation = part.source_generation
    if generation is None:
        generation = min(1, len(deployments))
    flag_enabled_at = None
    flag_enabled_by = None
    if part.flag:
        flag_enabled_at = format_timestamp(change.now_ms - 20 * DAY_MS)
        flag_enabled_by = _first_owner(part, users, ids)
    project = Project(
        id=ids["project", part.alias],
        alias=part.alias,
        organization_id=ids["organization", part.organization],
        handle=part.handle or part.alias,
        dev_label=dev_label(derive(seed, "words", part.alias, size=3)),
        dev_environment_id=seeded_id(seed, SEEDED_MS, "environment", part.alias),
        flag_enabled=part.flag,
        flag_enabled_at=flag_enabled_at,
        flag_enabled_by=flag_enabled_by,
        custom_domain=part.domain,
        source_generation=generation,
        order=order,
    )
    change.put(PROJECTS, project.id, project)
    _add_dns(change, project, part.dns)
    _add_databases(change, project, part)
    for number, (began_ms, deployment) in enumerate(deployments):
        label = f"{project.alias}/{number}"
        digests = derive(seed, "digests", label, size=64)
        if deployment.commit is not None:
            digests = bytes.fromhex(deployment.commit) + digests[20:]
        put_past_deployment(
            change,
            project,
            deployment.status,
            digests,
            deployment_id=past_id(seed, began_ms, number, "deployment", label),
            operation_id=past_id(seed, began_ms, number, "operation", label),
            created_at=format_timestamp(began_ms),
            updated_at=format_timestamp(began_ms + PAST_OPERATION_MS),
        )


def _first_owner(part: ProjectPart, users: list[UserPart], ids: _Ids) -> str | None:
    """Return the id of the first user who owns a project or its organization."""
    for user in users:
        roles = (user.organizations.get(part.organization), user.projects.get(part.alias))
        if "owner" in roles:
            return ids["user", user.alias]
    return None


def _add_dns(change: Change, project: Project, status: str) -> None:
    if status == "not_authorized":
        change.put(DNS, project.id, Dns())
        return
    days = {"authorized": 30, "pending": 1, "expired": -3, "revoked": 12}[status]
    expires_ms = change.now_ms + days * DAY_MS
    dns = Dns(status, default_zone(change, project), ("dns.write", "zone.read"), expires_ms)
    change.put(DNS, project.id, dns)
    if DNS_AUTHORIZATION.may(status, "expired"):
        schedule_event(change, expires_ms, "dns_expiry", project.id)


def _add_databases(change: Change, project: Project, part: ProjectPart) -> None:
    data_mode = part.database.data_mode
    dev = _placement(part.database.dev, is_large=data_mode == "shared")
    prod = _placement(part.database.prod, is_large=True)
    change.put(DATABASES, f"{project.id}/dev", Database(data_mode, dev))
    change.put(DATABASES, f"{project.id}/prod", Database(data_mode, prod))


def _placement(state: str, *, is_large: bool) -> Placement | None:
    if state == "absent":
        return None
    return Placement(
        min_cu=0.25,
        max_cu=2.0 if is_large else 1.0,
        min_memory_gb=1.0,
        max_memory_gb=8.0 if is_large else 4.0,
        suspend_timeout_seconds=0 if is_large else 300,
        state=state,
        disabled=False,
        region="eu-central-1",
        pending_state="ready" if state in ("init", "resizing") else None,
    )


def _deployments(start_ms: int, part: ProjectPart) -> list[tuple[int, DeploymentPart]]:
    """Return a project's deployments with their start times, oldest first.

    Raises ValueError if the time of a deployment is invalid.
    """
    deployments = part.deployments
    if isinstance(deployments, int):
        deployments = [DeploymentPart(_usual_status(number)) for number in range(deployments)]
    usual_times = _usual_times(start_ms, len(deployments), part.alias)
    dated = [
        (deployment.began_ms(start_ms, usual_ms), deployment)
        for deployment, usual_ms in zip(deployments, usual_times, strict=True)
    ]
    return sorted(dated, key=lambda pair: pair[0])


def _usual_times(start_ms: int, count: int, alias: str) -> list[int]:
    """Return the start times of `count` deployments, two per working day, oldest first.

    Each day has one deployment in the morning and one in the afternoon (UTC). All of them end
    before the world starts. The minute depends on the alias, so that the projects in a world do not
    all deploy at the same time.
    """
    latest_ms = start_ms - PAST_OPERATION_MS
    offset = sum(alias.encode())
    times: list[int] = []
    day = start_ms // DAY_MS
    while len(times) < count:
        # Day 0 (1970-01-01) was a Thursday.
        if (day + 3) % 7 < 5:
            for half in (1, 0):
                scattered_s = (2 * day + half + offset) * 7_919 % _HALF_WORKING_DAY_S
                began_ms = day * DAY_MS + _WORK_BEGINS_MS[half] + scattered_s * 1000
                if began_ms <= latest_ms and len(times) < count:
                    times.append(began_ms)
        day -= 1
    return times[::-1]


def _usual_status(number: int) -> Any:
    """Return the status of a deployment in a project whose description gives only the number of
    deployments.

    `number` is the index of the deployment, starting at 0.
    """
    if number % 11 == 4:
        return "cancelled"
    if number % 7 == 5:
        return "failed"
    return "ready"
