"""Checks whether this server can inject faults into the TLS handshake.

Such a fault can affect several worlds.
"""

from __future__ import annotations

from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.kinds import stage_of
from hosting_emulator.http.endpoint import Context, ControlRefusal
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.value import World


def check_handshake_faults(context: Context, world: World) -> None:
    """Refuse a world that contains a TLS handshake fault that `check_handshake_fault` would refuse.

    Raises ControlRefusal.
    """
    for fault in faults_in_order(world):
        check_handshake_fault(context, world.name, fault)


def check_handshake_fault(context: Context, world_name: str, fault: Fault) -> None:
    """Refuse a TLS handshake fault that cannot act on this server or would affect other worlds that
    are in use.

    Raises ControlRefusal.
    """
    if stage_of(fault) != "handshake":
        return
    if context.site.tls_port is None:
        message = (
            f"{fault.kind} acts at the TLS port, but this server has no TLS port: start it with "
            "--tls-port"
        )
        raise ControlRefusal(400, "Fault refused", message)
    if fault.rule.project is not None:
        return
    for engine in context.worlds:
        name = engine.world.name
        if name != world_name and engine.log.count > 0:
            message = (
                f"{fault.kind} without a project acts on every host of the TLS port, including those "
                f"of the world {name!r}, which is in use: name a project"
            )
            raise ControlRefusal(409, "Fault refused", message)
