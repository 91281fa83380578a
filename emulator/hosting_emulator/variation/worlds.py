"""Varying a world as a whole, with what it then assumes; and the OpenAPI document of such a world.

Where an answer is fixed for a world, a seed draws assumptions: only those that nobody has chosen by
hand, and always another value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from msgspec.structs import replace

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.access import PERMISSIONS
from hosting_emulator.contract.assumption_table import alternatives, is_outside_the_letter
from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.variation.draws import draw_number
from hosting_emulator.variation.points import (
    ASSUMED,
    POINTS,
    VariationRefused,
    read_points,
    varied_calls,
)
from hosting_emulator.world.naming import DEFAULT_WORLD, in_order
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import Origin, Variation
from hosting_emulator.world.tables import (
    ASSUMPTIONS,
    ONLY,
    ORGANIZATIONS,
    ORIGIN,
    PROJECTS,
    VARIATION,
)
from hosting_emulator.world.value import Change, World, apply, newest_deployments

LONGEST_SEED = 200


def read_variation(seed: str, only: Iterable[str] | None = None) -> Variation:
    """Return a variation that is asked for; no `only` means every point. Raises VariationRefused."""
    if not 1 <= len(seed) <= LONGEST_SEED or not seed.isprintable():
        wrong = f"a variation's seed is a text of 1 to {LONGEST_SEED} printable characters"
        raise VariationRefused(wrong)
    points = None if only is None else read_points(only)
    if points == ():
        raise VariationRefused("only: name at least one point, or leave it out for all")
    return Variation(seed, points)


def set_variation(change: Change, asked: Variation, kept: Collection[str] = ()) -> Variation:
    """Vary a world from now on, also after a reset, instead of any variation before.

    Assumptions named in `kept`, and those that differ from their defaults, stay. The same variation
    in the same world comes out the same.
    """
    before = change.get(VARIATION, ONLY)
    assumptions = _without(change.assumptions, before)
    origin = change.get(ORIGIN, ONLY) or Origin()
    kept = tuple(sorted({*kept, *origin.chosen, *(before or asked).kept}))
    drawn = draw_assumptions(asked, assumptions, kept)
    varied = replace(asked, kept=kept, assumed=drawn)
    _put(change, assumptions.changed(drawn), varied)
    return varied


def clear_variation(change: Change) -> bool:
    """Answer as usual again, and assume what was assumed before; tell whether anything varied."""
    before = change.get(VARIATION, ONLY)
    if before is None:
        return False
    _put(change, _without(change.assumptions, before), None)
    return True


def varied_world(world: World, asked: Variation | None, kept: Collection[str] = ()) -> World:
    """Return a world that is only beginning, varied; with None, the world itself."""
    if asked is None:
        return world
    change = Change(world, world.at_ms)
    set_variation(change, asked, kept)
    return apply(world, change.writes, commit=world.commit, at_ms=world.at_ms)


def _without(assumptions: Assumptions, before: Variation | None) -> Assumptions:
    """Return assumptions as they are without a variation; those changed since by hand stay so."""
    assumed = before.assumed if before else {}
    drawn = DEFAULTS.changed(assumed)
    alike = [name for name in assumed if getattr(assumptions, name) == getattr(drawn, name)]
    return assumptions.changed({name: getattr(DEFAULTS, name) for name in alike})


def _put(change: Change, assumptions: Assumptions, variation: Variation | None) -> None:
    if assumptions != change.assumptions:
        change.put(ASSUMPTIONS, ONLY, assumptions)
    origin = change.get(ORIGIN, ONLY) or Origin()
    if variation is None:
        change.delete(VARIATION, ONLY)
    else:
        change.put(VARIATION, ONLY, variation)
        # What it assumes is drawn anew after a reset: the world may then begin with others.
        variation = replace(variation, assumed={})
    change.put(ORIGIN, ONLY, replace(origin, variation=variation))


_PROFILES = ("timed 3s 12s", "timed 5s 20s", "timed 1s 25s", "timed 12s 9s")
#: What is drawn for assumptions that may be anything; for the others it is what else there is.
_OTHERS: dict[str, tuple[Any, ...]] = {
    "source_profile": _PROFILES,
    "domains_profile": _PROFILES,
    "key_permissions": (
        "read:projects write:projects write:domains read:deploys read:db read:dns dev".split(),
        [f"hosting/{name.replace('.', ':')}/v2" for name in PERMISSIONS],
        [name.replace(".", "_").upper() for name in PERMISSIONS],
    ),
}
#: Other statuses by code.
STATUSES = POINTS["problem-status"].statuses


def draw_assumptions(
    variation: Variation, assumptions: Assumptions, kept: Collection[str]
) -> dict[str, Any]:
    """Return the assumptions that a variation draws, but for those `kept`, or chosen by hand."""
    found: dict[str, Any] = {}
    for point in ASSUMED:
        asked_for = variation.only is None or point.id in variation.only
        if not asked_for or draw_number(variation.seed, point.id, "whether") % 3 == 0:
            continue
        for name in point.assumptions:
            if name in kept or getattr(assumptions, name) != getattr(DEFAULTS, name):
                continue
            if name == "problem_statuses":
                found[name] = {
                    code: statuses[drawn // 3 % len(statuses)]
                    for code, statuses in STATUSES.items()
                    if (drawn := draw_number(variation.seed, point.id, "which", code)) % 3
                }
            else:
                others = _OTHERS.get(name) or alternatives(name)
                choices = [value for value in others if not is_outside_the_letter(name, value)]
                drawn = draw_number(variation.seed, point.id, "which", name)
                found[name] = choices[drawn % len(choices)]
    return found


#: Points whose assumption shows only where it decided the answer, which the core has noted.
_NOTED = {
    *("flag_reenabled", "unknown_body_fields", "unexpected_body", "unknown_query_parameters"),
    *("malformed_project_id", "wrong_method"),
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
    """Return the points at which an answer differs for what the variation has assumed.

    What was assumed otherwise since, by hand, does not count. `call` None: no call has the path;
    `decided_by` is an assumption that the core has noted to have decided the answer.
    """
    assumed = {
        name: value
        for name in variation.assumed
        if (value := getattr(assumptions, name)) != getattr(DEFAULTS, name)
    }

    def shows(point: str, name: str) -> bool:
        if name in _NOTED:
            return decided_by == name
        if point == "problem-status":
            return code is not None and status == assumed[name].get(code) != PROBLEMS[code].status
        if not 200 <= status < 300:
            return False
        if point.endswith("-status"):  # an answer that was remembered has the status of then
            again = call == "create_user_api_key" and replayed
            return status == assumed[name] and again == (point == "key-replayed-status")
        return replayed or point != "operation-replay"

    return [
        point.id
        for point in ASSUMED
        for name in [name for name in point.assumptions if name in assumed][:1]
        if (not (calls := varied_calls(point.id)) or call in calls) and shows(point.id, name)
    ]


# --- The OpenAPI document of a world -------------------------------------------------------------

#: So many of the first project's newest operations are shown.
_OPERATIONS = 3


def document_absent(variation: Variation | None) -> dict[str, tuple[str, ...]]:
    """Return the members by resource that a document may not require: answers may lack them."""
    if variation is None or "absent-fields" not in (variation.only or ("absent-fields",)):
        return {}
    return {
        name: resource.omissible_fields
        for name, resource in RESOURCES.items()
        if resource.omissible_fields
    }


def world_document(world: World, server_url: str, dev_port: int | None = None) -> dict[str, Any]:
    """Return the document of a world that is served at `server_url`, its dev origins at a port."""
    from hosting_emulator.contract.openapi import openapi_document

    absent = document_absent(world.variation)
    found = openapi_document(world.assumptions, server_url, absent, example_values(world))
    if dev_port not in (None, 443):
        ticket = found["components"]["schemas"]["DevAccessTicket"]["properties"]
        for field in (ticket["origin"], ticket["redeem_url"]):  # the contract's form has no port
            field["pattern"] = field["pattern"].replace("[a-z0-9.-]+", f"[a-z0-9.-]+:{dev_port}")
    return found


def default_document() -> dict[str, Any]:
    """Return the document of a default world, for when none is served."""
    world = new_world(DEFAULT_WORLD, DEFAULT_SEED, Origin(), 0)
    return world_document(world, "http://127.0.0.1:4620")


def example_values(world: World) -> dict[str, dict[str, Any]]:
    """Return values that a call may name, by parameter or field, each with what it is of.

    All are of the first organization; there are none in a world that has none.
    """
    organizations = in_order(world, ORGANIZATIONS)
    if not organizations:
        return {}
    home = organizations[0]
    projects = [found for found in in_order(world, PROJECTS) if found.organization_id == home.id]
    operations: dict[str, str] = {}
    for first in projects[:1]:
        for number, deployment in enumerate(newest_deployments(world, first.id, _OPERATIONS), 1):
            operations[f"{first.alias}-{number}"] = deployment.operation_id
    return {
        "organization_id": {home.alias: home.id},
        "project_id": {project.alias: project.id for project in projects},
        "operation_id": operations,
        "expected_source_generation": {p.alias: p.source_generation for p in projects[:1]},
    }
