"""Tables of the product, for tests that check whether a command, a page or a story covers all rows."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.faults.interventions import INTERVENTIONS
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world.lifecycles import LIFECYCLES


def conduct_rules() -> dict[str, dict[str, Any]]:
    """Return the rules of conduct by id, in the form that the control API uses."""
    return {rule_id: to_builtins(rule) for rule_id, rule in RULES.items()}


def intervention_words() -> list[str]:
    """Return the names of the interventions."""
    return list(INTERVENTIONS)


def intervention_fields() -> dict[str, tuple[str, ...]]:
    """Return the fields of each intervention."""
    return {word: kind.__struct_fields__ for word, kind in INTERVENTIONS.items()}


def lifecycles() -> dict[str, dict[str, frozenset[str]]]:
    """Return, for each lifecycle, its states and the possible next states of each state."""
    return {lifecycle.name: dict(lifecycle.transitions) for lifecycle in LIFECYCLES}


def variation_texts() -> dict[str, str]:
    """Return a description of what varies, for each point."""
    return {point_id: point.about for point_id, point in POINTS.items()}


def variation_points() -> list[str]:
    """Return the ids of the points at which responses vary."""
    return list(POINTS)
