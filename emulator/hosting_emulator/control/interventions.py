"""Endpoints that list interventions and apply them to a world."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.control.scenario_parts import InterventionDocument
from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.interventions import describe_interventions, read_intervention
from hosting_emulator.http.endpoint import (
    Example,
    refused_as,
)
from hosting_emulator.messages import (
    InterventionDone,
    InterventionRow,
)
from hosting_emulator.world.population_parts import without_key_values


def intervene(
    engine: Engine,
    body: Annotated[
        InterventionDocument, Example({"move_dns": {"project": "shop", "to": "revoked"}})
    ],
) -> InterventionDone:
    """Change a world in a way that is not possible through the public API, and describe the change.

    The status is 409 if the change is impossible in the world's current state.
    """
    with refused_as(400, "Intervention refused", DocumentRefused):
        intervention = read_intervention(body)
    change = engine.begin_change()
    with refused_as(409, "Intervention refused", DocumentRefused):
        message = intervention.apply(change)
    name = next(iter(body))
    engine.commit(change, f"intervention {name}", {"intervene": without_key_values(body)})
    return InterventionDone(intervention=name, message=message)


def list_interventions() -> list[InterventionRow]:
    """List all interventions with their fields."""
    return describe_interventions()
