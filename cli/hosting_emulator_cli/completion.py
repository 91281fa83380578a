"""What a shell is offered for a word: scenarios, calls, worlds, operations, and kinds of faults and more.

Nothing of it is imported before a shell asks. An emulator that is not there offers nothing, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.main import load

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hosting_emulator.sdk import ControlClient, HostingEmulator

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
#: Names of our own, as `module:attribute`; or what asks the running emulator and the line's world.
Source = str | Callable[["ControlClient", "HostingEmulator"], Iterable[str]]
#: How long a person at a prompt waits for an emulator, in real seconds.
_PATIENCE_S = 1.0


def _offers(*sources: Source, files: bool = False) -> Complete:
    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            names = [name for source in sources for name in _names(source, ctx)]
        except Exception:  # a prompt is no place for errors
            names = []
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return found + ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


def _names(source: Source, ctx: click.Context) -> Iterable[str]:
    if isinstance(source, str):
        found = load(source)
        return [*(found() if callable(found) else found)]
    from hosting_emulator_cli import options

    url = ctx.params.get("url") or options.default_url()
    token = ctx.params.get("control_token")
    with options.connected(url, token, timeout_s=_PATIENCE_S) as client:
        return [*source(client, client.world(ctx.params.get("world") or "default"))]


_LIBRARY = "hosting_emulator_cli.files:library_names"
SCENARIOS, SCENARIOS_AND_FILES = _offers(_LIBRARY), _offers(_LIBRARY, files=True)
CALLS = _offers(
    "hosting_emulator.contract.calls:ALL_CALLS", "hosting_emulator.contract.calls:DOORS"
)
FAULT_KINDS = _offers("hosting_emulator.faults.kinds:fault_kinds")
OUTCOME_KINDS = _offers("hosting_emulator.faults.outcomes:OUTCOME_KINDS")
INTERVENTIONS = _offers("hosting_emulator.interventions:INTERVENTIONS")
WORLDS = _offers(lambda client, _: (world["name"] for world in client.worlds()))
OPERATIONS = _offers(
    lambda client, world: (
        operation["id"] for operation in client.get(world.control_path("operations"))["items"]
    )
)
FAULTS = _offers(lambda _, world: (fault.state["id"] for fault in world.faults))
OUTCOMES = _offers(lambda _, world: (outcome.state["id"] for outcome in world.outcomes))
PROJECTS = _offers(lambda _, world: world.projects)
PEOPLE = _offers(lambda _, world: world.people)
#: Of options, by what help calls their value.
OPTIONS: dict[tuple[str, str | None], Complete] = {
    ("--call", "CALL"): CALLS,
    ("--call", "NAME"): CALLS,
    ("--calls", "CALL,..."): CALLS,
    ("--faults", "KIND,..."): FAULT_KINDS,
    ("--world", "NAME"): WORLDS,
    ("--scenario", "NAME|FILE"): SCENARIOS_AND_FILES,
    ("--until", "OPERATION"): OPERATIONS,
    ("--project", "PROJECT"): PROJECTS,
    ("--principal", "WHO"): PEOPLE,
    ("--as", "WHO"): PEOPLE,
    ("--who", "WHO"): PEOPLE,
}
