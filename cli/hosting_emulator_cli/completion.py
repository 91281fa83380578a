"""Completes names in the shell, from this installation or from the running emulator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli.connection import connected
from hosting_emulator_cli.main import load

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hosting_emulator.sdk import ControlClient, HostingEmulator

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
#: A source of names. A string is the import path (`module:attribute`) of a table or of a function
#: that returns a table. A function receives a client and the world that the command line selects,
#: and returns the names.
Source = str | Callable[["ControlClient", "HostingEmulator"], Iterable[str]]
#: How long completion waits for an emulator, in real seconds.
_PATIENCE_S = 1.0


def _completion(*sources: Source, files: bool = False) -> Complete:
    def names(params: Mapping[str, Any]) -> Iterator[str]:
        for source in sources:
            if isinstance(source, str):
                table = load(source)
                if callable(table):
                    table = table()
                yield from table
                continue
            token = params.get("control_token")
            with connected(params.get("url"), token, timeout_s=_PATIENCE_S) as client:
                yield from source(client, client.world(params.get("world") or "default"))

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        items = []
        with suppress(Exception):  # an error would garble the user's prompt
            items = [
                CompletionItem(name) for name in names(ctx.params) if name.startswith(incomplete)
            ]
        if files:
            items.append(CompletionItem(incomplete, type="file"))
        return items

    return complete


def _operation_ids(_: ControlClient, world: HostingEmulator) -> list[str]:
    operations = world.control.get(world.control_path("operations"))["items"]
    return [operation["id"] for operation in operations]


_LIBRARY = "hosting_emulator_cli.scenario_files:library_names"
SCENARIOS = _completion(_LIBRARY)
SCENARIOS_AND_FILES = _completion(_LIBRARY, files=True)
CALLS = _completion(
    "hosting_emulator.contract.calls:ALL_CALLS", "hosting_emulator.contract.calls:DOORS"
)
FAULT_KINDS = _completion("hosting_emulator.faults.kinds:fault_kinds")
OUTCOME_KINDS = _completion("hosting_emulator.faults.outcomes:outcome_kinds")
INTERVENTIONS = _completion("hosting_emulator.faults.interventions:INTERVENTIONS")
WORLDS = _completion(lambda client, _: (world.name for world in client.worlds()))
OPERATIONS = _completion(_operation_ids)
FAULTS = _completion(lambda _, world: (fault.id for fault in world.faults))
OUTCOMES = _completion(lambda _, world: (outcome.id for outcome in world.outcomes))
PROJECTS = _completion(lambda _, world: world.projects)
USERS = _completion(lambda _, world: world.users)
