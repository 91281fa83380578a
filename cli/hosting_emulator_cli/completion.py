"""What a shell is offered for a word: scenarios, calls, worlds, operations, and kinds of faults and more.

Nothing of it is imported before a shell asks. An emulator that is not there offers nothing, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hosting_emulator.sdk import ControlClient, HostingEmulator

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
#: How long a person at a prompt waits for an emulator, in real seconds.
_PATIENCE_S = 1.0


def _offers(names: Callable[[click.Context], Iterable[str]], *, files: bool = False) -> Complete:
    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            found = [CompletionItem(name) for name in names(ctx) if name.startswith(incomplete)]
        except Exception:  # a prompt is no place for errors
            found = []
        return found + ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


def _scenarios(ctx: click.Context) -> Iterable[str]:
    from hosting_emulator_cli.files import library_names

    return library_names()


def _calls(ctx: click.Context) -> Iterable[str]:
    from hosting_emulator.contract.calls import ALL_CALLS
    from hosting_emulator.contract.doors import DOORS

    return (*ALL_CALLS, *DOORS)


def _fault_kinds(ctx: click.Context) -> Iterable[str]:
    from hosting_emulator.faults.kinds import fault_kinds

    return fault_kinds()


def _outcome_kinds(ctx: click.Context) -> Iterable[str]:
    from hosting_emulator.faults.outcomes import OUTCOME_KINDS

    return OUTCOME_KINDS


def _interventions(ctx: click.Context) -> Iterable[str]:
    from hosting_emulator.interventions import INTERVENTIONS

    return INTERVENTIONS


def _asked(names: Callable[[ControlClient, HostingEmulator], Iterable[str]]) -> Any:
    """Ask the running emulator, and the world that the line names."""

    def ask(ctx: click.Context) -> Iterable[str]:
        from hosting_emulator_cli import options

        given = ctx.params
        url = given.get("url") or options.default_url()
        token = given.get("control_token")
        with options.connected(url, token, timeout_s=_PATIENCE_S) as client:
            return [*names(client, client.world(given.get("world") or "default"))]

    return ask


SCENARIOS = _offers(_scenarios)
SCENARIOS_AND_FILES = _offers(_scenarios, files=True)
CALLS = _offers(_calls)
FAULT_KINDS = _offers(_fault_kinds)
OUTCOME_KINDS = _offers(_outcome_kinds)
INTERVENTIONS = _offers(_interventions)
WORLDS = _offers(_asked(lambda client, _: (world["name"] for world in client.worlds())))
OPERATIONS = _offers(
    _asked(
        lambda client, world: (
            operation["id"] for operation in client.get(world.control_path("operations"))["items"]
        )
    )
)
FAULTS = _offers(_asked(lambda _, world: (fault.state["id"] for fault in world.faults)))
OUTCOMES = _offers(_asked(lambda _, world: (told.state["id"] for told in world.outcomes)))
PROJECTS = _offers(_asked(lambda _, world: world.projects))
PEOPLE = _offers(_asked(lambda _, world: world.people))
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
