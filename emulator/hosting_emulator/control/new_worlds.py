"""The endpoint that creates a world with default content, from a scenario or from an exported state."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.control.chosen_scenario import Chosen
from hosting_emulator.control.handshake_faults import check_handshake_faults
from hosting_emulator.control.replacement_notices import clock_notices
from hosting_emulator.control.tokens import NewToken, token_claims
from hosting_emulator.control.variation import Point, read_variation_of_new_world
from hosting_emulator.control.world_replacement import check_new_name, new_world_name
from hosting_emulator.control.world_starts import is_ephemeral, start_world
from hosting_emulator.control.world_states import import_world
from hosting_emulator.engine.machine_clock import machine_ms
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
from hosting_emulator.messages import JsonObject, WorldSummary
from hosting_emulator.variation.worlds import varied_world
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.population import with_overrides
from hosting_emulator.world.records import WorldSource
from hosting_emulator.world.value import World

#: A world's minimum time to live, in real milliseconds.
_SHORTEST_TTL_MS = 100


class NewClock(Body):
    """A new world's clock.

    `rate` is the number of world seconds per real second. `at` is the time at which the world
    starts.
    """

    mode: Mode = "real"
    rate: float | None = None
    at: Timestamp | None = None


class NewWorld(Body):
    """The world to create. By default, a world without a name is temporary.

    `vary` is the seed of a variation, or null for no variation. If `token` is present, even as
    `{}`, the response contains an access token. `ttl` is a real time such as `6h`: the world is
    deleted after it has received no requests for at least this long. A restart of the emulator
    removes this limit. `observation` is the id of an observation that will watch the world from its
    first request.
    """

    name: WorldName | None = None
    seed: str | None = None
    clock: NewClock | None = None
    assumptions: JsonObject = msgspec.field(default_factory=dict)
    ephemeral: bool | None = None
    scenario: Chosen | None = None
    state: JsonObject | None = None
    vary: str | UnsetType | None = UNSET
    vary_only: list[Point] | None = None
    token: NewToken | None = None
    ttl: str | None = None
    observation: str | None = None


async def create_world(
    context: Context, body: Annotated[NewWorld, Example({"clock": {"mode": "frozen"}, "token": {}})]
) -> WorldSummary:
    """Create a world: a default world, or a world from a scenario or an exported state.

    By default, a world without a name is temporary: it exists only in memory. With `vary`, the
    world's responses vary. With `token`, the response contains everything that a client needs: the
    base URL, ids, the clock and an access token.
    """
    variation = read_variation_of_new_world(context, body.vary, body.vary_only)
    ttl_ms = _read_ttl_ms(body.ttl)
    name = new_world_name(context, body.name)
    observation = None
    if body.observation is not None:
        observation = find_observation(context, body.observation)
    with refused_as(400, "Bad clock", ClockRefused):
        built = await _build_world(context, body, name)
        check_handshake_faults(context, built)
        world = varied_world(built, variation, body.assumptions)
    claims = None
    if body.token is not None:
        claims = token_claims(world, body.token)
    engine = context.worlds.add(
        world, ephemeral=is_ephemeral(body.name, body.ephemeral), begins=body.state is None
    )
    if observation is not None:
        observation.watch(engine)
    notices: list[str] = []
    if body.scenario is not None:
        notices = clock_notices(context, engine)
    return start_world(context, engine, ttl_ms, claims, notices)


def _read_ttl_ms(duration: str | None) -> int | None:
    """Parse a time to live, and return it in real milliseconds, or None if `duration` is None.

    Raises ControlRefusal 400 if `duration` is invalid.
    """
    if duration is None:
        return None
    with refused_as(400, "Bad ttl", ValueError):
        return max(_SHORTEST_TTL_MS, parse_duration_ms(duration))


async def _build_world(context: Context, body: NewWorld, name: str) -> World:
    """Build the world that a request describes. Raises ControlRefusal, or ClockRefused for the clock."""
    if body.state is not None:
        return await _imported_world(context, body, body.state, name)
    seed = body.seed
    if seed is None:
        seed = context.facts.seed
    if body.scenario is not None:
        return _scenario_world(context, body, body.scenario, name, seed)
    return _default_world(context, body, name, seed)


async def _imported_world(context: Context, body: NewWorld, state: JsonObject, name: str) -> World:
    if body.scenario or body.clock or body.assumptions:
        message = (
            "an exported state contains a clock and assumptions: leave out scenario, clock and "
            "assumptions"
        )
        raise ControlRefusal(400, "Bad request", message)
    world = await import_world(state, name, body.seed)
    # Check the name again, because another request may have taken it during the import.
    check_new_name(context, name)
    return world


def _scenario_world(
    context: Context, body: NewWorld, scenario: Chosen, name: str, seed: str
) -> World:
    # Imported here because the import takes 50 ms, which would delay the first world in a test
    # session.
    from hosting_emulator.control.scenario_worlds import fresh_world

    world = fresh_world(context, scenario, name, seed)
    mode = None
    rate = None
    if body.clock is not None:
        mode = body.clock.mode
        rate = body.clock.rate
        if body.clock.at is not None:
            message = "the scenario sets the start time: leave out clock.at"
            raise ControlRefusal(400, "Bad clock", message)
    with refused_as(400, "Assumption refused", AssumptionRefused):
        return with_overrides(
            world, machine_ms(), mode=mode, rate=rate, assumptions=body.assumptions
        )


def _default_world(context: Context, body: NewWorld, name: str, seed: str) -> World:
    clock = body.clock or NewClock()
    at_ms = None
    with refused_as(400, "Bad request", ValueError):
        if clock.at is not None:
            at_ms = parse_timestamp(clock.at)
    with refused_as(400, "Assumption refused", AssumptionRefused):
        assumptions = Assumptions().changed(body.assumptions)
    # Any mode is accepted here, because it is checked when the clock is created.
    mode: Any = clock.mode
    source = WorldSource(mode, clock.rate, at_ms, assumptions, chosen=tuple(body.assumptions))
    return context.worlds.default(name, seed, source)
