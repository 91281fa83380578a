"""Control of what goes otherwise in a world: faults, interventions and variation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web
from msgspec import UnsetType

from hosting_emulator.contract.words import DocumentRefused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.worlds import unvary, variation_view, vary
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.documents import arm, describe_kinds, fault_view
from hosting_emulator.server import answers
from hosting_emulator.server.answers import Created
from hosting_emulator.server.control.context import Body, Context, ControlRefusal, found, refused_as
from hosting_emulator.variation.points import POINTS, VariationRefused
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.records import Variation
from hosting_emulator.world.tables import FAULTS
from hosting_emulator.world.value import Change


class NewVariation(Body):
    """Body of `PUT …/variation`. `only` are the points that it is confined to."""

    seed: str
    only: list[str] | None = None


def list_faults(engine: Engine) -> dict[str, Any]:
    """GET …/faults, in the order in which they are tried."""
    now_ms = engine.run_due()
    armed = faults_in_order(engine.world)
    return {"items": [fault_view(engine.world, fault, now_ms) for fault in armed]}


def arm_fault(engine: Engine, body: dict[str, Any]) -> Created:
    """POST …/faults: arm one, after those that are armed already."""
    now_ms = engine.run_due()
    change = Change(engine.world, now_ms)
    with refused_as(400, "Fault refused", DocumentRefused):
        fault = arm(change, body)
    engine.commit(change, f"{fault.id} armed")
    return Created(fault_view(engine.world, fault, now_ms))


def show_fault(engine: Engine, fault: str) -> dict[str, Any]:
    """GET …/faults/{fault}."""
    now_ms = engine.run_due()
    return fault_view(engine.world, _find_fault(engine, fault), now_ms)


def remove_fault(engine: Engine, fault: str) -> None:
    """DELETE …/faults/{fault}."""
    _remove(engine, [_find_fault(engine, fault)])


def clear_faults(engine: Engine) -> dict[str, int]:
    """DELETE …/faults: remove all; tells how many there were."""
    armed = faults_in_order(engine.world)
    _remove(engine, armed)
    return {"removed": len(armed)}


def list_kinds() -> Any:
    """GET /contract/fault-kinds: every effect with its options, every way to match and count."""
    return describe_kinds()


def _find_fault(engine: Engine, fault_id: str) -> Fault:
    armed = ", ".join(fault.id for fault in faults_in_order(engine.world)) or "none"
    detail = f"no fault is {fault_id[:80]!r}; armed are {armed}"
    return found(engine.world.get(FAULTS, fault_id), "No such fault", detail)


def _remove(engine: Engine, faults: list[Fault]) -> None:
    change = Change(engine.world, engine.run_due())
    for fault in faults:
        change.delete(FAULTS, fault.id)
    engine.commit(change, "faults removed")


# --- interventions -------------------------------------------------------------------------------


def intervene(engine: Engine, body: dict[str, Any]) -> dict[str, str]:
    """POST …/interventions: `{"stick_operation": {"project": "shop"}}`. Says what it did."""
    # Imported here: a first answer that shows a world is not to wait for it.
    from hosting_emulator.interventions import read_intervention

    with refused_as(400, "Intervention refused", DocumentRefused):
        intervention = read_intervention(body)
    change = Change(engine.world, engine.run_due())
    with refused_as(409, "Intervention refused", DocumentRefused):
        message = intervention.apply(change)
    name = next(iter(body))
    engine.commit(change, f"intervention {name}")
    return {"intervention": name, "said": message}


def list_interventions() -> dict[str, Any]:
    """GET /contract/interventions: every intervention with its fields."""
    from hosting_emulator.interventions import describe_interventions

    return {"items": describe_interventions()}


# --- variation -----------------------------------------------------------------------------------


def get_variation(engine: Engine) -> web.Response:
    """GET …/variation: null for a world that answers as usual."""
    return answers.json(variation_view(engine))


def put_variation(engine: Engine, body: NewVariation) -> dict[str, Any] | None:
    """PUT …/variation: from now on the world's answers vary, also after a reset."""
    vary(engine, _read_variation(body.seed, body.only))
    return variation_view(engine)


def delete_variation(engine: Engine) -> None:
    """DELETE …/variation: the world answers as usual again; that it did already is no error."""
    unvary(engine)


def list_points() -> dict[str, Any]:
    """GET /contract/variation-points."""
    return {"items": [point._asdict() for point in POINTS.values()]}


def _read_variation(seed: str, only: Sequence[str] | None) -> Variation:
    with refused_as(400, "Variation refused", VariationRefused):
        return read_variation(seed, only)


def variation_or_usual(
    context: Context, seed: str | UnsetType | None, only: Sequence[str] | None
) -> Variation | None:
    """Return how a new world is to vary: as asked for, or as all worlds of this process do.

    A `seed` of None says: not at all. Raises ControlRefusal 400.
    """
    if only is not None and not isinstance(seed, str):
        raise ControlRefusal(400, "Variation refused", "only belongs to vary: give a seed as well")
    if isinstance(seed, str):
        return _read_variation(seed, only)
    return None if seed is None else context.facts.variation
