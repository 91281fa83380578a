"""Whether this server can carry out faults at the TLS handshake, which act on more than one world."""

from __future__ import annotations

from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.kinds import stage_of
from hosting_emulator.http.endpoint import Context, ControlRefusal
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.value import World


def check_handshake_faults(context: Context, world: World) -> None:
    """Refuse a world with faults at the TLS handshake that cannot act here. Raises ControlRefusal."""
    for fault in faults_in_order(world):
        check_handshake_fault(context, world.name, fault)


def check_handshake_fault(context: Context, world_name: str, fault: Fault) -> None:
    """Refuse a fault of a world that acts at the TLS handshake and cannot do so. Raises ControlRefusal."""
    if stage_of(fault) != "handshake":
        return
    if context.site.tls_port is None:
        message = (
            f"{fault.kind} acts at the TLS port, and this server has none: start it with --tls-port"
        )
        raise ControlRefusal(400, "Fault refused", message)
    if fault.rule.project is not None:
        return
    for engine in context.worlds:
        name = engine.world.name
        if name != world_name and engine.log.count > 0:
            message = (
                f"{fault.kind} without a project acts on every host of the TLS port, also for world "
                f"{name!r}, which is in use: name a project"
            )
            raise ControlRefusal(409, "Fault refused", message)
