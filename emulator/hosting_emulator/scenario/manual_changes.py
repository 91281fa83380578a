"""Runs the steps that change the world, for example by moving the clock or arming a fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.explanations.operations import standstill
from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.scenario.source import Location
from hosting_emulator.world.tables import ASSUMPTIONS, FAULTS, OPERATIONS, SINGLETON_KEY

_Change = Mapping[str, Any]


class ManualChanges:
    """Makes a story's manual changes. Each method returns text for the step's report."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        #: For each fault or outcome that a step armed, the location of that step, by the fault's or
        #: outcome's id.
        self.armed_at: dict[str, Location] = {}

    def advance(self, duration: str) -> str:
        """Advance the world's clock by a duration such as `5m`."""
        self._engine.move_by(parse_duration_ms(duration))
        return f"time moved by {duration}"

    def move_to(self, timestamp: str) -> str:
        """Advance the world's clock to a timestamp."""
        self._engine.move_to(parse_timestamp(timestamp))
        return f"time moved to {timestamp}"

    def move_until_ended(self, operation_id: str) -> str:
        """Advance the world's clock until an operation ends.

        Raises ValueError if the operation does not exist or cannot end without an intervention.
        """
        engine = self._engine
        if engine.world.get(OPERATIONS, operation_id) is None:
            raise ValueError(f"there is no operation {operation_id}")
        if engine.move_until_ended(operation_id) is None:
            raise ValueError(standstill(engine, operation_id))
        operation = engine.world.tables[OPERATIONS.name][operation_id]
        return f"the operation ended in the state {operation.state}"

    def intervene(self, change_document: _Change, location: Location) -> str:
        """Apply an intervention to the world."""
        intervention = read_intervention(change_document["intervene"] or {})
        change = self._engine.begin_change()
        earlier_ids = {id_ for id_, _ in change.world.rows(FAULTS)}
        message = intervention.apply(change)
        self._engine.commit(change, "intervention", change_document)
        for id_, _ in self._engine.world.rows(FAULTS):
            if id_ not in earlier_ids:
                self.armed_at[id_] = location / "intervene"
        return message

    def arm(self, change_document: _Change, location: Location) -> str:
        """Arm a fault or an outcome, and return its new id."""
        ((noun, document),) = change_document.items()
        change = self._engine.begin_change()
        id_ = arm(change, document, _category(noun)).id
        self.armed_at[id_] = location / noun
        self._engine.commit(change, f"{noun} armed", change_document)
        return id_

    def remove(self, change_document: _Change) -> str:
        """Remove the fault or outcome with this id.

        Raises ValueError if no such fault or outcome is armed.
        """
        ((action, id_),) = change_document.items()
        category = _category(action.removeprefix("remove_"))
        noun = category.noun
        change = self._engine.begin_change()
        armed_ids = [entry.id for entry in faults_in_order(change.world, category.table)]
        if id_ not in armed_ids:
            raise ValueError(category.unknown_id_message(id_, armed_ids))
        change.delete(category.table, id_)
        self._engine.commit(change, f"{noun}s removed", change_document)
        return f"{id_} removed"

    def clear(self, change_document: _Change) -> str:
        """Remove all armed faults, or all armed outcomes."""
        (action,) = change_document
        category = _category(action.removeprefix("clear_").removesuffix("s"))
        noun = category.noun
        change = self._engine.begin_change()
        armed = faults_in_order(change.world, category.table)
        for entry in armed:
            change.delete(category.table, entry.id)
        self._engine.commit(change, f"{noun}s removed", change_document)
        plural = "" if len(armed) == 1 else "s"
        return f"{len(armed)} {noun}{plural} removed"

    def assume(self, change_document: _Change) -> str:
        """Change some of the world's assumptions."""
        changed = self._engine.world.assumptions.changed(change_document["assume"] or {})
        change = self._engine.begin_change()
        change.put(ASSUMPTIONS, SINGLETON_KEY, changed)
        self._engine.commit(change, "assumptions", change_document)
        return "assumptions changed"


def _category(noun: str) -> RuleCategory:
    return OUTCOME if noun == "outcome" else FAULT
