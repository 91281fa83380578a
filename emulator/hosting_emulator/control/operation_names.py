"""Finds operations by id, and formats their titles."""

from __future__ import annotations

from hosting_emulator.http.endpoint import require
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import World


def require_operation(world: World, operation_id: str) -> Operation:
    """Return the operation with the given id.

    Raises ControlRefusal 404 if the world has no such operation.
    """
    operation = world.get(OPERATIONS, operation_id)
    detail = f"this world has no operation {operation_id[:40]!r}"
    return require(operation, "No such operation", detail)


def operation_title(world: World, operation: Operation) -> str:
    """Return an operation's kind and project, such as `apply project domains of shop`."""
    project = alias_of(world, PROJECTS, operation.project_id)
    return f"{operation.kind.replace('_', ' ')} of {project}"
