"""Endpoints that begin and end observations and report on them."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import msgspec

from hosting_emulator import messages
from hosting_emulator.conduct.observation import ProcessObservation, TooManyObservations
from hosting_emulator.control.conduct import check_rules, judge_in_slices
from hosting_emulator.http.endpoint import (
    Body,
    Context,
    Example,
    find_observation,
    refused_as,
)
from hosting_emulator.http.query import Milliseconds, Query

#: How often to check for requests in progress: the interval in real seconds.
_LOOK_S = 0.01


class NewObservation(Body):
    """The observation to begin.

    `worlds` contains the names of the worlds to observe, or is null for all worlds. Copies of these
    worlds are observed too. `skip_rules` contains the ids of conduct rules to skip. `replaces` is
    the id of an observation that ends when the new one begins. The new observation takes over its
    coverage.
    """

    worlds: list[str] | None = None
    skip_rules: list[str] = msgspec.field(default_factory=list)
    replaces: str | None = None


def begin_observation(
    context: Context, body: Annotated[NewObservation, Example({"worlds": None})]
) -> messages.ObservationState:
    """Begin an observation, which counts and judges all further requests to its worlds.

    An observation of all worlds includes worlds that are created later. If a world is deleted,
    reset, loaded or replaced, its current chapter in the observation ends, but the chapter's
    results are kept. End the observation with DELETE.
    """
    check_rules(body.skip_rules, "skip_rules")
    for name in body.worlds or ():
        context.engine(name)
    replaced = None
    if body.replaces is not None:
        replaced = find_observation(context, body.replaces)
        context.observations.end(replaced)
    with refused_as(409, "Too many observations", TooManyObservations):
        observation = context.observations.begin(
            context.worlds, body.worlds, body.skip_rules, time.monotonic()
        )
    if replaced is not None:
        observation.replace(replaced)
    return messages.ObservationState(id=observation.id, skip_rules=observation.skip_rules)


async def show_observation(
    context: Context,
    observation: str,
    final: Annotated[
        bool, Query("Include rules that can be judged only after the clients have finished.")
    ] = False,
    wait_ms: Annotated[
        Milliseconds,
        Query(
            "Wait until no requests are in progress, but at most this long, in real milliseconds."
        ),
    ] = 0,
) -> messages.ObservationReport:
    """Report an observation's requests and findings, with a verdict for each chapter.

    With `final`, the report includes the rules that can be judged only after the clients have
    finished. Requests that are still in progress after `wait_ms` are listed, and are judged on what
    is known at that point.
    """
    process_observation = find_observation(context, observation)
    await _wait_for_responses(process_observation, wait_ms / 1000)
    await judge_in_slices(process_observation.watches())
    return process_observation.report(final=final)


async def _wait_for_responses(observation: ProcessObservation, most_s: float) -> None:
    """Wait until no requests are in progress, but at most `most_s` real seconds."""
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + most_s
    while observation.in_progress() and loop.time() < deadline_s:
        await asyncio.sleep(_LOOK_S)


def end_observation(context: Context, observation: str) -> None:
    """End an observation and discard its data."""
    context.observations.end(find_observation(context, observation))
