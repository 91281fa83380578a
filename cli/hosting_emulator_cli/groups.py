"""How commands are found and how they fail: loaded when asked for, one clear line for an error.

It must not import a command, nor anything of the emulator, before that command is wanted.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click


class Failure(click.ClickException):
    """Ends a command with one line on stderr and exit code 2."""

    exit_code = 2


def load(address: str) -> Any:
    """Import what `module:attribute` names."""
    module, _, attribute = address.partition(":")
    return getattr(import_module(module), attribute)


def _set_examples_apart(command: click.Command) -> click.Command:
    text, mark, lines = cleandoc(command.help or "").partition("\n\nExamples:\n")
    if mark:  # `\b`: Click leaves the lines as they are
        command.help, command.epilog = text, f"\b\nExamples:\n{lines}"
    return command


class LazyGroup(click.Group):
    """A group that imports a command's module when that command is first needed.

    `lazy` maps each name to `module:attribute`, in the order in which help lists them.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str], **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self._lazy = lazy
        _set_examples_apart(self)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the table."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, None if there is none of that name."""
        address = self._lazy.get(cmd_name)
        if address is None:
            return None
        command = load(address)
        assert isinstance(command, click.Command)
        return _set_examples_apart(command)


class OrderedGroup(click.Group):
    """A group whose help lists its commands as they are written, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order they were added."""
        return list(self.commands)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command; the examples of its docstring stand at the end of its help."""
        super().add_command(_set_examples_apart(cmd), name)


class RootGroup(LazyGroup):
    """The whole command line: any error is exactly one line, `Error: …`, and exit code 2."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line and exit: 0, 2 for an error, 130 after Ctrl-C."""
        # Click by itself would print usage and a hint around the message.
        if kwargs.get("standalone_mode", True):
            sys.exit(self._exit_code(*args, **{**kwargs, "standalone_mode": False}))
        return super().main(*args, **kwargs)

    def _exit_code(self, *args: Any, **kwargs: Any) -> int:
        try:
            result = super().main(*args, **kwargs)
        except click.exceptions.Abort:
            return 130
        except click.ClickException as error:
            if _is_call_for_help(error):
                error.show()
            else:
                click.echo(f"Error: {one_line(error.format_message())}", err=True)
            return error.exit_code
        except OSError as error:  # such as a full disk behind stdout
            click.echo(f"Error: {one_line(str(error.strerror or error)).lower()}", err=True)
            return 2
        return result if isinstance(result, int) else 0


def _is_call_for_help(error: click.ClickException) -> bool:
    # A group called bare: its help is the useful answer. (Click names this class from 8.2 on.)
    return type(error).__name__ == "NoArgsIsHelpError"


def one_line(text: str) -> str:
    """Join text that was wrapped or listed over several lines into one."""
    return " ".join(text.split())
