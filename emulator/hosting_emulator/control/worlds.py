"""Control of worlds: list, create, show, reset, fork, delete, export, import, assumptions; what they hold.

No secret is shown: a key's value, and a ticket's, are not kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from operator import attrgetter, itemgetter
from typing import Annotated, Any
from weakref import WeakValueDictionary

import msgspec
from aiohttp import web
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from hosting_emulator import messages
from hosting_emulator.contract.assumption_table import describe, warnings_of
from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.shell import command_line
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.control.chosen_scenario import Chosen
from hosting_emulator.control.clock import find_state, get_clock
from hosting_emulator.control.faults import Point, variation_or_usual
from hosting_emulator.control.tokens import NewToken, token_claims
from hosting_emulator.engine.access_tokens import issuer_path
from hosting_emulator.engine.engine import Engine, anchored
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.observers import EndReason
from hosting_emulator.engine.protection import without_protected
from hosting_emulator.engine.world_variation import variation_view
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.usage import entry_usage
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import (
    Body,
    Context,
    ControlRefusal,
    Example,
    Mode,
    Timestamp,
    WorldName,
    find_observation,
    refused_as,
)
from hosting_emulator.http.guard import world_prefix
from hosting_emulator.http.query import SEED, Limit, Query
from hosting_emulator.http.time_slices import in_thread, sort_in_slices
from hosting_emulator.identity.tokens import TokenClaims, mint_token
from hosting_emulator.messages import JsonObject
from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.storage.export import STATE_KIND, export_state, import_state
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.variation.worlds import varied_world
from hosting_emulator.world import tables as t
from hosting_emulator.world import views
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.indexes import deployment_count, latest_deployments
from hosting_emulator.world.naming import DEFAULT_WORLD, alias_of, in_order
from hosting_emulator.world.plans import HELD
from hosting_emulator.world.population import with_overrides
from hosting_emulator.world.records import Database, Dns, Project, Ticket, WorldSource
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator.worlds")
_SHORTEST_TTL_MS = 100
#: How many of a project's tickets are shown, and of its deployments unless asked: the newest.
_SHOWN = 10
#: An exported state.
_OF_KIND = {"properties": {"kind": {"const": STATE_KIND}}, "required": ["kind"]}
StateDocument = Annotated[JsonObject, Meta(extra_json_schema=_OF_KIND)]


class NewClock(Body):
    """The clock of a new world; `rate` is world seconds per real second, `at` a timestamp."""

    mode: Mode = "real"
    rate: float | None = None
    at: Timestamp | None = None


class NewWorld(Body):
    """A world to create. One without a name is temporary. `vary` is a seed, or null for none.

    With `token`, even `{}`, the response has an access token. With `ttl`, such as `6h`, the world
    is deleted after this long without a request, in real time, or a little later. `observation`
    is the id of an observation that watches the world from its first request on.
    """

    name: WorldName | None = None
    seed: str | None = None
    clock: NewClock | None = None
    assumptions: JsonObject = msgspec.field(default_factory=dict)
    ephemeral: bool | None = None
    scenario: Chosen | None = None
    state: JsonObject | None = None
    vary: str | UnsetType | None = UNSET
    only: list[Point] | None = None
    token: NewToken | None = None
    ttl: str | None = None
    observation: str | None = None


class NewFork(Body):
    """A copy of a world; `commit` is the one to copy it at (default: the last).

    With `token`, even `{}`, the response has an access token.
    """

    name: WorldName | None = None
    ephemeral: bool | None = None
    commit: int | None = None
    token: NewToken | None = None


# --- making and ending them ----------------------------------------------------------------------


def list_worlds(context: Context) -> list[messages.WorldSummary]:
    """List the worlds."""
    return [world_summary(context, engine) for engine in context.worlds]


def show_world(engine: Engine) -> Engine:
    """Show a world's summary."""
    return engine


async def create_world(
    context: Context, body: Annotated[NewWorld, Example({"clock": {"mode": "frozen"}, "token": {}})]
) -> messages.WorldSummary:
    """Create a world: a default one, or from a scenario or an exported state.

    One without a name is temporary: it is kept in memory only. With `vary` its responses vary. With
    `token` the response has all that a client needs: base URL, ids, clock and an access token.
    """
    variation = variation_or_usual(context, body.vary, body.only)
    with refused_as(400, "Bad ttl", ValueError):
        ttl_ms = None if body.ttl is None else max(_SHORTEST_TTL_MS, parse_duration_ms(body.ttl))
    name = free_name(context, body.name)
    observation = None if body.observation is None else find_observation(context, body.observation)
    with refused_as(400, "Bad clock", ClockRefused):
        world = varied_world(await _made(context, body, name), variation, body.assumptions)
    claims = None if body.token is None else token_claims(world, body.token)
    begins = body.state is None
    engine = context.worlds.add(world, ephemeral=_is_ephemeral(body), begins=begins)
    if observation is not None:
        observation.watch(engine)
    return _begun(context, engine, ttl_ms, claims)


async def _made(context: Context, body: NewWorld, name: str) -> World:
    """Return the world that is asked for. Raises ControlRefusal, ClockRefused."""
    seed = context.facts.seed if body.seed is None else body.seed
    if body.state is not None:
        if body.scenario or body.clock or body.assumptions:
            message = "a state has its own clock and assumptions: leave them out"
            raise ControlRefusal(400, "Bad request", message)
        world = await _imported(body.state, name, body.seed)
        free_name(context, name)  # others were answered meanwhile
        return world
    clock = body.clock or NewClock()
    if body.scenario is None:
        with refused_as(400, "Bad request", ValueError):
            at_ms = None if clock.at is None else parse_timestamp(clock.at)
            changed = Assumptions().changed(body.assumptions)
        mode: Any = clock.mode  # checked when the clock is made
        origin = WorldSource(mode, clock.rate, at_ms, changed, chosen=tuple(body.assumptions))
        return context.worlds.default(name, seed, origin)
    # Imported here: a start is not to wait for scenarios.
    from hosting_emulator.control.scenario_worlds import fresh_world

    world = fresh_world(context, body.scenario, name, seed)
    if clock.at is not None:
        message = "a scenario sets its own start time: leave out clock.at"
        raise ControlRefusal(400, "Bad clock", message)
    mode, rate = (clock.mode, clock.rate) if body.clock else (None, None)
    given = {"mode": mode, "rate": rate, "assumptions": body.assumptions}
    with refused_as(400, "Assumption refused", AssumptionRefused):
        return with_overrides(world, machine_ms(), **given)


def _begun(
    context: Context, engine: Engine, ttl_ms: int | None, claims: TokenClaims | None
) -> messages.WorldSummary:
    engine.ttl_ms = ttl_ms
    _watch_idle(context.worlds, engine)
    summary = world_summary(context, engine)
    if claims is None:
        return summary
    token = mint_token(engine, context.base_url, claims)
    return messages.NewWorldSummary(**asdict(summary), token=token)


def _watch_idle(worlds: Worlds, engine: Engine, before: tuple[int, int] | None = None) -> None:
    """Delete a world that has a time to live if nobody has asked since `before`, or listens."""
    if engine.ttl_ms is None or worlds.get(engine.world.name) is not engine:
        return
    asked = None if engine.feed.listeners else (engine.control_requests, engine.log.count)
    if asked is None or asked != before:
        later = asyncio.get_running_loop().call_later
        engine.cancel_expiry = later(
            engine.ttl_ms / 1000, _watch_idle, worlds, engine, asked
        ).cancel
        return
    try:
        worlds.delete(engine.world.name)
        engine.cancel_expiry()
    except StoreFailed as failed:
        _log.error("%s", failed)


def _is_ephemeral(body: NewWorld | NewFork) -> bool:
    return body.name is None if body.ephemeral is None else body.ephemeral


def free_name(context: Context, name: str | None) -> str:
    """Return a name that a world can be made under. Raises ControlRefusal."""
    if name is None:
        return context.worlds.new_name()
    if not WORLD_NAME.fullmatch(name):
        raise ControlRefusal(
            400,
            "Bad name",
            f"{name[:80]!r} is not a valid world name: use 1 to 63 of a-z, 0-9 and -, not starting with -",
        )
    if context.worlds.get(name) is not None:
        raise ControlRefusal(409, "World exists", f"a world named {name!r} already exists")
    return name


def fork_world(
    context: Context,
    engine: Engine,
    body: Annotated[NewFork, Example({"token": {"user": "member"}})],
) -> messages.WorldSummary:
    """Copy a world into a new, independent one."""
    name = free_name(context, body.name)
    of = None if body.commit is None else find_state(engine, body.commit)
    claims = None if body.token is None else token_claims(of or engine.world, body.token)
    fork = context.worlds.fork(engine, name, ephemeral=_is_ephemeral(body), state=of)
    return _begun(context, fork, engine.ttl_ms, claims)


def delete_world(context: Context, engine: Engine, world: str) -> None:
    """Delete a world and its state. The default world can only be reset (409)."""
    if world == DEFAULT_WORLD:
        message = "the default world cannot be deleted; reset it instead"
        raise ControlRefusal(409, "Not deleted", message)
    context.worlds.delete(world)
    engine.cancel_expiry()


def reset_world(context: Context, engine: Engine) -> Engine:
    """Reset a world to how it started."""
    context.worlds.reset(engine)
    return engine


# --- state and assumptions -----------------------------------------------------------------------


async def get_state(engine: Engine, seed: Annotated[bool, SEED] = False) -> web.Response:
    """Export the whole state of a world.

    Without `seed`, a world imported from it draws a new seed: new ids and secrets differ.
    """
    engine.run_due()
    return await exported(engine.world, seed=seed)


async def exported(world: World, *, seed: bool) -> web.Response:
    """Return a world's whole state as a response."""
    key = (id(world), seed)
    export = _exports.get(key)
    if export is None:  # elsewhere: others are answered meanwhile
        export = asyncio.create_task(in_thread(_export, world, seed))
        _exports[key] = export
    _, text = await asyncio.shield(export)
    return responses.raw(200, text, "application/json", source=export, Cache_Control="no-store")


#: States that are written or sent now, for all who want them: by the id of their world, which each
#: holds on to, and whether they tell its seed.
_exports: WeakValueDictionary[tuple[int, bool], asyncio.Task[tuple[World, bytes]]] = (
    WeakValueDictionary()
)


def _export(world: World, with_seed: bool) -> tuple[World, bytes]:
    state = export_state(without_protected(world), with_seed=with_seed)
    return world, msgspec.json.format(msgspec.json.encode(state), indent=1) + b"\n"


async def put_state(
    context: Context,
    world: str,
    body: StateDocument,
    replace: Annotated[
        bool, Query("Also replace a kept world that has changed since it began.")
    ] = True,
) -> Engine:
    """Replace a world's state by an exported one, or create a world from it.

    The old state stays until the new one is read and saved. 409 if the world is kept and has changed
    since it began, and `replace` is false.
    """
    imported = await _imported(body, world)
    if not replace:
        check_replaceable(context, world)
    return put_world(context, imported, "state imported")


async def _imported(state: JsonObject, name: str, seed: str | None = None) -> World:
    """Return the world of an exported state. Raises ControlRefusal."""
    with refused_as(400, "State refused", StateRefused):
        world = await in_thread(import_state, state, name, 0, seed)
    return anchored(world, world.at_ms, machine_ms())  # a scaled clock stood still meanwhile


def put_world(context: Context, world: World, title: str, reason: EndReason = "replaced") -> Engine:
    """Put a world in the place of the one of its name, or beside all others. Raises ControlRefusal."""
    if context.worlds.get(world.name) is None:
        free_name(context, world.name)
        ephemeral = context.facts.data_dir is None
        return context.worlds.add(world, ephemeral=ephemeral, begins=reason == "loaded")
    engine = context.engine(world.name)
    engine.replace_world(world, title, reason=reason)
    return engine


def check_replaceable(context: Context, name: str) -> None:
    """Refuse to replace a kept world that has changed since it began. Raises ControlRefusal (409)."""
    engine = context.worlds.get(name)
    if engine is None or not engine.keeper.is_on_disk:
        return
    engine.run_due()
    if not engine.has_changed:
        return
    export, import_, rewind = (
        command_line(words, context.base_url, name)
        for words in (
            "world export --with-seed --output old.json",
            "world import old.json --replace",
            f"world rewind {engine.world.commit}",
        )
    )
    raise ControlRefusal(
        409,
        "World has changed",
        f'world {name} is kept and has changed since it began. Use --replace, or "replace": true '
        f"in the request, to replace it. To be able to get it back, run `{export}` first: "
        f"`{import_}` restores it. While this emulator runs, `{rewind}` restores it as well.",
    )


def list_assumptions(engine: Engine) -> list[JsonObject]:
    """List a world's assumptions where the contract is silent."""
    return describe(engine.world.assumptions)


def patch_assumptions(
    engine: Engine, body: Annotated[JsonObject, Example({"default_page_size": 5})]
) -> list[JsonObject]:
    """Change some assumptions by name, and list them all."""
    with refused_as(400, "Assumption refused", AssumptionRefused):
        changed = engine.world.assumptions.changed(body)
    change = engine.begin_change()
    change.put(t.ASSUMPTIONS, t.SINGLETON_KEY, changed)
    engine.commit(change, "assumptions", {"assume": body})
    return describe(changed)


# --- how they are shown --------------------------------------------------------------------------


def world_summary(context: Context, engine: Engine) -> messages.WorldSummary:
    """Return what is worth knowing of a world at a glance."""
    engine.run_due()
    world, base_url = engine.world, context.base_url
    names = ("projects", "operations", "deployments", "tickets", "api_keys")
    tables: tuple[t.Table[Any], ...] = (
        t.PROJECTS,
        t.OPERATIONS,
        t.DEPLOYMENTS,
        t.TICKETS,
        t.API_KEYS,
    )
    return messages.WorldSummary(
        name=world.name,
        seed=world.seed,
        ephemeral=context.facts.data_dir is None or engine.ephemeral,
        base_url=base_url + world_prefix(world.name),
        control_url=f"{base_url}/_emulator/worlds/{world.name}",
        issuer=base_url + issuer_path(world.name),
        commit=world.commit,
        clock=get_clock(engine),
        assumptions=world.assumptions.changes(),
        warnings=warnings_of(world.assumptions),
        variation=variation_view(engine),
        counts={name: world.count(table) for name, table in zip(names, tables, strict=True)},
        armed=[
            entry_usage(engine.usage.of(entry.id), world, entry, world.at_ms)
            for table in (t.FAULTS, t.OUTCOMES)
            for entry in faults_in_order(world, table)
        ],
        organizations=[
            messages.WorldOrganization(alias=row.alias, id=row.id, name=row.name, plan=row.plan)
            for row in in_order(world, t.ORGANIZATIONS)
        ],
        users=[
            messages.WorldUser(alias=row.alias, id=row.id, email=row.email, name=row.name)
            for row in in_order(world, t.USERS)
        ],
        projects=[
            messages.WorldProject(
                alias=row.alias,
                id=row.id,
                handle=row.handle,
                organization_id=row.organization_id,
                source_generation=row.source_generation,
            )
            for row in in_order(world, t.PROJECTS)
        ],
    )


# --- what they hold ------------------------------------------------------------------------------


async def list_projects(
    engine: Engine,
    deployments: Annotated[
        Limit, Query("How many of each project's newest deployments to return.")
    ] = _SHOWN,
) -> Iterator[messages.ProjectState]:
    """List the projects by alias, each with everything that belongs to it.

    Only the newest deployments and tickets are included; `counts` says how many deployments
    there are, `claim_held` whether the claim is held by the intervention hold_claim.
    """
    now_ms = engine.run_due()
    world = engine.world
    projects = in_order(world, t.PROJECTS)
    tickets: dict[str, list[Ticket]] = {project.id: [] for project in projects}
    for _, ticket in await sort_in_slices(world.rows(t.TICKETS), itemgetter(0), reverse=True):
        tickets[ticket.project_id].append(ticket)
    return (_project(world, p, tickets[p.id], now_ms, deployments) for p in projects)


async def list_keys(engine: Engine) -> Iterator[messages.KeyState]:
    """List the user API keys, newest first, without their values."""
    now_ms = engine.run_due()
    world = engine.world
    rows = await sort_in_slices(world.rows(t.API_KEYS), itemgetter(0), reverse=True)
    return (
        messages.KeyState(
            id=key.id,
            name=key.name,
            user=alias_of(world, t.USERS, key.user_id),
            organization=alias_of(world, t.ORGANIZATIONS, key.organization_id),
            obfuscated_value=key.obfuscated_value,
            permissions=list(key.permissions),
            created_at=key.created_at,
            expires_at=format_timestamp(key.expires_ms),
            last_used_at=key.last_used_at,
            revoked=key.revoked,
            expired=key.expires_ms <= now_ms,
        )
        for _, key in rows
    )


def _project(
    world: World, project: Project, tickets: list[Ticket], now_ms: int, most: int
) -> messages.ProjectState:
    organization = world.get(t.ORGANIZATIONS, project.organization_id)
    holder = world.get(t.OPERATIONS, project.claim) if project.claim else None
    databases = {}
    for name in ("dev", "prod"):
        record = world.get(t.DATABASES, f"{project.id}/{name}") or Database("separate")
        shown = views.database_compute(project, name, record, now_ms, world.assumptions)
        databases[name] = messages.DatabaseState(
            data_mode=record.data_mode,
            provider_failing=record.provider_failing,
            compute=shown["database"],
        )
    return messages.ProjectState(
        alias=project.alias,
        id=project.id,
        handle=project.handle,
        organization=organization.alias if organization else project.organization_id,
        plan=organization.plan if organization else None,
        credits=organization.credits if organization else None,
        flag=messages.FlagState(enabled=project.flag_enabled, enabled_at=project.flag_enabled_at),
        custom_domain=project.custom_domain,
        source_generation=project.source_generation,
        claim=project.claim,
        claim_held=holder is not None and holder.kind == HELD,
        dns=views.dns_authorization(world.get(t.DNS, project.id) or Dns(), world.assumptions),
        databases=databases,
        counts={"deployments": deployment_count(world.indexes, project.id)},
        deployments=msgspec.to_builtins(latest_deployments(world.indexes, project.id, most)),
        users=_users(world, project),
        tickets=[
            _ticket(world, ticket, is_expired=ticket.expires_ms <= now_ms)
            for ticket in tickets[:_SHOWN]
        ],
    )


def _ticket(world: World, ticket: Ticket, *, is_expired: bool) -> messages.TicketState:
    state: str = ticket.state
    if state == "unused" and is_expired:
        state = "expired"
    return messages.TicketState(
        id=ticket.id,
        user=alias_of(world, t.USERS, ticket.principal),
        state=state,
        expires_at=format_timestamp(ticket.expires_ms),
    )


def _users(world: World, project: Project) -> list[messages.ProjectMember]:
    """Return the users who have a role in a project; an organization's owner owns its projects."""
    rows: list[messages.ProjectMember] = []
    for _, member in world.rows(t.MEMBERSHIPS):
        if member.organization_id == project.organization_id:
            alias = alias_of(world, t.USERS, member.user_id)
            grant = world.get(t.GRANTS, f"{project.id}/{member.user_id}")
            if member.role == "owner":
                rows.append(
                    messages.ProjectMember(user=alias, role="owner", through="organization")
                )
            elif grant is not None:
                rows.append(messages.ProjectMember(user=alias, role=grant.role, through="project"))
    return sorted(rows, key=attrgetter("user"))
