"""What a world begins with: organizations, users and projects with a history; by default a few.

Ids depend on the seed and the alias alone, so documentation, scenarios and tests can name them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hosting_emulator.contract.access import PERMISSIONS, Role
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.json_schema import whole
from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t
from hosting_emulator.world.lifecycles import DNS_AUTHORIZATION
from hosting_emulator.world.naming import NAMED, in_order
from hosting_emulator.world.operations import put_past_deployment, schedule_event
from hosting_emulator.world.sessions import put_key
from hosting_emulator.world.streams import SECRET_LENGTH, derive, digest, seeded_id
from hosting_emulator.world.value import Change, World, apply, deployment_count, empty_world

MINUTE_MS = 60_000
DAY_MS = 86_400_000
#: Time part of the ids of seeded things (2025-01-01): fixed, so that ids do not follow the clock.
SEEDED_MS = 1_735_689_600_000


#: A domain, or a customer's zone (contract, DnsAuthorization).
DNS_NAME = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$"
Alias = Annotated[str, whole("^[a-z][a-z0-9-]{0,40}$")]
Ulid = Annotated[str, whole(ULID_PATTERN)]


class PopulationPart(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Base of what a world is described in: a field that is not known is refused."""


class OrganizationPart(PopulationPart):
    """An organization of `world`."""

    alias: Alias
    name: str | None = None
    plan: r.Plan = "paid"
    credits: Annotated[int, Meta(ge=0)] = 1_000
    permissions: list[str] | None = None
    id: Ulid | None = None


class UserPart(PopulationPart):
    """A user of `world`: their roles in organizations and projects, by alias."""

    alias: Alias
    name: str | None = None
    organizations: dict[str, r.OrganizationRole] = {}
    projects: dict[str, Role] = {}
    id: Ulid | None = None
    email: Annotated[str, whole(r"^[^@\s]+@[^@\s]+$")] | None = None


class DatabasePart(PopulationPart):
    """The databases of a project."""

    data_mode: r.DataMode = "separate"
    dev: r.DatabaseStatus = "ready"
    prod: r.DatabaseStatus = "ready"


class DeploymentPart(PopulationPart):
    """A deployment that has ended, so long `ago` or `at` a moment before the world's start."""

    status: r.DeploymentEnd = "ready"
    commit: Annotated[str, whole("^[0-9a-f]{40}$")] | None = None
    ago: str | None = None
    at: str | None = None

    def began_ms(self, start_ms: int, otherwise_ms: int) -> int:
        """Return when it began. Raises ValueError for what is neither, or not before the start."""
        if self.ago is not None and self.at is not None:
            raise ValueError("give `ago` or `at`, not both")
        if self.ago is not None:
            return start_ms - parse_duration_ms(self.ago)
        began_ms = otherwise_ms if self.at is None else parse_timestamp(self.at)
        if began_ms > start_ms:
            now = format_timestamp(start_ms)
            raise ValueError(f"{self.at} is in the future: the world's time is {now}")
        return began_ms


class ProjectPart(PopulationPart):
    """A project of `world`."""

    alias: Alias
    organization: Alias
    deployments: Annotated[int, Meta(ge=0, le=100_000)] | list[DeploymentPart] = 0
    flag: bool = False
    domain: Annotated[str, Meta(min_length=4, max_length=253), whole(DNS_NAME)] | None = None
    dns: r.DnsStatus = "not_authorized"
    database: DatabasePart = msgspec.field(default_factory=DatabasePart)
    source_generation: Annotated[int, Meta(ge=0)] | None = None
    id: Ulid | None = None
    handle: Annotated[str, whole("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")] | None = None


#: The value of an API key; and what is kept of one: its digest and, if known, its last characters.
_VALUE = f"[a-z]{{2,8}}_[A-Za-z0-9_-]{{{SECRET_LENGTH}}}"
_KEPT = "sha256:[0-9a-f]{64}(:[A-Za-z0-9_-]{4})?"


class KeyPart(PopulationPart):
    """An API key of a user in an organization: the first that they are in unless it is named.

    `value`, a secret, is what a client sends; or `sha256:` and its digest, in hexadecimal digits.
    """

    user: Alias
    value: Annotated[str, Meta(extra_json_schema={"pattern": f"^({_VALUE}|{_KEPT})$"})]
    organization: Alias | None = None
    name: Annotated[str, Meta(min_length=1, max_length=64)] = "of the world file"
    permissions: list[str] | None = None

    def kept(self) -> list[str]:
        """Return the digest of the value, and its last four characters if they are known."""
        text = without_values({"value": self.value})["value"]
        return [*text.split(":")[1:], ""][:2]


class WorldPart(PopulationPart):
    """`world`: all that is in it, beside the default world with `extends`. Left out, it is that one."""

    organizations: list[OrganizationPart] = []
    users: list[UserPart] = []
    projects: list[ProjectPart] = []
    extends: Literal["default"] | None = None
    keys: list[KeyPart] = []

    def whole(self) -> WorldPart:
        """Return it with what it extends; what it has under the same alias takes its place there."""
        if self.extends is None:
            return self
        found = WorldPart(keys=self.keys)
        for name in _SECTIONS:
            parts = (*getattr(_DEFAULT, name), *getattr(self, name))
            setattr(found, name, [*{part.alias: part for part in parts}.values()])
        return found


#: Ids by kind and alias, and where each kind of what has one stands.
_Ids = Mapping[tuple[str, str], str]
_KINDS = {kind: table.name for kind, table in NAMED.items()}
_SECTIONS = (*_KINDS.values(),)

#: The default world is worth looking at: its users and projects are few and speak for themselves,
#: and every state that a call can show is there.
_DEFAULT = WorldPart(
    organizations=[
        OrganizationPart("acme", "Acme Studio", "paid", 5_000),
        OrganizationPart("hobby", "Hobby Garden", "free", 50),
    ],
    users=[
        UserPart("owner", "Olive Owner", {"acme": "owner"}),
        UserPart(
            "member", "Max Member", {"acme": "member"}, {"shop": "maintainer", "blog": "maintainer"}
        ),
        UserPart(
            "reader",
            "Rita Reader",
            {"acme": "member"},
            {"shop": "reader", "blog": "reader", "docs": "reader"},
        ),
        UserPart("outsider", "Oscar Outsider", {"hobby": "owner"}),
        UserPart("no-organization", "Nora Nowhere"),
    ],
    projects=[
        ProjectPart("shop", "acme", 45, True, "shop.acme.example", "authorized"),
        ProjectPart(
            *("blog", "acme", 12, False, None, "pending"),
            DatabasePart("shared", "suspended", "suspended"),
        ),
        ProjectPart(
            *("docs", "acme", 21, False, None, "expired"),
            DatabasePart("separate", "init", "absent"),
        ),
        ProjectPart("labs", "acme", database=DatabasePart("separate", "absent", "absent")),
        ProjectPart(
            *("garden", "hobby", 7, True, "garden.example", "revoked"),
            DatabasePart("separate", "ready", "resizing"),
        ),
        ProjectPart("notes", "hobby", 3, database=DatabasePart("shared", "ready", "ready")),
    ],
)


def new_world(
    name: str, seed: str, origin: r.Origin, machine_ms: int, world: WorldPart | None = None
) -> World:
    """Return a fresh world that begins as `origin` says; None: the default one. Raises ClockRefused."""
    clock = clocks.start(origin.mode, origin.rate, origin.at_ms, machine_ms)
    change = Change(empty_world(name, seed), clock.world_ms)
    change.assumptions = origin.assumptions
    change.put(t.CLOCK, t.ONLY, clock)
    change.put(t.ASSUMPTIONS, t.ONLY, origin.assumptions)
    change.put(t.ORIGIN, t.ONLY, origin)
    world = (world or _DEFAULT).whole()
    populate(change, world, world)
    return change.applied()


def populate(change: Change, part: WorldPart, whole: WorldPart) -> None:
    """Write what stands last in a whole world, in which nothing may be wrong. Raises ValueError."""
    ids: _Ids = {
        (kind, one.alias): one.id or _drawn_id(change.world.seed, kind, one.alias)
        for kind, table in _KINDS.items()
        for one in getattr(whole, table)
    }
    before = len(whole.organizations) - len(part.organizations)
    for order, one in enumerate(part.organizations, before):
        organization = r.Organization(
            id=ids["organization", one.alias],
            alias=one.alias,
            name=one.name or one.alias.capitalize(),
            plan=one.plan,
            credits=one.credits,
            permissions=PERMISSIONS if one.permissions is None else tuple(one.permissions),
            order=order,
        )
        change.put(t.ORGANIZATIONS, organization.id, organization)
    for order, user in enumerate(part.users, len(whole.users) - len(part.users)):
        id_, name = ids["user", user.alias], user.name or user.alias.capitalize()
        email = user.email or _email(user.alias)
        change.put(t.USERS, id_, r.User(id_, user.alias, name, email, order))
        for alias, role in user.organizations.items():
            place_id = ids["organization", alias]
            change.put(t.MEMBERSHIPS, f"{place_id}/{id_}", r.Membership(place_id, id_, role))
        for alias, granted in user.projects.items():
            project_id = ids["project", alias]
            change.put(t.GRANTS, f"{project_id}/{id_}", r.Grant(project_id, id_, granted))
    for order, project in enumerate(part.projects, len(whole.projects) - len(part.projects)):
        _add_project(change, project, order, whole.users, ids)
    for key in part.keys:
        place = change.row(t.ORGANIZATIONS, ids["organization", _place_of(key, whole)])
        found, end = key.kept()
        put_key(
            change,
            seeded_id(change.world.seed, SEEDED_MS, "key", found),
            (place.id, ids["user", key.user], key.name),
            (found, end),
            place.permissions if key.permissions is None else tuple(key.permissions),
        )


def _drawn_id(seed: str, kind: str, alias: str) -> str:
    """Return the id of a seeded organization, user or project."""
    # "person" is the word that the ids of users are drawn with: another one would change them all.
    purpose = "person" if kind == "user" else kind
    return seeded_id(seed, SEEDED_MS, purpose, alias)


def _place_of(key: KeyPart, whole: WorldPart) -> str:
    """Return the organization of a key, if only by where its user is; "": in none."""
    roles = next((one.organizations for one in whole.users if one.alias == key.user), {})
    home = next((one.alias for one in whole.organizations if one.alias in roles), "")
    return home if key.organization is None else key.organization


def without_values(found: Any) -> Any:
    """Return a document with the values of API keys in it as what is kept of them."""
    if isinstance(found, dict):
        if isinstance(value := found.get("value"), str) and re.fullmatch(_VALUE, value):
            found = found | {"value": f"sha256:{digest(value)}:{value[-4:]}"}
        return {name: without_values(inner) for name, inner in found.items()}
    return [without_values(one) for one in found] if isinstance(found, list) else found


# --- What is wrong with a description ------------------------------------------------------------

#: Where something is wrong, and why.
Mistake = tuple[tuple[str | int, ...], str]


def mistakes_in(part: WorldPart, whole: WorldPart, now_ms: int, prefix: str) -> Iterator[Mistake]:
    """Give what is wrong with a part of a world whose API keys have a prefix."""
    known = {section: [one.alias for one in getattr(whole, section)] for section in _SECTIONS}
    for section in _SECTIONS:
        yield from _taken(section, getattr(part, section), getattr(whole, section))
    for i, organization in enumerate(part.organizations):
        for j, permission in enumerate(organization.permissions or ()):
            if permission not in PERMISSIONS:
                message = unknown("permission", permission, PERMISSIONS)
                yield ("organizations", i, "permissions", j), message
    for i, project in enumerate(part.projects):
        database = project.database
        if database.data_mode == "shared" and database.dev != database.prod:
            message = (
                "a shared database is one for both environments: give dev and prod the same state"
            )
            yield ("projects", i, "database"), message
        if project.organization not in known["organizations"]:
            message = unknown("organization", project.organization, known["organizations"])
            yield ("projects", i, "organization"), message
        chosen = project.deployments if isinstance(project.deployments, list) else []
        for j, deployment in enumerate(chosen):
            try:
                deployment.began_ms(now_ms, 0)
            except ValueError as error:
                yield ("projects", i, "deployments", j), str(error)
    for i, user in enumerate(part.users):
        for section in ("organizations", "projects"):
            for alias in getattr(user, section):
                if alias not in known[section]:
                    word = section.removesuffix("s")
                    yield ("users", i, section, alias), unknown(word, alias, known[section])
    for i, key in enumerate(part.keys):
        if key.kept() in [other.kept() for other in part.keys[:i]]:
            yield ("keys", i, "value"), "this value is already used above"
        for field, message in _wrong_with_key(key, whole, prefix):
            yield ("keys", i, field), message


def _taken(section: str, added: Sequence[Any], whole: Sequence[Any]) -> Iterator[Mistake]:
    for field in ("alias", "id", "handle", "email"):
        before = [one for one in whole if not any(one is mine for mine in added)]
        taken = {_text_of(one, field): (one, "in this world: choose another") for one in before}
        for i, one in enumerate(added):
            text = _text_of(one, field)
            other, where = taken.get(text, (one, ""))
            if text is not None and where and (field == "alias" or other.alias != one.alias):
                yield (section, i, field), f"the {field} {text!r} is already used {where}"
            taken[text] = one, "above"


def _text_of(one: Any, field: str) -> str | None:
    """Return the text of a field, also where the alias stands for it."""
    usual = {"handle": one.alias, "email": _email(one.alias)}.get(field)
    return getattr(one, field) or usual if hasattr(one, field) else None


def _wrong_with_key(key: KeyPart, whole: WorldPart, prefix: str) -> Iterator[tuple[str, str]]:
    plain = re.fullmatch(_VALUE, key.value) and key.value.startswith(prefix)
    if not plain and not re.fullmatch(_KEPT, key.value):  # which is not shown: it may be a secret
        form = f"{prefix} and {SECRET_LENGTH} of A-Z a-z 0-9 _ -"
        yield "value", f"the value of a key is {form}, or sha256: and its digest"
    roles = {one.alias: one.organizations for one in whole.users}
    if key.user not in roles:
        yield "user", unknown("user", key.user, roles)
        return
    place = _place_of(key, whole)
    if place not in roles[key.user]:
        there = ", ".join(roles[key.user]) or "none"
        yield "organization", f"{key.user} is not in {place or 'any organization'}; in {there}"
    allowed = next((one.permissions for one in whole.organizations if one.alias == place), None)
    for permission in key.permissions or ():
        if permission not in (known := PERMISSIONS if allowed is None else allowed):
            yield "permissions", unknown("permission", permission, known)


def described(world: World) -> WorldPart:
    """Return what a world holds, as far as it can be described: `new_world` makes the like of it."""
    rows = (row for table in NAMED.values() for row in world.rows(table))
    named = {key: str(record.alias) for key, record in rows}
    memberships: dict[str, dict[str, Any]] = {key: {} for key in named}
    grants: dict[str, dict[str, Any]] = {key: {} for key in named}
    for _, member in world.rows(t.MEMBERSHIPS):
        memberships[member.user_id][named[member.organization_id]] = member.role
    for _, grant in world.rows(t.GRANTS):
        grants[grant.user_id][named[grant.project_id]] = grant.role
    organizations = [
        OrganizationPart(
            *(one.alias, _unusual(one), one.plan, one.credits),
            None if one.permissions == PERMISSIONS else list(one.permissions),
            _chosen_id(world, "organization", one),
        )
        for one in in_order(world, t.ORGANIZATIONS)
    ]
    users = [
        UserPart(
            *(one.alias, _unusual(one), memberships[one.id], grants[one.id]),
            _chosen_id(world, "user", one),
            None if one.email == _email(one.alias) else one.email,
        )
        for one in in_order(world, t.USERS)
    ]
    projects = [
        _described_project(world, one, named[one.organization_id])
        for one in in_order(world, t.PROJECTS)
    ]
    return WorldPart(organizations, users, projects)


def _unusual(record: r.Organization | r.User) -> str | None:
    return None if record.name == record.alias.capitalize() else record.name


def _chosen_id(world: World, kind: str, one: r.Organization | r.User | r.Project) -> str | None:
    return None if one.id == _drawn_id(world.seed, kind, one.alias) else one.id


def _email(alias: str) -> str:
    return f"{alias}@people.example"


def _described_project(world: World, project: r.Project, organization: str) -> ProjectPart:
    dev, prod = (
        world.get(t.DATABASES, f"{project.id}/{name}") or r.Database("separate")
        for name in ("dev", "prod")
    )
    states: Any = [one.placement.state if one.placement else "absent" for one in (dev, prod)]
    mode: Any = dev.data_mode
    count = deployment_count(world.indexes, project.id)
    status: Any = (world.get(t.DNS, project.id) or r.Dns()).status
    generation = project.source_generation
    return ProjectPart(
        *(project.alias, organization, count, project.flag_enabled, project.custom_domain, status),
        DatabasePart(mode, *states),
        None if generation == min(1, count) else generation,
        _chosen_id(world, "project", project),
        None if project.handle == project.alias else project.handle,
    )


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
    change = Change(world, world.at_ms)
    if mode is not None:
        clock = clocks.start(mode, rate, world.clock.world_ms, machine_ms)
        change.put(t.CLOCK, t.ONLY, clock)
    if assumptions:
        change.put(t.ASSUMPTIONS, t.ONLY, world.assumptions.changed(assumptions))
    if not change.writes:
        return world
    return apply(world, change.writes, commit=world.commit, at_ms=world.at_ms)


def _add_project(
    change: Change, part: ProjectPart, order: int, users: list[UserPart], ids: _Ids
) -> None:
    seed, generation = change.world.seed, part.source_generation
    deployments = _deployments(change.now_ms, part)
    owners = (
        ids["user", user.alias]
        for user in users
        if user.organizations.get(part.organization) == "owner"
        or user.projects.get(part.alias) == "owner"
    )
    project = r.Project(
        id=ids["project", part.alias],
        alias=part.alias,
        organization_id=ids["organization", part.organization],
        handle=part.handle or part.alias,
        dev_label=_dev_label(derive(seed, "words", part.alias, size=3)),
        dev_environment_id=seeded_id(seed, SEEDED_MS, "environment", part.alias),
        flag_enabled=part.flag,
        flag_enabled_at=format_timestamp(change.now_ms - 20 * DAY_MS) if part.flag else None,
        flag_enabled_by=next(owners, None) if part.flag else None,
        custom_domain=part.domain,
        source_generation=min(1, len(deployments)) if generation is None else generation,
        order=order,
    )
    change.put(t.PROJECTS, project.id, project)
    _add_dns(change, project, part.dns)
    mode = part.database.data_mode
    dev = _placement(part.database.dev, big=mode == "shared")
    change.put(t.DATABASES, f"{project.id}/dev", r.Database(mode, dev))
    prod = _placement(part.database.prod, big=True)
    change.put(t.DATABASES, f"{project.id}/prod", r.Database(mode, prod))
    for number, (began_ms, deployment) in enumerate(deployments):
        label, at_ms = f"{project.alias}/{number}", SEEDED_MS + number
        digests = derive(seed, "digests", label, size=64)
        commit = digests[:20] if deployment.commit is None else bytes.fromhex(deployment.commit)
        put_past_deployment(
            change,
            project,
            deployment.status,
            commit + digests[20:],
            (
                seeded_id(seed, at_ms, "deployment", label),
                seeded_id(seed, at_ms, "operation", label),
            ),
            (format_timestamp(began_ms), format_timestamp(began_ms + 10_000)),
        )


def _placement(state: str, *, big: bool) -> r.Placement | None:
    if state == "absent":
        return None
    return r.Placement(
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


def _add_dns(change: Change, project: r.Project, status: str) -> None:
    if status == "not_authorized":
        change.put(t.DNS, project.id, r.Dns())
        return
    days = {"authorized": 30, "pending": 1, "expired": -3, "revoked": 12}[status]
    expires_ms = change.now_ms + days * DAY_MS
    dns = r.Dns(status, f"{project.alias}.example", ("dns.write", "zone.read"), expires_ms)
    change.put(t.DNS, project.id, dns)
    if DNS_AUTHORIZATION.may(status, "expired"):
        schedule_event(change, expires_ms, "dns_expiry", project.id)


def _deployments(start_ms: int, part: ProjectPart) -> list[tuple[int, DeploymentPart]]:
    """Return a project's deployments and when each began, the oldest first. Raises ValueError."""
    found = part.deployments
    if isinstance(found, int):
        found = [
            DeploymentPart("cancelled" if n % 11 == 4 else "failed" if n % 7 == 5 else "ready")
            for n in range(found)
        ]
    total = len(found)
    usual = (start_ms - (total - n) * DAY_MS // 2 - n * 7 * MINUTE_MS for n in range(total))
    dated = [(one.began_ms(start_ms, at), one) for one, at in zip(found, usual, strict=True)]
    return sorted(dated, key=lambda pair: pair[0])


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
    lists = (_COLOURS, _ANIMALS, _PLACES)
    words = [words[byte % len(words)] for words, byte in zip(lists, randomness, strict=True)]
    return "-".join(("dev", *words))
