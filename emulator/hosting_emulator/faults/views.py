"""Faults and outcomes as the control API shows them, and the catalogue of their kinds."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.faults.categories import (
    FAULT,
    OUTCOME,
    RECORD_TABLES,
    RULE_FIELDS,
    RuleCategory,
)
from hosting_emulator.faults.decisions import is_spent
from hosting_emulator.faults.outcomes import OUTCOME_KINDS
from hosting_emulator.faults.usage import EntryUsage, unused_reason
from hosting_emulator.world.fault_records import Condition, Fault, Rule
from hosting_emulator.world.value import World

#: What is matched; the others say when it acts.
_MATCHES = RULE_FIELDS[: RULE_FIELDS.index("times")]


def fault_view(
    world: World, fault: Fault, now_ms: int, usage: EntryUsage | None = None
) -> dict[str, Any]:
    """Return a fault: its effect by name, its match and counts, and whether it can still act.

    `usage` has the counts that are stored beside the world. With it, `unused` says why the fault has
    never acted, and is null once it has.
    """
    rule: dict[str, Any] = msgspec.to_builtins(fault.rule)
    # These fields follow the others, in the form that people write.
    later_fields = (*RECORD_TABLES, "from", "until", "phase", "optional")
    fields = {name: rule[name] for name in RULE_FIELDS if name in rule and name not in later_fields}
    for field, table in RECORD_TABLES.items():
        record = world.get(table, rule.get(field, ""))
        if record is not None:
            fields[field] = record.alias
    fields |= {name: rule[name] for name in ("from", "until") if name in rule}
    if fault.kind not in OUTCOME_KINDS:
        fields["phase"] = fault.rule.phase
    if fault.rule.optional:
        fields["optional"] = True
    return {
        "id": fault.id,
        "order": fault.order,
        fault.kind: fault.options,
        **fields,
        "armed_at": format_timestamp(fault.armed_ms),
        **({"considered": usage.considered} if usage is not None else {}),
        "seen": fault.seen,
        "hits": fault.hits,
        "spent": is_spent(fault, now_ms),
        **({"unused": unused_reason(usage, world, fault, now_ms)} if usage is not None else {}),
    }


def describe_outcome_kinds() -> dict[str, Any]:
    """Return the catalogue of the kinds of outcomes."""
    return describe_kinds(OUTCOME)


def describe_kinds(category: RuleCategory = FAULT) -> dict[str, Any]:
    """Return effects (with options and an example), matches and conditions, and those on the world."""
    rule = {name: about for name, about in _abouts(Rule).items() if name in category.fields}
    return {
        "effects": [
            {
                "kind": name,
                "about": " ".join((kind.__doc__ or "").split()),
                "options": [field.encode_name for field in msgspec.structs.fields(kind)],
                "example": dict(kind.example),
            }
            for name, kind in category.kinds.items()
        ],
        "matches": {name: about for name, about in rule.items() if name in _MATCHES},
        "conditions": {name: about for name, about in rule.items() if name not in _MATCHES},
        "while": _abouts(Condition),
    }


def _abouts(kind: type[Rule | Condition]) -> dict[str, str]:
    return {
        field.encode_name: field.type.__metadata__[-1].description
        for field in msgspec.structs.fields(kind)
    }
