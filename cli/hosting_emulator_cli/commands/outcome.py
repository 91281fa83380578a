"""`outcome`: how the next operation ends, set in advance."""

from __future__ import annotations

from typing import Any

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.commands.fault import (
    armed_words,
    kinds_text,
    manage_commands,
    when_options,
    words,
    written_rule,
)
from hosting_emulator_cli.groups import CommandGroup
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.parameters import TYPED_VALUE


@click.group(cls=CommandGroup)
def outcome() -> None:
    """Set in advance how an operation ends: it fails, is stuck, waits for reconciliation."""


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
    """Set in advance how the next operation ends, and print the outcome's id."""
    return world.tell({kind: dict(taken), **written_rule(rule)}).state


manage_commands(
    outcome,
    {
        "EFFECT": lambda found: words(found).effect,
        "OF": lambda found: words(found).matches or "any operation",
        "WHEN": lambda found: words(found).conditions or "always",
    },
    completion.OUTCOMES,
)


@outcome.command()
@prints(kinds_text)
@opt.with_or_without_client
def kinds(ask: opt.Ask) -> Any:
    """List the kinds of outcomes, and what they match."""
    return ask(
        lambda client: client.contract("outcome-kinds"),
        "hosting_emulator.faults.documents:describe_outcome_kinds",
    )
