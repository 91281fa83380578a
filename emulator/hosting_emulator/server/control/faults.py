"""Control of faults: arm, list, show, remove, clear; and what kinds there are."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.documents import FaultRefused, arm, describe_kinds, fault_view
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.tables import FAULTS
from hosting_emulator.world.value import Change


async def list_faults(context: Context, world: str) -> web.Response:
    """GET …/faults, in the order in which they are tried."""
    engine = context.engine(world)
    now_ms = engine.run_due()
    armed = faults_in_order(engine.world)
    return answers.json({"items": [fault_view(engine.world, fault, now_ms) for fault in armed]})


async def arm_fault(context: Context, world: str) -> web.Response:
    """POST …/faults: arm one, after those that are armed already."""
    engine = context.engine(world)
    document = await context.read(dict[str, Any])
    now_ms = engine.run_due()
    change = Change(engine.world, now_ms)
    try:
        fault = arm(change, document)
    except FaultRefused as error:
        raise ControlRefused(400, "Fault refused", str(error)) from None
    engine.commit(change, f"{fault.id} armed")
    return answers.json(fault_view(engine.world, fault, now_ms), 201)


async def show_fault(context: Context, world: str, fault: str) -> web.Response:
    """GET …/faults/{fault}."""
    engine = context.engine(world)
    now_ms = engine.run_due()
    return answers.json(fault_view(engine.world, _fault(engine, fault), now_ms))


async def remove_fault(context: Context, world: str, fault: str) -> web.Response:
    """DELETE …/faults/{fault}."""
    engine = context.engine(world)
    _remove(engine, [_fault(engine, fault)])
    return web.Response(status=204)


async def clear_faults(context: Context, world: str) -> web.Response:
    """DELETE …/faults: remove all; tells how many there were."""
    engine = context.engine(world)
    armed = faults_in_order(engine.world)
    _remove(engine, armed)
    return answers.json({"removed": len(armed)})


async def list_kinds(context: Context) -> web.Response:
    """GET /contract/fault-kinds: every effect with its options, every way to match and count."""
    return answers.json(describe_kinds())


def _fault(engine: Engine, fault_id: str) -> Fault:
    found = engine.world.get(FAULTS, fault_id)
    if found is None:
        armed = ", ".join(fault.id for fault in faults_in_order(engine.world)) or "none"
        raise ControlRefused(
            404, "No such fault", f"no fault is {fault_id[:80]!r}; armed are {armed}"
        )
    return found


def _remove(engine: Engine, faults: list[Fault]) -> None:
    now_ms = engine.run_due()
    change = Change(engine.world, now_ms)
    for fault in faults:
        change.delete(FAULTS, fault.id)
    engine.commit(change, "faults removed")
