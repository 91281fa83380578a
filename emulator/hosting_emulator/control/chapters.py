"""Endpoints that show the state, report and exchanges of the chapters in an observation."""

from __future__ import annotations

from typing import Annotated

from aiohttp import web

from hosting_emulator.conduct.chapter import Chapter
from hosting_emulator.control.reports import report
from hosting_emulator.control.requests import show_request
from hosting_emulator.control.world_states import export_response
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.engine.request_views import summary_members
from hosting_emulator.http.endpoint import Context, ControlRefusal, find_observation, require
from hosting_emulator.http.query import LATEST_REQUESTS, SEED, Limit, Query
from hosting_emulator.messages import Exchange, RequestPage, WholeExchange, WorldReport
from hosting_emulator.world.value import World

#: The maximum number of digits in a chapter's index.
_MOST_DIGITS = 9


async def get_chapter_state(
    context: Context,
    observation: str,
    chapter: str,
    seed: Annotated[bool, SEED] = False,
    began: Annotated[bool, Query("Export the state at the start of the chapter.")] = False,
) -> web.Response:
    """Export the state of a chapter's world, as it is now or was when the chapter ended.

    With `began`, the export contains the state at the start of the chapter. Without `seed`, a world
    that is imported from the state gets a new seed, so its new ids and secrets differ from those in
    the original world.
    """
    kept_chapter = _find_chapter(context, observation, chapter)
    world = _chapter_engine(kept_chapter).world
    if began:
        assert kept_chapter.first_world is not None
        world = kept_chapter.first_world
    return await export_response(world, seed=seed)


async def report_chapter(
    context: Context,
    observation: str,
    chapter: str,
    requests: Annotated[Limit, LATEST_REQUESTS] = 20,
) -> WorldReport:
    """Report on a chapter's world, as it is now or was when the chapter ended."""
    engine = _chapter_engine(_find_chapter(context, observation, chapter))
    return await report(context, engine, requests)


def list_chapter_requests(
    context: Context, observation: str, chapter: str, limit: Limit = 50
) -> RequestPage:
    """List the latest exchanges in a chapter, newest first, with the total number of exchanges."""
    kept_chapter = _find_chapter(context, observation, chapter)
    engine = _chapter_engine(kept_chapter)
    return RequestPage(
        total=kept_chapter.requests,
        times_cleared=engine.log.cleared,
        items=[_chapter_exchange(engine.world, entry) for entry in engine.log.newest(limit)],
    )


def _chapter_exchange(world: World, entry: Entry) -> Exchange:
    arrival = None
    if entry.passage is not None:
        arrival = entry.passage.arrival
    return Exchange(**summary_members(world, entry), arrival=arrival)


def show_exchange(context: Context, observation: str, chapter: str, n: str) -> WholeExchange:
    """Show one exchange from a chapter with headers, bodies and trail.

    Tokens, API keys and tickets of the service are removed. The values of the headers Authorization,
    Cookie and Set-Cookie are removed, too.
    """
    return show_request(_chapter_engine(_find_chapter(context, observation, chapter)), n)


def _find_chapter(context: Context, observation_id: str, index: str) -> Chapter:
    """Return the chapter with this index in an observation.

    Raises ControlRefusal 404 if there is no such chapter, or 410 if its state is no longer stored.
    """
    observation = find_observation(context, observation_id)
    chapter = None
    if index.isascii() and index.isdigit() and len(index) <= _MOST_DIGITS:
        chapter = observation.chapter(int(index))
    detail = f"{observation.id} has no chapter {index[:40]!r}"
    chapter = require(chapter, "No such chapter", detail)
    if chapter.world is None:
        detail = f"the state and the requests of chapter {index} are no longer kept"
        raise ControlRefusal(410, "No longer kept", detail)
    return chapter


def _chapter_engine(chapter: Chapter) -> Engine:
    """Return an engine that has a chapter's world and exchanges.

    If the chapter has ended, the engine's clock shows the time at which it ended.
    """
    if chapter.ended is None:
        chapter.engine.run_due()
    world = chapter.world
    assert world is not None
    machine_ms = chapter.engine.machine_ms
    if chapter.ended:
        machine_ms = chapter.ended_machine_ms
    engine = Engine(world, Keeper(), lambda: machine_ms)
    engine.log.restore(chapter.entries or (), chapter.requests)
    engine.usage = chapter.usage
    return engine
