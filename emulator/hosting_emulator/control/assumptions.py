"""Endpoints that list and change a world's assumptions."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.contract.assumption_table import describe
from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import Example, refused_as
from hosting_emulator.messages import AssumptionRow, JsonObject
from hosting_emulator.world.tables import ASSUMPTIONS, SINGLETON_KEY


def list_assumptions(engine: Engine) -> list[AssumptionRow]:
    """List the assumptions that a world makes where the contract is silent."""
    return _rows(engine.world.assumptions)


def patch_assumptions(
    engine: Engine,
    # The members of the body have the same names and types as the fields of Assumptions.
    body: Annotated[JsonObject, Example({"default_page_size": 5})],
) -> list[AssumptionRow]:
    """Change the assumptions in the body, and list all assumptions."""
    with refused_as(400, "Assumption refused", AssumptionRefused):
        assumptions = engine.world.assumptions.changed(body)
    change = engine.begin_change()
    change.put(ASSUMPTIONS, SINGLETON_KEY, assumptions)
    engine.commit(change, "assumptions", {"assume": body})
    return _rows(assumptions)


def _rows(assumptions: Assumptions) -> list[AssumptionRow]:
    return [AssumptionRow(**row) for row in describe(assumptions)]
