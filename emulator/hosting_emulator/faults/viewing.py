"""Showing armed faults as they are written, with their counts."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.tables import FAULTS, PEOPLE, PROJECTS
from hosting_emulator.world.value import World

_SHOWN = ("call", "method", "path", "header", "times", "skip_first", "every", "probability")
_PLAIN = {"skip_first": 0, "every": 1, "probability": 1.0}


def fault_view(world: World, fault: Fault, now_ms: int) -> dict[str, Any]:
    """Return a fault: its effect by name, its match and counts, and whether it can still act."""
    effect = msgspec.to_builtins(fault.effect)
    kind = effect.pop("kind")
    shown: dict[str, Any] = {"id": fault.id, "order": fault.order, kind: effect}
    for name in _SHOWN:
        value = getattr(fault, name)
        if value is not None and value != _PLAIN.get(name):
            shown[name] = value
    project = world.get(PROJECTS, fault.project) if fault.project else None
    person = world.get(PEOPLE, fault.principal) if fault.principal else None
    if project:
        shown["project"] = project.alias
    if person:
        shown["principal"] = person.alias
    for name, moment in (("from", fault.from_ms), ("until", fault.until_ms)):
        if moment is not None:
            shown[name] = format_timestamp(moment)
    return {
        **shown,
        "phase": fault.phase,
        "armed_at": format_timestamp(fault.armed_ms),
        "seen": fault.seen,
        "hits": fault.hits,
        "spent": spent(fault, now_ms),
    }


def spent(fault: Fault, now_ms: int) -> bool:
    """Tell whether a fault can no longer act."""
    used_up = fault.times is not None and fault.hits >= fault.times
    return used_up or (fault.until_ms is not None and now_ms >= fault.until_ms)


def faults_in_order(world: World) -> list[Fault]:
    """Return a world's faults in the order in which they are tried."""
    return sorted((fault for _, fault in world.rows(FAULTS)), key=lambda fault: fault.order)
