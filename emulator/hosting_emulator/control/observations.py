"""Control of observations: begin one, read what it saw, look into its chapters, end it."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

import msgspec
from aiohttp import web

from hosting_emulator import messages
from hosting_emulator.conduct.chapter import Chapter
from hosting_emulator.conduct.observation import ProcessObservation, TooManyObservations
from hosting_emulator.control.reports import check_rules, judge_in_slices
from hosting_emulator.control.reports import report as report_world
from hosting_emulator.control.requests import show_request
from hosting_emulator.control.worlds import exported
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.engine.request_views import entry_view
from hosting_emulator.http.endpoint import (
    Body,
    Context,
    ControlRefusal,
    Example,
    find_observation,
    refused_as,
    require,
)
from hosting_emulator.http.query import LATEST_REQUESTS, SEED, Limit, Milliseconds, Query
from hosting_emulator.messages import JsonObject

#: How often to look whether a request is still in progress, in seconds of real time.
_LOOK_S = 0.01


class NewObservation(Body):
    """What to observe: `worlds` by name with their copies, or null for all, and rules to leave out.

    `replaces` is the id of an observation that ends now.
    """

    worlds: list[str] | None = None
    skip_rules: list[str] = msgspec.field(default_factory=list)
    replaces: str | None = None


def begin_observation(
    context: Context, body: Annotated[NewObservation, Example({"worlds": None})]
) -> messages.ObservationState:
    """Begin an observation: from now on it counts and judges every request of its worlds.

    It also sees worlds that are created later. Deleting, resetting, loading or replacing a world
    ends a chapter of the observation, and nothing is forgotten. End it with DELETE.
    """
    check_rules(body.skip_rules, "skip_rules")
    for name in body.worlds or ():
        context.engine(name)
    if body.replaces is not None:
        context.observations.end(find_observation(context, body.replaces))
    with refused_as(409, "Too many observations", TooManyObservations):
        observation = context.observations.begin(
            context.worlds, body.worlds, body.skip_rules, time.monotonic()
        )
    return messages.ObservationState(id=observation.id, skip_rules=observation.skip_rules)


async def show_observation(
    context: Context,
    observation: str,
    final: Annotated[bool, Query("The client has finished.")] = False,
    wait_ms: Annotated[
        Milliseconds,
        Query("Wait at most this long, in real milliseconds, until no request is in progress."),
    ] = 0,
) -> messages.ObservationReport:
    """Report what an observation saw, with a verdict for each chapter.

    With `final` the clients have finished: it also reports what can only be judged then. Requests
    that are still in progress after `wait_ms` are listed, and judged as far as they are known.
    """
    observed = find_observation(context, observation)
    await _wait_for_responses(observed, wait_ms / 1000)
    await judge_in_slices(observed.watches())
    return observed.report(final=final)


async def _wait_for_responses(observation: ProcessObservation, within_s: float) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + within_s
    while observation.in_progress() and loop.time() < until:
        await asyncio.sleep(_LOOK_S)


def end_observation(context: Context, observation: str) -> None:
    """End an observation and forget what it saw."""
    context.observations.end(find_observation(context, observation))


async def get_chapter_state(
    context: Context,
    observation: str,
    chapter: str,
    seed: Annotated[bool, SEED] = False,
    began: Annotated[bool, Query("The state as the chapter began.")] = False,
) -> web.Response:
    """Export the whole state of the world of a chapter, as it is or as it was when the chapter ended.

    With `began`, export it as it was when the chapter began.
    Without `seed`, a world imported from it draws a new seed: new ids and secrets differ.
    """
    found_chapter = _find_chapter(context, observation, chapter)
    world = found_chapter.first_world if began else _engine_of(found_chapter).world
    assert world is not None
    return await exported(world, seed=seed)


async def report_chapter(
    context: Context,
    observation: str,
    chapter: str,
    requests: Annotated[Limit, LATEST_REQUESTS] = 20,
) -> dict[str, Any]:
    """Report the world of a chapter, as it is or as it was when the chapter ended."""
    engine = _engine_of(_find_chapter(context, observation, chapter))
    return await report_world(context, engine, requests)


def list_chapter_requests(
    context: Context, observation: str, chapter: str, limit: Limit = 50
) -> JsonObject:
    """List the last exchanges of a chapter, newest first, and how many there have been."""
    observed = _find_chapter(context, observation, chapter)
    engine = _engine_of(observed)
    items = [
        {
            **entry_view(engine.world, entry),
            "arrival": entry.passage.arrival if entry.passage else 0,
        }
        for entry in engine.log.newest(limit)
    ]
    cleared = engine.log.cleared
    return {"total": observed.requests, "times_cleared": cleared, "items": items}


def show_exchange(context: Context, observation: str, chapter: str, n: str) -> JsonObject:
    """Show one exchange of a chapter with headers, bodies and trail, secrets cut out."""
    return show_request(_engine_of(_find_chapter(context, observation, chapter)), n)


def _find_chapter(context: Context, observation: str, index: str) -> Chapter:
    observed = find_observation(context, observation)
    is_number = index.isascii() and index.isdigit() and len(index) < 10
    chapter = observed.chapter(int(index)) if is_number else None
    chapter = require(chapter, "No such chapter", f"{observed.id} has no chapter {index[:40]!r}")
    if chapter.world is None:
        detail = f"the state and the requests of chapter {index} are no longer kept"
        raise ControlRefusal(410, "No longer kept", detail)
    return chapter


def _engine_of(chapter: Chapter) -> Engine:
    """Return the world of a chapter with the exchanges of the chapter: a copy that nobody else has.

    The clock of an ended world stands where it stood at its end.
    """
    if chapter.ended is None:
        chapter.engine.run_due()
    world = chapter.world
    assert world is not None
    live = chapter.engine
    machine_ms = chapter.ended_machine_ms if chapter.ended else live.machine_ms
    engine = Engine(world, Keeper(), lambda: machine_ms)
    engine.log.restore(chapter.entries or (), chapter.requests)
    engine.usage = chapter.usage
    return engine
