"""Checks the connections named in a story, and the faults that match by connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hosting_emulator.contract.calls import IDENTITY_PROVIDER, call_named
from hosting_emulator.scenario.document import ScenarioPart, StepPart
from hosting_emulator.scenario.mistakes import Mistakes
from hosting_emulator.scenario.source import Location
from hosting_emulator.scenario.step_keys import is_page

_UNNAMED = (
    "no request can match, because no step in the story names its connection: write "
    "`connection: a` in the steps that share one connection"
)
_IDENTITY_PROVIDER = "in a story, requests to the identity provider have no connection"
#: The error message for a step that requests a page but names a connection.
PAGE_WITHOUT_CONNECTION = (
    "in a story, only requests to the API have a connection: remove `connection`"
)


def check_connections(location: Location, scenario: ScenarioPart, mistakes: Mistakes) -> None:
    """Add a mistake for each fault that matches by connection but can never match a request.

    `location` is the scenario's location. A scenario without a story is not checked, because its
    requests come from clients with real connections.
    """
    if not scenario.story:
        return
    has_names = any(step.connection is not None for step in _all_steps(scenario))
    for fault_location, fault in _faults(location, scenario):
        if fault.get("connection") is None:
            continue
        if call_named(str(fault.get("call"))).startswith(IDENTITY_PROVIDER):
            mistakes.append((fault_location / "connection").error(_IDENTITY_PROVIDER))
        elif not has_names:
            mistakes.append((fault_location / "connection").error(_UNNAMED))


def _all_steps(scenario: ScenarioPart) -> Iterator[StepPart]:
    for steps in (scenario.story, *(shared.steps for shared in scenario.parts)):
        for step in steps:
            yield step
            yield from step.together or ()


def _faults(
    location: Location, scenario: ScenarioPart
) -> Iterator[tuple[Location, dict[str, object]]]:
    """Yield all faults at the top level, in the timeline and in the steps, with their locations."""
    for index, fault in enumerate(scenario.faults):
        yield location / "faults" / index, fault
    for index, planned in enumerate(scenario.timeline):
        if planned.fault is not None:
            yield location / "timeline" / index / "fault", planned.fault
    yield from _step_faults(location / "story", scenario.story)
    for index, shared in enumerate(scenario.parts):
        yield from _step_faults(location / "parts" / index / "steps", shared.steps)


def _step_faults(
    location: Location, steps: Iterable[StepPart]
) -> Iterator[tuple[Location, dict[str, object]]]:
    for index, step in enumerate(steps):
        if step.fault is not None:
            yield location / index / "fault", step.fault


def check_step_connection(location: Location, step: StepPart) -> None:
    """Raise ScenarioError if a step names a connection that its request cannot use."""
    if step.connection is not None and step.request is not None:
        _, _, url = step.request.partition(" ")
        if is_page(url) and not url.startswith("$"):
            raise (location / "connection").error(PAGE_WITHOUT_CONNECTION)
    names: set[str] = set()
    for index, request in enumerate(step.together or ()):
        if request.connection is None:
            continue
        if request.connection in names or request.times > 1:
            message = (
                "concurrent requests need different connections, because a connection carries one "
                "request at a time"
            )
            raise (location / "together" / index / "connection").error(message)
        names.add(request.connection)
