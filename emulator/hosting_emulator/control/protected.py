"""Endpoints for protected faults, which a judge adds to worlds and which no client can remove."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.control.scenario_parts import (
    FaultDocument,
    InterventionDocument,
    OutcomeDocument,
)
from hosting_emulator.engine.engine import Engine
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
    """The protected fault to add, given as exactly one of `fault`, `outcome` and `intervention`.

    `worlds` contains the names of the worlds that get the fault, or is null for all worlds that are
    kept only in memory. Copies of these worlds that are kept only in memory get it too.
    """

    fault: FaultDocument | None = None
    outcome: OutcomeDocument | None = None
    intervention: InterventionDocument | None = None
    worlds: list[str] | None = None


def protect_fault(
    context: Context,
    body: Annotated[NewProtectedFault, Example({"fault": {"timeout": {}, "times": 1}})],
) -> ProtectedFaultState:
    """Apply a fault, an outcome or an intervention to worlds, and keep it in effect.

    By default, every world that is kept only in memory gets the protected fault, including worlds
    that are created later. It is restored after a reset, a scenario load, a state import, a rewind
    and the removal of faults. All worlds share its counts.

    A world that is stored on disk never gets a protected fault or outcome. If such a world is a copy
    of a world in memory, the copy leaves them out, but keeps the effects of interventions.
    """
    documents = {kind: getattr(body, kind) for kind in KINDS}
    kinds = [kind for kind, document in documents.items() if document is not None]
    if len(kinds) != 1:
        message = f"give exactly one of {', '.join(KINDS)}"
        raise ControlRefusal(400, "Bad request", message)
    kind = kinds[0]
    engines = list(context.worlds)
    if body.worlds:
        engines = [context.engine(name) for name in body.worlds]
        for engine in engines:
            _check_temporary(engine)
    with refused_as(400, f"{kind.capitalize()} refused", DocumentRefused):
        protected = context.worlds.protected.add(
            kind, documents[kind], body.worlds, engines[0].world
        )
    for engine in engines:
        engine.protect()
    return _state(protected)


def _check_temporary(engine: Engine) -> None:
    """Raise ControlRefusal 409 for a world that is stored on disk, because a protected fault must
    not be stored.
    """
    if engine.protected is None:
        name = engine.world.name
        message = f"world {name!r} is kept on disk: a protected fault needs a temporary world"
        raise ControlRefusal(409, "Not protected", message)


def show_protected_fault(context: Context, protected_fault: str) -> ProtectedFaultState:
    """Show a protected fault, with its counts totaled over all worlds."""
    return _state(_find_protected(context, protected_fault))


def remove_protected_fault(context: Context, protected_fault: str) -> None:
    """Remove a protected fault from all worlds. The effects of an intervention remain."""
    protected = _find_protected(context, protected_fault)
    context.worlds.protected.remove(protected)
    if protected.fault is None:
        return
    for engine in context.worlds:
        if engine.world.get(protected.family.table, protected.id) is not None:
            change = engine.begin_change()
            change.delete(protected.family.table, protected.id)
            engine.commit(change, "protected fault removed")


def _find_protected(context: Context, id_: str) -> ProtectedFault:
    """Return the protected fault with this id. Raises ControlRefusal 404 if there is none."""
    protected = context.worlds.protected.get(id_)
    return require(
        protected, "No such protected fault", f"there is no protected fault {id_[:80]!r}"
    )


def _state(protected: ProtectedFault) -> ProtectedFaultState:
    worlds = None
    if protected.names is not None:
        worlds = sorted(protected.names)
    # For an intervention, both counts are the number of worlds to which it has been applied.
    seen = protected.applied
    hits = protected.applied
    if protected.fault is not None:
        seen = protected.fault.seen
        hits = protected.fault.hits
    return ProtectedFaultState(
        id=protected.id, worlds=worlds, kind=protected.kind, seen=seen, hits=hits
    )
