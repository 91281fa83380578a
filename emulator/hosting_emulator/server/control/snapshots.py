"""Control of snapshots: set a world's state aside and come back to it."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import Snapshot, TooManySnapshots
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.views import world_summary


async def list_snapshots(context: Context, world: str) -> web.Response:
    """GET …/snapshots, oldest first."""
    kept = context.engine(world).snapshots
    return answers.json({"items": [_view(name, snapshot) for name, snapshot in kept]})


async def take_snapshot(context: Context, world: str) -> web.Response:
    """POST …/snapshots: set the state aside as it is now."""
    engine = context.engine(world)
    now_ms = engine.run_due()
    try:
        name = engine.snapshots.take(engine.world, now_ms)
    except TooManySnapshots as error:
        raise ControlRefused(409, "Too many snapshots", str(error)) from None
    return answers.json(_view(name, Snapshot(engine.world, now_ms)), 201)


async def restore_snapshot(context: Context, world: str, snapshot: str) -> web.Response:
    """POST …/snapshots/{snapshot}/restore: state, clock, faults and assumptions are as they were."""
    engine = context.engine(world)
    engine.restore(_find(engine, snapshot), f"{snapshot} restored")
    return answers.json(world_summary(context, engine))


async def delete_snapshot(context: Context, world: str, snapshot: str) -> web.Response:
    """DELETE …/snapshots/{snapshot}."""
    engine = context.engine(world)
    _find(engine, snapshot)
    engine.snapshots.drop(snapshot)
    return web.Response(status=204)


def _find(engine: Engine, name: str) -> Snapshot:
    found = engine.snapshots.find(name)
    if found is None:
        kept = ", ".join(known for known, _ in engine.snapshots) or "none"
        raise ControlRefused(
            404, "No such snapshot", f"no snapshot is {name[:40]!r}; there are {kept}"
        )
    return found


def _view(name: str, snapshot: Snapshot) -> dict[str, Any]:
    world, at_ms = snapshot
    return {"id": name, "commit": world.commit, "at": format_timestamp(at_ms)}
