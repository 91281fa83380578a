"""The commands and options of the command line."""

from __future__ import annotations

from collections.abc import Sequence

import click

from hosting_emulator_cli.main import cli


def command_of(words: Sequence[str]) -> click.Command:
    """Return the command that the first words of a line name."""
    command: click.Command = cli
    for word in words:
        if not isinstance(command, click.Group):
            break
        subcommand = command.get_command(click.Context(command), word)
        if subcommand is None:
            break
        command = subcommand
    return command


def command_names() -> list[str]:
    """Return the names of all top-level commands and groups."""
    return cli.list_commands(click.Context(cli))


def options_of(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def option_names(command: click.Command) -> set[str]:
    """Return every spelling of the options of a command, the short ones too."""
    return {name for parameter in command.params for name in parameter.opts}


def all_option_names() -> set[str]:
    """Return every spelling of the options of all commands."""
    commands = [command_of([name]) for name in command_names()]
    for group in list(commands):
        if isinstance(group, click.Group):
            names = group.list_commands(click.Context(group))
            commands += [command_of([group.name or "", name]) for name in names]
    return {name for command in commands for name in option_names(command)}
