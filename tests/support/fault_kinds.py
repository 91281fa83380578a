"""Access to the kinds of faults and outcomes for tests of other packages."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from hosting_emulator.faults.categories import FAULT, OUTCOME, RULE_FIELDS
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.faults.outcomes import outcome_kinds

#: The two categories of entries that can be armed.
Noun = Literal["fault", "outcome"]
_FAMILIES = {"fault": FAULT, "outcome": OUTCOME}


def kinds_of_faults() -> set[str]:
    """Return the names of all kinds of faults."""
    return set(fault_kinds())


def kinds_that_lose_the_response() -> set[str]:
    """Return the kinds of faults after which no complete response arrives."""
    return {name for name, kind in fault_kinds().items() if not kind.delivers_response}


def fault_examples() -> dict[str, dict[str, Any]]:
    """Return example options for each kind of fault, in the order of the kinds."""
    return {name: dict(kind.example) for name, kind in fault_kinds().items()}


def outcome_examples() -> dict[str, dict[str, Any]]:
    """Return example options for each kind of outcome, in the order of the kinds."""
    return {name: dict(kind.example) for name, kind in outcome_kinds().items()}


def rule_fields() -> tuple[str, ...]:
    """Return the fields that decide which requests a fault or outcome matches, and when it acts."""
    return RULE_FIELDS


def kind_of_entry(noun: Noun, entry: dict[str, Any]) -> str:
    """Return the kind of a fault or outcome in the form used in scenarios."""
    return next(name for name in entry if name in _FAMILIES[noun].kinds)


def differs_without_option(noun: Noun, kind: str, options: dict[str, Any], option: str) -> bool:
    """Return whether a fault or outcome is still valid without an option, but has another meaning."""
    kind_type = _FAMILIES[noun].kinds[kind]
    other_options = {name: value for name, value in options.items() if name != option}
    try:
        without_option = msgspec.convert(other_options, kind_type)
    except msgspec.ValidationError:
        return False
    return without_option != msgspec.convert(options, kind_type)
