"""Implements `operations`, which lists operations and what each one is waiting for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.tables import columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hosting_emulator.sdk import HostingEmulator, OperationState


def _age_text(operation: OperationState) -> str:
    from hosting_emulator.contract.durations import format_duration

    return format_duration(operation.age_ms)


def _state_text(operation: OperationState) -> str:
    return f"{operation.state}, stuck" if operation.stuck else operation.state


_operation_columns = columns(
    ("OPERATION", "id"),
    "kind",
    "project",
    ("STATE", _state_text),
    "phase",
    ("AGE", _age_text),
    ("WAITS FOR", "wait_reason"),
)


def _operations_text(operations: Sequence[OperationState]) -> str:
    if not operations:
        return "There are no matching operations."
    return _operation_columns(operations)


@click.command(
    cls=HelpCommand,
    epilog=examples(
        """
        hosting-emulator operations
        hosting-emulator operations --unfinished --project shop
        hosting-emulator operations --json
        """
    ),
)
@opt.flag("--unfinished", help="List only operations that have not ended.")
@opt.option(
    "--project", metavar="PROJECT", help=("List only operations of this project, by alias or id.")
)
@opt.limit_option(default=20)
@prints(_operations_text)
@opt.with_world
def operations(
    world: HostingEmulator, unfinished: bool, project: str | None, limit: int
) -> list[OperationState]:
    """List the latest operations, and what each one is waiting for.

    PHASE is how far an operation has come: queued, building, deploying, verifying or done. AGE is
    the world time since the operation was created. WAITS FOR is what must happen before the
    operation continues (`-` if it has ended). Only the operation that holds a
    project's mutation claim can advance; the project's other unfinished operations wait for the
    claim. `why` explains an operation in detail, and prints commands that advance it.
    """
    return world.operations(unfinished=unfinished, project=project)[-limit:]
