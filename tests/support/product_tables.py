"""Tables of the product, for tests that check that a command, a page or a story shows all of them."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.faults.interventions import INTERVENTIONS
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world.lifecycles import LIFECYCLES


def conduct_rules() -> dict[str, dict[str, Any]]:
    """Return the rules of conduct by their ids, as the control API shows them."""
    return {rule_id: to_builtins(rule) for rule_id, rule in RULES.items()}


def intervention_words() -> list[str]:
    """Return the names of the interventions."""
    return list(INTERVENTIONS)


def intervention_fields() -> dict[str, tuple[str, ...]]:
    """Return the fields of each intervention."""
    return {word: kind.__struct_fields__ for word, kind in INTERVENTIONS.items()}


def lifecycles() -> dict[str, dict[str, frozenset[str]]]:
    """Return the states of each lifecycle, each with the states that may follow it."""
    return {lifecycle.name: dict(lifecycle.transitions) for lifecycle in LIFECYCLES}


def variation_texts() -> dict[str, str]:
    """Return what varies at each point, in words."""
    return {point_id: point.about for point_id, point in POINTS.items()}


def variation_points() -> list[str]:
    """Return the ids of the points at which responses vary."""
    return list(POINTS)
