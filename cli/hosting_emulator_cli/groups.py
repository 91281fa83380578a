"""How commands are found and how they fail: loaded when asked for, one clear line for an error.

It must not import a command, nor anything of the emulator, before that command is needed.
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


class CommandGroup(click.Group):
    """A group whose help lists its commands as they are written, not by the alphabet.

    `lazy` maps names to `module:attribute`: those modules are imported when first needed.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str] | None = None, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self._lazy = lazy or {}
        _set_examples_apart(self)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in their order."""
        return [*self._lazy, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, None if there is none of that name."""
        address = self._lazy.get(cmd_name)
        command = load(address) if address else self.commands.get(cmd_name)
        return command and _set_examples_apart(command)


class RootGroup(CommandGroup):
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
            # A group called bare: its help is the answer. (Click names this class from 8.2 on.)
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                _put_error(error.format_message())
            return error.exit_code
        except OSError as error:  # such as a full disk behind stdout
            _put_error(str(error.strerror or error).lower())
            return 2
        return result if isinstance(result, int) else 0


def _put_error(text: str) -> None:
    click.echo(f"Error: {' '.join(text.split())}", err=True)
