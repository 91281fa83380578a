"""Control of what goes otherwise in a world: faults, outcomes, interventions and variation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, UnsetType

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.world_variation import unvary, variation_view, vary
from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.views import describe_kinds, fault_view
from hosting_emulator.http.endpoint import (
    Body,
    Context,
    ControlRefusal,
    Example,
    refused_as,
    require,
)
from hosting_emulator.messages import (
    FaultsRemoved,
    InterventionDone,
    JsonObject,
    VariationPoint,
    VariationState,
)
from hosting_emulator.variation import points
from hosting_emulator.variation.points import POINTS, VariationRefused
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world.population_parts import without_key_values
from hosting_emulator.world.records import Variation


def _defined(name: str) -> Meta:
    """Say in the OpenAPI document that a body is what the schema of scenarios calls by a name."""
    return Meta(extra_json_schema={"$ref": f"#/components/schemas/{name}"})


FaultDocument = Annotated[JsonObject, _defined("Fault")]
OutcomeDocument = Annotated[JsonObject, _defined("Outcome")]
InterventionDocument = Annotated[JsonObject, _defined("Intervention")]
#: Where answers vary, as the OpenAPI document lists it.
Point = Annotated[str, Meta(extra_json_schema={"enum": list(POINTS)})]


class NewVariation(Body):
    """How responses vary; `only` limits this to some points."""

    seed: str
    only: list[Point] | None = None


def list_faults(engine: Engine, family: RuleCategory = FAULT) -> list[JsonObject]:
    """List the armed faults, in the order they apply."""
    now_ms = engine.run_due()
    engine.protect()
    armed = faults_in_order(engine.world, family.table)
    return [
        fault_view(engine.world, fault, now_ms, engine.usage.of(fault.id))
        | ({"protected": True} if engine.is_protected(fault.id) else {})
        for fault in armed
    ]


def arm_fault(
    engine: Engine,
    body: Annotated[FaultDocument, Example({"abort": {"code": "rate_limited"}, "times": 1})],
    family: RuleCategory = FAULT,
) -> JsonObject:
    """Arm a fault, after those already armed. It is written as in a scenario."""
    change = engine.begin_change()
    with refused_as(400, f"{family.noun.capitalize()} refused", DocumentRefused):
        fault = arm(change, body, family)
    engine.commit(change, f"{fault.id} armed", {family.noun: body})
    return fault_view(engine.world, fault, change.now_ms, engine.usage.of(fault.id))


def show_fault(engine: Engine, fault: str, family: RuleCategory = FAULT) -> JsonObject:
    """Show an armed fault and its counts."""
    armed = {one["id"]: one for one in list_faults(engine, family)}
    detail = f"no {family.noun} is {fault[:80]!r}; armed are {', '.join(armed) or 'none'}"
    return require(armed.get(fault), f"No such {family.noun}", detail)


def remove_fault(engine: Engine, fault: str, family: RuleCategory = FAULT) -> None:
    """Remove a fault."""
    show_fault(engine, fault, family)
    if engine.is_protected(fault):
        message = f"{fault} is protected: the program that armed it removes it"
        raise ControlRefusal(409, "Not removed", message)
    change = engine.begin_change()
    change.delete(family.table, fault)
    engine.commit(change, f"{family.noun}s removed", {f"remove_{family.noun}": fault})


def clear_faults(engine: Engine, family: RuleCategory = FAULT) -> FaultsRemoved:
    """Remove all faults except protected ones, and return how many were removed."""
    change = engine.begin_change()
    armed = [
        f for f in faults_in_order(engine.world, family.table) if not engine.is_protected(f.id)
    ]
    for fault in armed:
        change.delete(family.table, fault.id)
    engine.commit(change, f"{family.noun}s removed", {f"clear_{family.noun}s": True})
    return FaultsRemoved(removed=len(armed))


def list_kinds() -> Any:
    """List every effect with its options, and every way to match and to count."""
    return describe_kinds()


def list_outcomes(engine: Engine) -> list[JsonObject]:
    """List the armed outcomes, in the order they apply."""
    return list_faults(engine, OUTCOME)


def arm_outcome(
    engine: Engine,
    body: Annotated[OutcomeDocument, Example({"fail": {"phase": "deploying"}, "project": "blog"})],
) -> JsonObject:
    """Set in advance how the next operation ends, after the outcomes already armed."""
    return arm_fault(engine, body, OUTCOME)


def show_outcome(engine: Engine, outcome: str) -> JsonObject:
    """Show an outcome and its counts."""
    return show_fault(engine, outcome, OUTCOME)


def remove_outcome(engine: Engine, outcome: str) -> None:
    """Remove an outcome. Operations that started with it still end that way."""
    remove_fault(engine, outcome, OUTCOME)


def clear_outcomes(engine: Engine) -> FaultsRemoved:
    """Remove all outcomes, and return how many there were."""
    return clear_faults(engine, OUTCOME)


def list_outcome_kinds() -> Any:
    """List every kind of outcome with its options, and the operations it can apply to."""
    return describe_kinds(OUTCOME)


def intervene(
    engine: Engine,
    body: Annotated[
        InterventionDocument, Example({"move_dns": {"project": "shop", "to": "revoked"}})
    ],
) -> InterventionDone:
    """Change a world from outside the contract, and return what was done; 409 if that is not possible now."""
    # Imported here: a first answer that shows a world is not to wait for it.
    from hosting_emulator.faults.interventions import read_intervention

    with refused_as(400, "Intervention refused", DocumentRefused):
        intervention = read_intervention(body)
    change = engine.begin_change()
    with refused_as(409, "Intervention refused", DocumentRefused):
        message = intervention.apply(change)
    name = next(iter(body))
    engine.commit(change, f"intervention {name}", {"intervene": without_key_values(body)})
    return InterventionDone(intervention=name, message=message)


def list_interventions() -> list[JsonObject]:
    """List every intervention with its fields."""
    from hosting_emulator.faults.interventions import describe_interventions

    return describe_interventions()


def get_variation(engine: Engine) -> VariationState | None:
    """Show how a world's responses vary; null if they do not."""
    return variation_view(engine)


def put_variation(
    engine: Engine, body: Annotated[NewVariation, Example({"seed": "7", "only": ["page-size"]})]
) -> VariationState | None:
    """Vary a world's responses from now on, also after a reset."""
    with refused_as(400, "Variation refused", VariationRefused):
        vary(engine, read_variation(body.seed, body.only))
    return variation_view(engine)


def delete_variation(engine: Engine) -> None:
    """Stop varying a world's responses. It is no error if they did not vary."""
    unvary(engine)


def list_points() -> list[VariationPoint]:
    """List the points at which responses can vary."""
    return points.list_points()


def variation_or_usual(
    context: Context, seed: str | UnsetType | None, only: Sequence[str] | None
) -> Variation | None:
    """Return how a new world varies: as asked (None: not at all), or as all do. Raises ControlRefusal 400."""
    if only is not None and not isinstance(seed, str):
        raise ControlRefusal(400, "Variation refused", "only needs vary: give a seed")
    if not isinstance(seed, str):
        return None if seed is None else context.facts.variation
    with refused_as(400, "Variation refused", VariationRefused):
        return read_variation(seed, only)
