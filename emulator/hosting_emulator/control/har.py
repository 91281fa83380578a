"""Exports the request log as an HTTP Archive (HAR) 1.2, which browsers can open in their network
panel.

The document is built from plain dictionaries rather than message classes, because its format is
defined by the HAR specification. Members whose names start with an underscore are the emulator's
own extensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Annotated

import msgspec
from aiohttp import web

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.control.har_entries import har_entry
from hosting_emulator.control.logged_requests import find_entries
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.explanations.trail import Explanations
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.guard import world_prefix
from hosting_emulator.http.query import Limit, Query
from hosting_emulator.http.time_slices import in_thread
from hosting_emulator.messages import JsonObject, RequestFilters
from hosting_emulator.storage.export import export_state
from hosting_emulator.world import clock as clocks
from hosting_emulator.world.naming import AliasedRecord
from hosting_emulator.world.tables import (
    CLOCK,
    ORGANIZATIONS,
    PROJECTS,
    SINGLETON_KEY,
    USERS,
    Table,
)
from hosting_emulator.world.value import World, apply

_COMMENT = (
    "Times are in world time. Durations are in real time, as measured in the emulator. Secrets "
    "are removed, and long bodies are truncated."
)


async def export_har(
    context: Context,
    engine: Engine,
    filters: RequestFilters,
    limit: Limit = 1000,
    state: Annotated[
        bool, Query("Include the world's state from before the first exchange, for replays.")
    ] = False,
) -> web.StreamResponse:
    """Return the latest matching exchanges, oldest first, as an HTTP Archive (HAR) 1.2.

    With `state`, the archive includes the world's state from before the first exchange, so that the
    exchanges can be replayed in an identical world.
    """
    entries = await find_entries(engine, filters, limit)
    # Leave out second deliveries, because no client sent them.
    entries = [entry for entry in entries if not entry.second_delivery_of]
    entries.reverse()
    log: JsonObject = {
        "version": "1.2",
        "creator": {"name": "hosting-emulator", "version": context.facts.version},
        "pages": [],
        "entries": [],
        "comment": f"The request log of the world {engine.world.name}. {_COMMENT}",
        "_world": _world_names(engine, entries),
    }
    if state and entries:
        log["_state"] = await in_thread(_encoded_state, _frozen(entries[0].world))
    prefix = context.base_url + world_prefix(engine.world.name)
    explanations = Explanations(engine.log)
    items = (
        har_entry(
            prefix,
            entry,
            explanations.whole(engine.world, entry),
            explanations.whole(engine.world, entry.delivered),
        )
        for entry in entries
    )
    disposition = f'attachment; filename="{engine.world.name}.har"'
    return await responses.json_list(
        context.request, {"log": log}, "entries", items, Content_Disposition=disposition
    )


def _frozen(world: World) -> World:
    """Return a copy of a world with a frozen clock, so that due events do not run."""
    clock = clocks.start("frozen", None, world.at_ms, 0)
    writes = {CLOCK.name: {SINGLETON_KEY: clock}}
    return apply(world, writes, commit=world.commit, at_ms=world.at_ms)


def _encoded_state(world: World) -> msgspec.Raw:
    """Return a world's state as JSON. For a large world, this takes a long time."""
    return msgspec.Raw(msgspec.json.encode(export_state(world)))


def _world_names(engine: Engine, entries: Sequence[Entry]) -> JsonObject:
    """Return a world's name, start time and assumptions, and the ids of its records by alias.

    A replay in another world uses these ids to translate the requests.
    """
    world = engine.world
    at_ms = entries[0].world.at_ms if entries else engine.run_due()
    return {
        "name": world.name,
        "at": format_timestamp(at_ms),
        "began_at": _began_at(engine),
        "assumptions": world.assumptions.changes(),
        ORGANIZATIONS.name: _ids_by_alias(world, ORGANIZATIONS),
        USERS.name: _ids_by_alias(world, USERS),
        PROJECTS.name: _ids_by_alias(world, PROJECTS),
    }


def _began_at(engine: Engine) -> str | None:
    """Return the world time at which a world was created from its seed or scenario.

    Returns None if the world is a fork, if it was stored by an earlier process, or if its creation
    is no longer in the history.
    """
    for commit in reversed(engine.history):
        if commit.title == "began" and commit.number > 1:
            return None
        if commit.title in ("began", "reset") or commit.title.startswith("scenario "):
            return format_timestamp(commit.world.at_ms)
    return None


def _ids_by_alias(world: World, table: Table[AliasedRecord]) -> dict[str, str]:
    rows = sorted(world.rows(table), key=itemgetter(0))
    return {record.alias: id_ for id_, record in rows}
