"""What a world begins with: organizations, people and projects with a history; by default a few.

Ids depend on the seed and the alias alone, so documentation, scenarios and tests can name them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hosting_emulator.contract.assumptions import PERMISSIONS
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t
from hosting_emulator.world.operations import put_past_deployment
from hosting_emulator.world.schedule import schedule_dns_expiry
from hosting_emulator.world.streams import derive, seeded_id
from hosting_emulator.world.value import Change, World, apply, empty_world

MINUTE_MS = 60_000
DAY_MS = 86_400_000
#: Time part of the ids of seeded things (2025-01-01): fixed, so that ids do not follow the clock.
SEEDED_MS = 1_735_689_600_000


class Workspace(NamedTuple):
    """An organization to be: its plan, its credits and the product permissions it enables."""

    alias: str
    name: str
    plan: r.Plan
    credits: int
    permissions: tuple[str, ...] = PERMISSIONS


class Human(NamedTuple):
    """A person to be: their role in each organization and project, by alias."""

    alias: str
    name: str
    organizations: Mapping[str, str]
    projects: Mapping[str, str]


class Site(NamedTuple):
    """A project to be, with the parts of its state worth seeing."""

    alias: str
    organization: str
    deployments: int
    flag: bool
    dns: str
    data_mode: str
    dev_database: str | None
    prod_database: str | None
    custom_domain: str | None = None
    source_generation: int | None = None


#: The default world is worth looking at: its people and projects are few and speak for themselves,
#: and every state that a call can show is there.
WORKSPACES = (
    Workspace("acme", "Acme Studio", "paid", 5_000),
    Workspace("hobby", "Hobby Garden", "free", 0),
)
PEOPLE = (
    Human("owner", "Olive Owner", {"acme": "owner"}, {}),
    Human("member", "Max Member", {"acme": "member"}, {"shop": "maintainer", "blog": "maintainer"}),
    Human(
        "reader",
        "Rita Reader",
        {"acme": "member"},
        {"shop": "reader", "blog": "reader", "docs": "reader"},
    ),
    Human("outsider", "Oscar Outsider", {"hobby": "owner"}, {}),
    Human("no-organization", "Nora Nowhere", {}, {}),
)
SITES = (
    Site("shop", "acme", 45, True, "authorized", "separate", "ready", "ready", "shop.acme.example"),
    Site("blog", "acme", 12, False, "pending", "shared", "suspended", "suspended"),
    Site("docs", "acme", 21, False, "expired", "separate", "init", None),
    Site("labs", "acme", 0, False, "not_authorized", "separate", None, None),
    Site("garden", "hobby", 7, True, "revoked", "separate", "ready", "resizing", "garden.example"),
    Site("notes", "hobby", 3, False, "not_authorized", "shared", "ready", "ready"),
)


def default_world(name: str, seed: str, origin: r.Origin, machine_ms: int) -> World:
    """Return a fresh default world that begins as `origin` says. Raises ClockRefused."""
    clock = clocks.start(origin.mode, origin.rate, origin.at_ms, machine_ms)
    change = Change(empty_world(name, seed, clock, origin), clock.world_ms)
    populate(change, WORKSPACES, PEOPLE, SITES)
    return change.applied()


def with_overrides(
    world: World,
    machine_ms: int,
    *,
    mode: str | None = None,
    rate: float | None = None,
    assumptions: Mapping[str, Any],
) -> World:
    """Return a world that is only beginning with another clock and some assumptions changed.

    The clock starts where its own begins; without a mode it stays. What the world's origin says
    stays too, so a reset returns to the world's own. Raises ClockRefused, AssumptionRefused.
    """
    writes: dict[str, dict[str, Any]] = {}
    if mode is not None:
        writes[t.CLOCK.name] = {t.ONLY: clocks.start(mode, rate, world.clock.world_ms, machine_ms)}
    if assumptions:
        writes[t.ASSUMPTIONS.name] = {t.ONLY: world.assumptions.changed(assumptions)}
    return apply(world, writes, commit=world.commit, at_ms=world.at_ms) if writes else world


def populate(
    change: Change, workspaces: Iterable[Workspace], people: Iterable[Human], sites: Iterable[Site]
) -> None:
    """Put organizations, people and projects into an empty world."""
    for workspace in workspaces:
        _add_organization(change, workspace)
    for human in people:
        _add_person(change, human)
    for site in sites:
        _add_site(change, site)


def _id(change: Change, kind: str, alias: str) -> str:
    return seeded_id(change.world.seed, SEEDED_MS, kind, alias)


def _add_organization(change: Change, workspace: Workspace) -> None:
    organization = r.Organization(
        id=_id(change, "organization", workspace.alias),
        alias=workspace.alias,
        name=workspace.name,
        plan=workspace.plan,
        credits=workspace.credits,
        permissions=workspace.permissions,
    )
    change.put(t.ORGANIZATIONS, organization.id, organization)


def _add_person(change: Change, human: Human) -> None:
    person_id = _id(change, "person", human.alias)
    email = f"{human.alias}@people.example"
    person = r.Person(id=person_id, alias=human.alias, name=human.name, email=email)
    change.put(t.PEOPLE, person_id, person)
    for organization, role in human.organizations.items():
        organization_id = _id(change, "organization", organization)
        change.put(
            t.MEMBERSHIPS,
            f"{organization_id}/{person_id}",
            r.Membership(organization_id, person_id, "owner" if role == "owner" else "member"),
        )
    for project, role in human.projects.items():
        project_id = _id(change, "project", project)
        granted = _ROLES[role]
        change.put(t.GRANTS, f"{project_id}/{person_id}", r.Grant(project_id, person_id, granted))


_ROLES: dict[str, r.ProjectRole] = {
    "owner": "owner",
    "maintainer": "maintainer",
    "reader": "reader",
}


def _add_site(change: Change, site: Site) -> None:
    seed, now_ms = change.world.seed, change.now_ms
    generation = site.source_generation
    if generation is None:
        generation = 1 if site.deployments else 0
    project = r.Project(
        id=_id(change, "project", site.alias),
        alias=site.alias,
        organization_id=_id(change, "organization", site.organization),
        handle=site.alias,
        dev_label=_dev_label(derive(seed, "words", site.alias, size=3)),
        dev_environment_id=_id(change, "environment", site.alias),
        flag_enabled=site.flag,
        flag_enabled_at=format_timestamp(now_ms - 20 * DAY_MS) if site.flag else None,
        custom_domain=site.custom_domain,
        source_generation=generation,
    )
    change.put(t.PROJECTS, project.id, project)
    _add_dns(change, project, site)
    _add_databases(change, project, site)
    for number in range(site.deployments):
        _add_deployment(change, project, number, site.deployments)


def _add_dns(change: Change, project: r.Project, site: Site) -> None:
    if site.dns == "not_authorized":
        change.put(t.DNS, project.id, r.Dns())
        return
    days = {"authorized": 30, "pending": 1, "expired": -3, "revoked": 12}[site.dns]
    expires_ms = change.now_ms + days * DAY_MS
    dns = r.Dns(site.dns, f"{site.alias}.example", ("dns.write", "zone.read"), expires_ms)
    change.put(t.DNS, project.id, dns)
    if site.dns == "authorized":
        schedule_dns_expiry(change, project.id, expires_ms)


def _add_databases(change: Change, project: r.Project, site: Site) -> None:
    for environment, state in (("dev", site.dev_database), ("prod", site.prod_database)):
        big = environment == "prod" or site.data_mode == "shared"
        placement = None
        if state is not None:
            placement = r.Placement(
                min_cu=0.25,
                max_cu=2.0 if big else 1.0,
                min_memory_gb=1.0,
                max_memory_gb=8.0 if big else 4.0,
                suspend_timeout_seconds=0 if big else 300,
                state=state,
                disabled=False,
                region="eu-central-1",
                pending_state="ready" if state in ("init", "resizing") else None,
            )
        key = f"{project.id}/{environment}"
        change.put(t.DATABASES, key, r.Database(site.data_mode, placement))


def _add_deployment(change: Change, project: r.Project, number: int, total: int) -> None:
    seed, label = change.world.seed, f"{project.alias}/{number}"
    began_ms = change.now_ms - (total - number) * DAY_MS // 2 - number * 7 * MINUTE_MS
    put_past_deployment(
        change,
        project,
        "cancelled" if number % 11 == 4 else "failed" if number % 7 == 5 else "ready",
        derive(seed, "digests", label, size=64),
        (
            seeded_id(seed, SEEDED_MS + number, "deployment", label),
            seeded_id(seed, SEEDED_MS + number, "operation", label),
        ),
        (format_timestamp(began_ms), format_timestamp(began_ms + 10_000)),
    )


#: Words of dev hosts: short, friendly, lowercase, easy to tell apart.
_COLOURS = (
    "amber azure bronze cobalt coral crimson emerald golden indigo ivory jade lilac maroon olive "
    "pearl plum ruby saffron sienna silver teal topaz umber violet"
).split()
_ANIMALS = (
    "badger beaver crane curlew dolphin falcon finch gecko heron ibis jackal lemur lynx marten "
    "newt otter plover puffin raven seal stork tapir weasel wren"
).split()
_PLACES = (
    "bay brook canyon cape cliff cove dale delta fen fjord forest glade grove harbor island lagoon "
    "marsh meadow mesa moor oasis prairie ridge valley"
).split()


def _dev_label(randomness: bytes) -> str:
    """Return `dev-<word>-<word>-<word>` from at least three bytes of randomness."""
    lists = (_COLOURS, _ANIMALS, _PLACES)
    words = [words[byte % len(words)] for words, byte in zip(lists, randomness, strict=False)]
    return "-".join(("dev", *words))
