"""Varies a world as a whole by choosing its assumptions at random.

Some aspects of responses must be the same in all responses from a world. To vary these, the values
of assumptions are drawn from the seed. A value is never drawn for an assumption that a user has
set, and a drawn value always differs from the default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from msgspec.structs import replace

from hosting_emulator.contract.access import PERMISSIONS
from hosting_emulator.contract.assumption_table import alternatives, is_outside_the_letter
from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.variation.deployment_ids import vary_deployment_ids
from hosting_emulator.variation.draws import draw_index
from hosting_emulator.variation.points import (
    ASSUMED,
    POINTS,
    Point,
    VariationRefused,
    read_points,
    varied_calls,
)
from hosting_emulator.world.records import Variation, WorldSource
from hosting_emulator.world.tables import ASSUMPTIONS, ORIGIN, SINGLETON_KEY, VARIATION
from hosting_emulator.world.value import Change, World, apply

LONGEST_SEED = 200


def read_variation(seed: str, only: Iterable[str] | None = None) -> Variation:
    """Return a variation at the points in `only`, or at every point if `only` is None.

    Raises VariationRefused if the seed or `only` is invalid.
    """
    if not 1 <= len(seed) <= LONGEST_SEED or not seed.isprintable():
        raise VariationRefused(
            f"a variation's seed must have 1 to {LONGEST_SEED} printable characters"
        )
    points = None if only is None else read_points(only)
    if points == ():
        raise VariationRefused("only: name at least one point, or omit `only` for all points")
    return Variation(seed, points)


def set_variation(
    change: Change, variation: Variation, fixed_names: Collection[str] = ()
) -> Variation:
    """Vary a world, and return the variation, including the assumptions that were drawn.

    The variation replaces any earlier variation, and stays in force after a reset. Assumptions in
    `fixed_names`, and assumptions that differ from their defaults, do not change. In the same
    world, the same variation always draws the same assumptions.
    """
    before = change.get(VARIATION, SINGLETON_KEY)
    assumptions = _without(change.assumptions, before)
    origin = change.get(ORIGIN, SINGLETON_KEY) or WorldSource()
    fixed = tuple(sorted({*fixed_names, *origin.chosen, *(before or variation).chosen}))
    drawn = draw_assumptions(variation, assumptions, fixed)
    varied = replace(variation, chosen=fixed, assumed=drawn)
    _put(change, assumptions.changed(drawn), varied)
    return varied


def clear_variation(change: Change) -> bool:
    """Remove a world's variation, and reset the drawn assumptions to their defaults.

    Returns whether the world had a variation.
    """
    before = change.get(VARIATION, SINGLETON_KEY)
    if before is None:
        return False
    _put(change, _without(change.assumptions, before), None)
    return True


def varied_world(
    world: World, variation: Variation | None, fixed_names: Collection[str] = ()
) -> World:
    """Return a varied copy of a new world, or the world itself if `variation` is None."""
    if variation is None:
        return world
    change = Change(world, world.at_ms)
    set_variation(change, variation, fixed_names)
    varied = apply(world, change.writes, commit=world.commit, at_ms=world.at_ms)
    return vary_deployment_ids(varied, variation)


def _without(assumptions: Assumptions, before: Variation | None) -> Assumptions:
    """Return the assumptions with the variation's drawn values reset to their defaults.

    If a user changed an assumption after it was drawn, it keeps the user's value.
    """
    if before is None:
        return assumptions
    drawn = DEFAULTS.changed(before.assumed)
    defaults = {
        name: getattr(DEFAULTS, name)
        for name in before.assumed
        if getattr(assumptions, name) == getattr(drawn, name)
    }
    return assumptions.changed(defaults)


def _put(change: Change, assumptions: Assumptions, variation: Variation | None) -> None:
    if assumptions != change.assumptions:
        change.put(ASSUMPTIONS, SINGLETON_KEY, assumptions)
    origin = change.get(ORIGIN, SINGLETON_KEY) or WorldSource()
    if variation is None:
        change.delete(VARIATION, SINGLETON_KEY)
    else:
        change.put(VARIATION, SINGLETON_KEY, variation)
        # A reset must draw the assumptions again, because it can start the world with different
        # assumptions.
        variation = replace(variation, assumed={})
    change.put(ORIGIN, SINGLETON_KEY, replace(origin, variation=variation))


_PROFILES = ("timed 3s 12s", "timed 5s 20s", "timed 1s 25s", "timed 12s 9s")
#: The values to draw from for assumptions that have no list of alternatives.
_CHOICES: dict[str, tuple[Any, ...]] = {
    "source_profile": _PROFILES,
    "domains_profile": _PROFILES,
    "key_permissions": (
        [
            "read:projects",
            "write:projects",
            "write:domains",
            "read:deploys",
            "read:db",
            "read:dns",
            "dev",
        ],
        [f"hosting/{name.replace('.', ':')}/v2" for name in PERMISSIONS],
        [name.replace(".", "_").upper() for name in PERMISSIONS],
    ),
}
#: The statuses that can be drawn for each problem code.
STATUSES = POINTS["problem-status"].statuses


def draw_assumptions(
    variation: Variation, assumptions: Assumptions, fixed_names: Collection[str]
) -> dict[str, Any]:
    """Draw values for assumptions, and return them by name.

    No values are drawn for assumptions in `fixed_names` and assumptions that a user has set.
    """
    drawn: dict[str, Any] = {}
    for point in ASSUMED:
        is_chosen = variation.only is None or point.id in variation.only
        if not is_chosen or draw_index(variation.seed, 3, point.id, "whether") == 0:
            continue
        for name in point.assumptions:
            is_default = getattr(assumptions, name) == getattr(DEFAULTS, name)
            if name in fixed_names or not is_default:
                continue
            if name == "problem_statuses":
                drawn[name] = _draw_statuses(variation, point)
            else:
                drawn[name] = _draw_value(variation, point, name)
    return drawn


def _draw_statuses(variation: Variation, point: Point) -> dict[str, int]:
    """Draw a status for each problem code that has alternatives. The status can also be the usual
    one.
    """
    drawn: dict[str, int] = {}
    for code, statuses in STATUSES.items():
        index = draw_index(variation.seed, len(statuses) + 1, point.id, "which", code)
        if index < len(statuses):
            drawn[code] = statuses[index]
    return drawn


def _draw_value(variation: Variation, point: Point, name: str) -> Any:
    """Draw an alternative value for an assumption, excluding values that violate the contract."""
    values = _CHOICES.get(name) or alternatives(name)
    choices = [value for value in values if not is_outside_the_letter(name, value)]
    return choices[draw_index(variation.seed, len(choices), point.id, "which", name)]


#: Assumptions that can be seen only in the responses that they determine. When such an assumption
#: determines a response, the core records its name.
_NOTED = {
    "flag_reenabled",
    "unknown_body_fields",
    "unexpected_body",
    "unknown_query_parameters",
    "malformed_project_id",
    "wrong_method",
}


def assumed_points(
    variation: Variation,
    assumptions: Assumptions,
    status: int,
    *,
    call: str | None,
    code: str | None,
    replayed: bool,
    decided_by: str | None = None,
) -> list[str]:
    """Return the points at which a response differs because of the drawn assumptions.

    An assumption that has since been set to its default is ignored. `call` is None if the
    request matches no call. `decided_by` is the assumption that the core recorded as determining
    the response, or None.
    """
    assumed: dict[str, Any] = {}
    for name in variation.assumed:
        value = getattr(assumptions, name)
        if value != getattr(DEFAULTS, name):
            assumed[name] = value

    def shows(point: str, name: str) -> bool:
        if name in _NOTED:
            return decided_by == name
        if point == "problem-status":
            return code is not None and status == assumed[name].get(code) != PROBLEMS[code].status
        if not 200 <= status < 300:
            return False
        if point.endswith(
            "-status"
        ):  # only replays of `create_user_api_key` have a status of their own
            is_key_replay = call == "create_user_api_key" and replayed
            return status == assumed[name] and is_key_replay == (point == "key-replayed-status")
        return replayed or point != "operation-replay"

    points: list[str] = []
    for point in ASSUMED:
        names = [name for name in point.assumptions if name in assumed]
        calls = varied_calls(point.id)
        is_of_call = not calls or call in calls
        if names and is_of_call and shows(point.id, names[0]):
            points.append(point.id)
    return points
