"""Setting a variation in a world and taking it away again, with what it assumes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from msgspec.structs import replace

from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.variation.assuming import draw_assumptions
from hosting_emulator.variation.points import VariationRefused, read_points
from hosting_emulator.world.records import Origin, Variation
from hosting_emulator.world.tables import ASSUMPTIONS, ONLY, ORIGIN, VARIATION
from hosting_emulator.world.value import Change, World, apply

LONGEST_SEED = 200


def read_variation(seed: str, only: Iterable[str] | None = None) -> Variation:
    """Return a variation that is asked for; no `only` means every point. Raises VariationRefused."""
    if not 1 <= len(seed) <= LONGEST_SEED or not seed.isprintable():
        raise VariationRefused(
            f"a variation's seed is a text of 1 to {LONGEST_SEED} printable characters"
        )
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
    kept = tuple(sorted({*kept, *origin.chosen, *(before.kept if before else asked.kept)}))
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


def shown_assumptions(assumptions: Assumptions, variation: Variation | None) -> Assumptions:
    """Return the assumptions that a document is to be written by: it must allow all that can come."""
    if variation is None:
        return assumptions
    looser: dict[str, Any] = {}
    for point, name in (("empty-fields", "empty_fields"), ("last-page-cursor", "last_page_cursor")):
        if variation.only is None or point in variation.only:
            looser[name] = "null"
    return assumptions.changed(looser) if looser else assumptions


def shown_absent(variation: Variation | None) -> dict[str, tuple[str, ...]]:
    """Return the members by shape that a document may not require: answers may lack them."""
    if variation is None or "absent-fields" not in (variation.only or ("absent-fields",)):
        return {}
    return {name: found.may_lack for name, found in RESOURCES.items() if found.may_lack}


def _without(assumptions: Assumptions, before: Variation | None) -> Assumptions:
    """Return assumptions as they are without a variation; those changed since by hand stay so."""
    if before is None:
        return assumptions
    drawn = DEFAULTS.changed(before.assumed)
    back = {
        name: getattr(DEFAULTS, name)
        for name in before.assumed
        if getattr(assumptions, name) == getattr(drawn, name)
    }
    return assumptions.changed(back) if back else assumptions


def _put(change: Change, assumptions: Assumptions, variation: Variation | None) -> None:
    if assumptions != change.assumptions:
        change.put(ASSUMPTIONS, ONLY, assumptions)
    origin = change.get(ORIGIN, ONLY) or Origin()
    if variation is None:
        change.delete(VARIATION, ONLY)
        change.put(ORIGIN, ONLY, replace(origin, variation=None))
        return
    change.put(VARIATION, ONLY, variation)
    # What it assumes is drawn anew after a reset: the world may then begin with other assumptions.
    change.put(ORIGIN, ONLY, replace(origin, variation=replace(variation, assumed={})))
