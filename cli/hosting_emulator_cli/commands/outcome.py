"""`outcome`: how the next operation goes, told beforehand."""

from __future__ import annotations

from typing import Any

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.commands.fault import (
    armed_words,
    kinds_text,
    when_options,
    words,
    written_rule,
)
from hosting_emulator_cli.groups import CommandGroup
from hosting_emulator_cli.output import columns, prints, say
from hosting_emulator_cli.parameters import TYPED_VALUE


@click.group(cls=CommandGroup)
def outcome() -> None:
    """Tell beforehand how an operation goes: it fails, is stuck, waits for reconciliation."""


@outcome.command()
@click.argument("kind", shell_complete=completion.OUTCOME_KINDS)
@click.argument("taken", nargs=-1, metavar="[OPTION=VALUE]...", type=TYPED_VALUE)
@opt.option("--call CALL")
@opt.option("--project PROJECT")
@opt.option("--organization ORGANIZATION")
@opt.option("--principal WHO")
@when_options
@prints("{value[id]}", words=armed_words)
@opt.with_world
def add(
    world: opt.HostingEmulator, kind: str, taken: tuple[tuple[str, Any], ...], **rule: Any
) -> Any:
    """Tell beforehand how the next operation goes, and print the outcome's id."""
    return world.tell({kind: dict(taken), **written_rule(rule)}).state


@outcome.command("list")
@prints(
    columns(
        {
            "OUTCOME": "id",
            "TELLS": lambda found: words(found).effect,
            "OF": lambda found: words(found).matches or "any operation",
            "WHEN": lambda found: words(found).conditions or "always",
            "SEEN": "seen",
            "HITS": "hits",
            "SPENT": "spent",
        }
    )
)
@opt.with_world
def list_(world: opt.HostingEmulator) -> Any:
    """List the outcomes in the order in which they are tried."""
    return [told.state for told in world.outcomes]


@outcome.command()
@click.argument(
    "outcomes", nargs=-1, required=True, metavar="OUTCOME...", shell_complete=completion.OUTCOMES
)
@opt.with_world
def remove(world: opt.HostingEmulator, outcomes: tuple[str, ...]) -> None:
    """Remove outcomes."""
    for name in outcomes:
        world.remove_outcome(name)
        say(f"{name} is removed.")


@outcome.command()
@opt.with_world
def clear(world: opt.HostingEmulator) -> None:
    """Remove all outcomes of a world."""
    count = world.clear_outcomes()
    say(f"{count} {'outcome is' if count == 1 else 'outcomes are'} removed.")


@outcome.command()
@prints(kinds_text)
@opt.with_or_without_client
def kinds(ask: opt.Ask) -> Any:
    """List what can be told of an operation, and of which."""
    return ask(
        lambda client: client.contract("outcome-kinds"),
        "hosting_emulator.faults.documents:describe_outcome_kinds",
    )
