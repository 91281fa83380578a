"""Control of a world's history: its last commits, and the way back to any of them."""

from __future__ import annotations

import msgspec
from aiohttp import web

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import Moment, Snapshot
from hosting_emulator.server import answers
from hosting_emulator.server.control.commits import came_to
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.requests import read_limit
from hosting_emulator.server.control.views import world_summary


class Rewind(msgspec.Struct, forbid_unknown_fields=True):
    """Body of `POST …/rewind`."""

    commit: int


async def list_history(context: Context, world: str) -> web.Response:
    """GET …/history?limit=100, newest first; `first` is the oldest that is kept.

    `says` tells in short what a commit changed, where its title leaves that open; else it is empty.
    """
    engine = context.engine(world)
    limit = read_limit(context, "limit", 100)
    engine.run_due()
    kept = engine.history.newest(limit + 1)
    before = [*(moment.world for moment in kept[1:]), None]
    items = [
        {
            "commit": moment.world.commit,
            "at": format_timestamp(moment.world.at_ms),
            "title": moment.title,
            "says": came_to(moment, found),
        }
        for moment, found in zip(kept[:limit], before, strict=False)
    ]
    return answers.json({"first": engine.history.first, "items": items})


async def rewind(context: Context, world: str) -> web.Response:
    """POST …/rewind: the state after a commit is put back, as one more commit."""
    engine = context.engine(world)
    asked = await context.read(Rewind)
    state = find_moment(engine, asked.commit).world
    engine.restore(Snapshot(state, state.at_ms), f"rewound to {asked.commit}")
    return answers.json(world_summary(context, engine))


def find_moment(engine: Engine, commit: int) -> Moment:
    """Return a commit that is kept. Raises ControlRefused 404."""
    found = engine.history.find(commit)
    if found is None:
        raise ControlRefused(
            404,
            "No such commit",
            f"commit {commit} is not kept; the history goes from {engine.history.first} to "
            f"{engine.world.commit}",
        )
    return found
