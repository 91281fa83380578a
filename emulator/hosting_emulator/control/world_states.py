"""Endpoints that export and import a world's state.

Here, an exported state is a plain JSON object, because its members depend on the storage format,
which differs between versions.
"""

from __future__ import annotations

import asyncio
from typing import Annotated
from weakref import WeakValueDictionary

import msgspec
from aiohttp import web
from msgspec import Meta

from hosting_emulator.control.world_replacement import check_replaceable, put_world
from hosting_emulator.control.world_summaries import world_summary
from hosting_emulator.engine.engine import Engine, anchored
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.protection import without_protected
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context, refused_as
from hosting_emulator.http.query import SEED, Query
from hosting_emulator.http.time_slices import in_thread
from hosting_emulator.messages import JsonObject, WorldSummary
from hosting_emulator.storage.export import STATE_KIND, export_state, import_state
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.world.value import World

_STATE_SCHEMA = {"properties": {"kind": {"const": STATE_KIND}}, "required": ["kind"]}
#: An exported state.
StateDocument = Annotated[JsonObject, Meta(extra_json_schema=_STATE_SCHEMA)]

#: Exports that are in progress or being sent. Simultaneous requests share an export. A key consists
#: of the world's `id()` and whether the export contains the seed. Each task keeps its world alive,
#: so that the `id()` is unique.
_exports: WeakValueDictionary[tuple[int, bool], asyncio.Task[tuple[World, bytes]]] = (
    WeakValueDictionary()
)


async def get_state(engine: Engine, seed: Annotated[bool, SEED] = False) -> web.Response:
    """Export a world's current state, without its request log and its history of commits.

    Without `seed`, a world that is imported from the state gets a new seed, so its new ids and
    secrets differ from those in the original world.
    """
    engine.run_due()
    return await export_response(engine.world, seed=seed)


async def export_response(world: World, *, seed: bool) -> web.Response:
    """Return a response with a world's state. Other requests can be handled during the export."""
    key = (id(world), seed)
    export = _exports.get(key)
    if export is None:
        export = asyncio.create_task(in_thread(_encoded_state, world, seed))
        _exports[key] = export
    # Shield the export, because a client that disconnects must not cancel it for other clients.
    _, text = await asyncio.shield(export)
    return responses.raw(200, text, "application/json", source=export, Cache_Control="no-store")


def _encoded_state(world: World, with_seed: bool) -> tuple[World, bytes]:
    """Return a world and its state as indented JSON.

    The world is part of the result so that the task keeps it alive, and no other world gets the
    same `id()`.
    """
    state = export_state(without_protected(world), with_seed=with_seed)
    return world, msgspec.json.format(msgspec.json.encode(state), indent=1) + b"\n"


async def put_state(
    context: Context,
    world: str,
    body: StateDocument,
    replace: Annotated[
        bool, Query("Also replace a world that is stored on disk and has changed since its start.")
    ] = True,
) -> WorldSummary:
    """Replace a world's state with an exported state, or create a world from it.

    The old state remains until the new state has been read and saved. With `replace=false`, the
    status is 409 if the world is stored on disk and has changed since its start.
    """
    imported = await import_world(body, world)
    if not replace:
        check_replaceable(context, world)
    engine = put_world(context, imported, "state imported")
    return world_summary(context, engine)


async def import_world(state: JsonObject, name: str, seed: str | None = None) -> World:
    """Build a world from an exported state. Raises ControlRefusal 400 if the state is invalid.

    The world's seed is `seed` or, if that is None, the seed in the state. If the state has no seed
    either, the world gets a new one. Other requests can be handled during the import.
    """
    with refused_as(400, "State refused", StateRefused):
        world = await in_thread(import_state, state, name, 0, seed)
    # Anchor the clock to the current real time, so that a scaled clock does not advance by the time
    # that has passed since the export.
    return anchored(world, world.at_ms, machine_ms())
