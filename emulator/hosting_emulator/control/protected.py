"""Control of protected faults: what a judge puts into all worlds, and no client can remove."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.control.faults import (
    FaultDocument,
    InterventionDocument,
    OutcomeDocument,
)
from hosting_emulator.engine.protection import KINDS, ProtectedFault
from hosting_emulator.http.endpoint import (
    Body,
    Context,
    ControlRefusal,
    Example,
    refused_as,
    require,
)
from hosting_emulator.messages import ProtectedFaultState


class NewProtectedFault(Body):
    """One of `fault`, `outcome` and `intervention`; `worlds` by name with their copies, or null for all."""

    fault: FaultDocument | None = None
    outcome: OutcomeDocument | None = None
    intervention: InterventionDocument | None = None
    worlds: list[str] | None = None


def protect_fault(
    context: Context,
    body: Annotated[NewProtectedFault, Example({"fault": {"timeout": {}, "times": 1}})],
) -> ProtectedFaultState:
    """Arm a fault or outcome, or intervene, in every world, and keep it there.

    It returns after a reset, a scenario load, a state import, a rewind and the removal of faults.
    Worlds that are created later have it too. All worlds share its counts. A world that is kept on
    disk never has one.
    """
    documents = {kind: getattr(body, kind) for kind in KINDS}
    kinds = [kind for kind, document in documents.items() if document is not None]
    if len(kinds) != 1:
        message = f"give exactly one of {', '.join(KINDS)}"
        raise ControlRefusal(400, "Bad request", message)
    kind = kinds[0]
    engines = [context.engine(name) for name in body.worlds or ()] or list(context.worlds)
    kept = [engine.world.name for engine in engines if engine.protected is None]
    if body.worlds and kept:
        message = f"world {kept[0]!r} is kept on disk: a protected fault needs a temporary world"
        raise ControlRefusal(409, "Not protected", message)
    with refused_as(400, f"{kind.capitalize()} refused", DocumentRefused):
        protected = context.worlds.protected.add(
            kind, documents[kind], body.worlds, engines[0].world
        )
    for engine in engines:
        engine.protect()
    return _view(protected)


def show_protected_fault(context: Context, protected_fault: str) -> ProtectedFaultState:
    """Show a protected fault with its counts over all worlds."""
    return _view(_find(context, protected_fault))


def remove_protected_fault(context: Context, protected_fault: str) -> None:
    """Remove a protected fault from all worlds. What an intervention did stays."""
    protected = _find(context, protected_fault)
    context.worlds.protected.remove(protected)
    if protected.fault is None:
        return
    for engine in context.worlds:
        if engine.world.get(protected.family.table, protected.id) is not None:
            change = engine.begin_change()
            change.delete(protected.family.table, protected.id)
            engine.commit(change, "protected fault removed")


def _find(context: Context, id_: str) -> ProtectedFault:
    protected = context.worlds.protected.get(id_)
    return require(protected, "No such protected fault", f"no protected fault is {id_[:80]!r}")


def _view(protected: ProtectedFault) -> ProtectedFaultState:
    fault = protected.fault
    return ProtectedFaultState(
        id=protected.id,
        worlds=None if protected.names is None else sorted(protected.names),
        kind=protected.kind,
        seen=protected.applied if fault is None else fault.seen,
        hits=protected.applied if fault is None else fault.hits,
    )
