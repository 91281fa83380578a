"""How commands are found, described and fail: loaded when asked for, one clear line for an error.

It must not import a command, nor anything of the emulator, before that command is needed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from textwrap import indent
from typing import Any

import click

PROGRAM = "hosting-emulator"
#: Help fits into a terminal of so many columns.
_HELP_WIDTH = 80


class Failure(click.ClickException):
    """Ends a command with one line on stderr and exit code 2."""

    exit_code = 2


def load(address: str) -> Any:
    """Import what `module:attribute` names."""
    module, _, attribute = address.partition(":")
    return getattr(import_module(module), attribute)


@cache
def _sections() -> dict[str, str]:
    text = Path(__file__).with_name("commands.md").read_text("utf-8")
    return dict(section.split("\n", 1) for section in text.split("\n## ")[1:])


def _items(section: str) -> dict[str, str]:
    found = re.findall(r"^- `(--[^`]+)`: (.*(?:\n  .*)*)", section, re.MULTILINE)
    return {flag: text.replace("\n  ", " ") for flag, text in found}


def _describe(command: click.Command, path: str) -> click.Command:
    """Give a command and its options the help that `commands.md` has for them."""
    section = _sections().get(path, "")
    text, _, examples = section.partition("\n```bash\n")
    prose = re.split(r"^- `", text, maxsplit=1, flags=re.MULTILINE)[0].strip()
    # `\b`: Click leaves the lines as they are.
    prose = re.sub(r"```text\n(.*?)\n```", lambda found: _as_is(found[1]), prose, flags=re.DOTALL)
    command.help = "\n\n".join(filter(None, [cleandoc(command.help or ""), prose]))
    if examples:
        lines = map(_typed_in_lines, examples.partition("\n```")[0].splitlines())
        command.epilog = _as_is("\n".join(lines), "Examples:\n")
    own, common = _items(text), _items(_sections()["Options in common"])
    for option in command.params:
        if isinstance(option, click.Option) and option.help is None:
            option.help = own.get(option.opts[-1], common.get(option.opts[-1]))
    return command


def _as_is(lines: str, title: str = "") -> str:
    return f"\b\n{title}{indent(lines, '  ')}"


def _typed_in_lines(line: str) -> str:
    """Break a long command line as one types it: before an option, with a backslash."""
    if len(line) <= _HELP_WIDTH - 4:
        return line
    lines = [""]
    for word in re.findall(r"""\s*(?:--[\w-]* +(?=[^-\s]))?(?:[^\s'"]|'[^']*'|"[^"]*")+""", line):
        if len(lines[-1]) + len(word) > _HELP_WIDTH - 6:
            lines.append(f"   {word}")
        else:
            lines[-1] += word
    return " \\\n".join(lines)


class CommandGroup(click.Group):
    """A group whose help lists its commands as they are written, not by the alphabet.

    `lazy` maps names to `module:attribute`: those modules are imported when first needed. What a
    command says of itself beside the first line is in `commands.md`.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str] | None = None, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self._lazy = lazy or {}
        self._described: dict[str, click.Command] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in their order."""
        return [*self._lazy, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, None if there is none of that name."""
        if cmd_name not in self._described:
            address = self._lazy.get(cmd_name)
            command = load(address) if address else self.commands.get(cmd_name)
            if command is None:
                return None
            path = f"{self.name} {cmd_name}".removeprefix(f"{PROGRAM} ")
            self._described[cmd_name] = _describe(command, path)
        return self._described[cmd_name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant. Raises UsageError, naming the nearest."""
        name = args[0]
        if not ctx.resilient_parsing and name not in (known := self.list_commands(ctx)):
            from hosting_emulator.contract.words import nearest

            hint = nearest(name, known) or f"; there are {', '.join(known)}"
            ctx.fail(f"no command is named {name!r}{hint}")
        return super().resolve_command(ctx, args)


class RootGroup(CommandGroup):
    """The whole command line: any error is exactly one line, `Error: …`, and exit code 2."""

    def __init__(self, *args: Any, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        _describe(self, PROGRAM)

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
