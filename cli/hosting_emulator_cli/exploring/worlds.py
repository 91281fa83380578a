"""The worlds of the runs: each begins as a copy of the same one, and is deleted when it is judged.

All of it waits for the emulator's answers: call it from a thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hosting_emulator_cli.variables import first_project, organization_of, renamed, world_variables

if TYPE_CHECKING:
    from hosting_emulator.explore.points import Point
    from hosting_emulator.explore.requests import SeenRequest
    from hosting_emulator.sdk import ControlClient
    from hosting_emulator.settings import Ready

#: A token that outlives every move of the clock that a run would make.
_TEN_YEARS_S = 10 * 365 * 86_400


@dataclass(frozen=True, slots=True)
class RunWorld:
    """A world of its own for one run; `fault` is the one armed in it, if any."""

    name: str
    variables: Mapping[str, str]
    fault: str | None


def open_world(
    client: ControlClient,
    ready: Ready,
    name: str,
    principal: str,
    exports: Sequence[tuple[str, str]],
) -> RunWorld:
    """Copy the default world, and say what a command needs to know of the copy.

    Raises ControlError.
    """
    world = client.fork(name=name, ephemeral=True)
    token = client.token(principal, world=name, expires_in_seconds=_TEN_YEARS_S)["access_token"]
    project = first_project(world, organization_of(token))
    found = world_variables(client.info(), world, token, project)
    found["HOSTING_CONTROL_URL"] = ready.control_url
    if ready.control_token is not None:
        found["HOSTING_EMULATOR_CONTROL_TOKEN"] = ready.control_token
    return RunWorld(name, renamed(found, exports), None)


def open_point(
    client: ControlClient,
    ready: Ready,
    name: str,
    principal: str,
    exports: Sequence[tuple[str, str]],
    point: Point,
    requests: Sequence[SeenRequest],
) -> RunWorld:
    """Do the same, and arm what the point wants. Raises ControlError, ValueError."""
    from hosting_emulator.explore.seeing import arm

    world = open_world(client, ready, name, principal, exports)
    return RunWorld(name, world.variables, arm(client, name, point, requests))
