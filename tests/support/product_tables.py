"""Names in tables of the product, for tests that check that a command or a page shows all of them."""

from __future__ import annotations

from typing import Any

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.interventions import INTERVENTIONS
from hosting_emulator.variation.points import POINTS


def conduct_rules() -> dict[str, dict[str, Any]]:
    """Return the rules of conduct by their ids, as the control API shows them."""
    return {rule_id: dict(rule) for rule_id, rule in RULES.items()}


def intervention_words() -> list[str]:
    """Return the names of the interventions."""
    return list(INTERVENTIONS)


def variation_points() -> list[str]:
    """Return the ids of the points at which responses vary."""
    return list(POINTS)
