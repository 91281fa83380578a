"""Control of worlds: list, create, show, reset, fork, delete, export, import, assumptions."""

from __future__ import annotations

from typing import Any

import msgspec
from aiohttp import web

from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions, describe
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.live_world import anchored
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import (
    STATE_LIMIT,
    Chosen,
    Context,
    ControlRefused,
    parse,
    parse_as,
)
from hosting_emulator.server.control.history import find_moment
from hosting_emulator.server.control.variation import asked_or_usual
from hosting_emulator.server.control.views import world_summary
from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.storage.documents import export_state, import_state
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.variation.worlds import varied_world
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.population import with_overrides
from hosting_emulator.world.records import Origin
from hosting_emulator.world.tables import ASSUMPTIONS, ONLY
from hosting_emulator.world.value import Change, World


class NewClock(msgspec.Struct, forbid_unknown_fields=True):
    """The clock of a new world."""

    mode: str = "real"
    rate: float | None = None
    at: str | None = None


class NewWorld(msgspec.Struct, forbid_unknown_fields=True):
    """Body of `POST /worlds`."""

    name: str | None = None
    seed: str | None = None
    clock: NewClock | None = None
    assumptions: dict[str, Any] = {}
    ephemeral: bool | None = None
    scenario: Chosen | None = None
    state: dict[str, Any] | None = None
    vary: str | msgspec.UnsetType | None = msgspec.UNSET
    only: list[str] | None = None


class NewFork(msgspec.Struct, forbid_unknown_fields=True):
    """Body of `POST /worlds/{world}/fork`. `commit` is the one to fork at, the last unless given."""

    name: str | None = None
    ephemeral: bool | None = None
    commit: int | None = None


async def list_worlds(context: Context) -> web.Response:
    """GET /worlds."""
    return answers.json({"items": [world_summary(context, engine) for engine in context.worlds]})


async def create_world(context: Context) -> web.Response:
    """POST /worlds: a default world, or one of a scenario, or of an exported state.

    One without a name is a throw-away one: it lives in memory. With `vary` its answers vary.
    """
    asked = parse_as(await context.bytes(STATE_LIMIT), NewWorld)
    variation = asked_or_usual(context, asked.vary, asked.only)
    name = _free_name(context, asked.name)
    ephemeral = asked.name is None if asked.ephemeral is None else asked.ephemeral
    seed = context.facts.seed if asked.seed is None else asked.seed
    try:
        if asked.state is not None:
            world = _of_state(asked, name)
        elif asked.scenario is not None:
            # Imported here: a start is not to wait for scenarios.
            from hosting_emulator.server.control.scenarios import fresh_world

            world = fresh_world(context, asked.scenario, name, seed)
        else:
            origin = read_origin(asked.clock or NewClock(), asked.assumptions)
            world = context.worlds.default(name, seed, origin)
        if asked.scenario is not None:
            world = _with_overrides(world, asked)
    except ClockRefused as error:
        raise ControlRefused(400, "Bad clock", str(error)) from None
    world = varied_world(world, variation, asked.assumptions)
    engine = context.worlds.add(world, ephemeral=ephemeral)
    return answers.json(world_summary(context, engine), 201)


def _of_state(asked: NewWorld, name: str) -> World:
    if asked.scenario or asked.clock or asked.assumptions or asked.seed is not None:
        raise ControlRefused(
            400, "Bad request", "a state brings its own seed, clock and assumptions: give it alone"
        )
    try:
        world = import_state(asked.state, name, 0)
    except StateRefused as error:
        raise ControlRefused(400, "State refused", str(error)) from None
    return anchored(world, world.at_ms, machine_ms())  # a scaled clock stood still meanwhile


def _with_overrides(world: World, asked: NewWorld) -> World:
    """Lay what was asked for beside a scenario over its world."""
    clock = asked.clock
    if clock is not None and clock.at is not None:
        raise ControlRefused(
            400, "Bad clock", "a scenario says itself where its time starts: leave out clock.at"
        )
    mode, rate = (None, None) if clock is None else (clock.mode, clock.rate)
    try:
        return with_overrides(
            world, machine_ms(), mode=mode, rate=rate, assumptions=asked.assumptions
        )
    except AssumptionRefused as error:
        raise ControlRefused(400, "Assumption refused", str(error)) from None


def _changed(assumptions: Assumptions, values: dict[str, Any]) -> Assumptions:
    try:
        return assumptions.changed(values)
    except AssumptionRefused as error:
        raise ControlRefused(400, "Assumption refused", str(error)) from None


def read_origin(clock: NewClock, assumptions: dict[str, Any]) -> Origin:
    """Return how a world is to begin. Raises ControlRefused."""
    try:
        at_ms = None if clock.at is None else parse_timestamp(clock.at)
        return Origin(
            clock.mode,  # type: ignore[arg-type] # checked when the clock is made
            clock.rate,
            at_ms,
            Assumptions().changed(assumptions),
            chosen=tuple(assumptions),
        )
    except ValueError as error:
        raise ControlRefused(400, "Bad request", str(error)) from None


def _free_name(context: Context, name: str | None) -> str:
    if name is None:
        return context.worlds.new_name()
    if not WORLD_NAME.fullmatch(name):
        raise ControlRefused(
            400,
            "Bad name",
            f"{name[:80]!r} is no name of a world: use 1 to 63 of a-z, 0-9 and -, not - first",
        )
    if context.worlds.get(name) is not None:
        raise ControlRefused(409, "World exists", f"there is a world named {name!r} already")
    return name


async def show_world(context: Context, world: str) -> web.Response:
    """GET /worlds/{world}."""
    return answers.json(world_summary(context, context.engine(world)))


async def delete_world(context: Context, world: str) -> web.Response:
    """DELETE /worlds/{world}. The default world can only be reset."""
    context.engine(world)
    if world == DEFAULT_WORLD:
        raise ControlRefused(
            409, "Not deleted", "the default world is always there; reset it instead"
        )
    context.worlds.delete(world)
    return web.Response(status=204)


async def reset_world(context: Context, world: str) -> web.Response:
    """POST /worlds/{world}/reset."""
    engine = context.engine(world)
    context.worlds.reset(engine)
    return answers.json(world_summary(context, engine))


async def fork_world(context: Context, world: str) -> web.Response:
    """POST /worlds/{world}/fork."""
    asked = await context.read(NewFork)
    name = _free_name(context, asked.name)
    ephemeral = asked.name is None if asked.ephemeral is None else asked.ephemeral
    source = context.engine(world)
    of = None if asked.commit is None else find_moment(source, asked.commit).world
    engine = context.worlds.fork(source, name, ephemeral=ephemeral, of=of)
    return answers.json(world_summary(context, engine), 201)


async def get_state(context: Context, world: str) -> web.Response:
    """GET /worlds/{world}/state."""
    engine = context.engine(world)
    engine.run_due()
    text = msgspec.json.format(msgspec.json.encode(export_state(engine.world)), indent=1)
    return answers.raw(200, text + b"\n", "application/json", Cache_Control="no-store")


async def put_state(context: Context, world: str) -> web.Response:
    """PUT /worlds/{world}/state. The old state stays until the new one is read and kept."""
    document = parse(await context.bytes(STATE_LIMIT))
    engine = context.worlds.get(world)
    try:
        imported = import_state(document, world, engine.world.commit if engine else 0)
    except StateRefused as error:
        raise ControlRefused(400, "State refused", str(error)) from None
    if engine is None:
        _free_name(context, world)
        engine = context.worlds.add(imported, ephemeral=context.facts.data_dir is None)
    else:
        engine.replace_world(imported, "state imported")
    return answers.json(world_summary(context, engine))


async def get_assumptions(context: Context, world: str) -> web.Response:
    """GET /worlds/{world}/assumptions."""
    return answers.json({"items": describe(context.engine(world).world.assumptions)})


async def patch_assumptions(context: Context, world: str) -> web.Response:
    """PATCH /worlds/{world}/assumptions."""
    engine = context.engine(world)
    values = await context.read(dict[str, Any])
    changed = _changed(engine.world.assumptions, values)
    _set_assumptions(engine, changed)
    return answers.json({"items": describe(changed)})


def _set_assumptions(engine: Engine, changed: Assumptions) -> None:
    now_ms = engine.run_due()
    change = Change(engine.world, now_ms)
    change.put(ASSUMPTIONS, ONLY, changed)
    engine.commit(change, "assumptions")
