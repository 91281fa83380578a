"""Finds operations by id, and formats their titles."""

from __future__ import annotations

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.http.endpoint import require
from hosting_emulator.world.naming import alias_of, id_of
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import World


def require_operation(world: World, operation_id: str) -> Operation:
    """Return the operation with this id.

    Raises ControlRefusal 404 if the world has no such operation.
    """
    operation = world.get(OPERATIONS, operation_id)
    detail = f"this world has no operation {operation_id[:40]!r}"
    return require(operation, "No such operation", detail)


def require_operation_of(world: World, name: str) -> Operation:
    """Return the operation with this id, or an operation of the project with this alias or id.

    For a project, this is the operation that holds the project's mutation claim or, if no operation
    is in progress, the project's latest operation. Raises ControlRefusal 404 if there is no such
    operation.
    """
    operation = world.get(OPERATIONS, name)
    if operation is not None:
        return operation
    project = world.get(PROJECTS, id_of(world, PROJECTS, name))
    if project is None:
        hint = nearest(name, [row.alias for _, row in world.rows(PROJECTS)])
        detail = f"this world has no operation and no project {name[:40]!r}{hint}"
        return require(None, "No such operation", detail)
    if project.claim is not None:
        return require_operation(world, project.claim)
    operations = [row for _, row in world.rows(OPERATIONS) if row.project_id == project.id]
    latest = max(operations, key=lambda row: (row.created_ms, row.id), default=None)
    return require(latest, "No such operation", f"project {project.alias} has no operation")


def operation_title(world: World, operation: Operation) -> str:
    """Return an operation's kind and project, for example `apply project domains of shop`."""
    project = alias_of(world, PROJECTS, operation.project_id)
    return f"{operation.kind.replace('_', ' ')} of {project}"
