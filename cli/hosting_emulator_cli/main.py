"""The `hosting-emulator` entry point: how commands are found, described and fail, and their names.

It must not import a command, nor anything of the emulator, before that command is needed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from textwrap import indent
from typing import Any

import click

from hosting_emulator import __version__
from hosting_emulator.build_id import BUILD_ID

PROGRAM = "hosting-emulator"


class Failure(click.ClickException):
    """Ends a command with one line on stderr and exit code 2."""

    exit_code = 2


@contextmanager
def failing(*errors: type[Exception], of: str = "") -> Iterator[None]:
    """Let what is raised within, if it is one of these, end the command; `of` stands before its text."""
    try:
        yield
    except errors as error:
        raise Failure(f"{of}{error}") from error


def load(address: Any) -> Any:
    """Import what `module:attribute` names; anything else stands for itself."""
    if not isinstance(address, str):
        return address
    module, _, attribute = address.partition(":")
    return getattr(import_module(module), attribute)


def near(word: str, known: Iterable[str], otherwise: str = "there are {}") -> str:
    """Say behind an error which word was probably meant, or else all that there are."""
    from hosting_emulator.contract.suggestions import nearest

    known = list(known)
    return nearest(word, known) or f"; {otherwise.format(', '.join(known))}"


@cache
def _sections() -> dict[str, str]:
    text = Path(__file__).with_name("commands.md").read_text("utf-8")
    return dict(section.split("\n", 1) for section in text.split("\n## ")[1:])


def _describe(command: click.Command, path: str) -> click.Command:
    """Give a command and its options the help that `commands.md` has for them."""
    section = _sections().get(path, "")
    text, _, examples = section.partition("\n```bash\n")
    prose = re.split(r"^- `", text, maxsplit=1, flags=re.MULTILINE)[0].strip()
    # `\b`: Click leaves the lines as they are.
    prose = re.sub(
        r"```text\n(.*?)\n```",
        lambda found: f"\b\n{indent(found[1], '  ')}",
        prose,
        flags=re.DOTALL,
    )
    command.help = "\n\n".join(filter(None, [cleandoc(command.help or ""), prose]))
    if examples:
        command.epilog = "\b\nExamples:\n" + indent(examples.partition("\n```")[0], "  ")
    items = f"{_sections()['Options in common']}\n{text}"
    described = dict(re.findall(r"^- `(--[^`]+)`: (.*(?:\n  .*)*)", items, re.MULTILINE))
    for option in command.params:
        if isinstance(option, click.Option) and option.help is None:
            option.help = described.get(option.opts[-1], "").replace("\n  ", " ") or None
    return command


class CommandGroup(click.Group):
    """A group whose help lists its commands as they are written, with what `commands.md` says of each.

    `lazy` maps names to `module:attribute`: those modules are imported when first needed.
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
            command = load({**self._lazy, **self.commands}.get(cmd_name))
            if command is None:
                return None
            path = f"{self.name} {cmd_name}".removeprefix(f"{PROGRAM} ")
            self._described[cmd_name] = _describe(command, path)
        return self._described[cmd_name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant. Raises UsageError, naming the nearest."""
        known = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in known:
            ctx.fail(f"no command is named {args[0]!r}{near(args[0], known)}")
        return super().resolve_command(ctx, args)


class RootGroup(CommandGroup):
    """The whole command line: an error is one line, `Error: …`; a command returns its exit code."""

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
        code = 2
        try:
            result = super().main(*args, **kwargs)
            return result if isinstance(result, int) else 0
        except click.exceptions.Abort:
            return 130
        except click.ClickException as error:
            text, code = error.format_message(), error.exit_code
            if isinstance(error, click.NoSuchOption) and error.option_name[1:].isdigit():
                text = f"'{error.option_name}…' is no option, and no value here is below 0"
            # A group called bare: its help is the answer. (Click names this class from 8.2 on.)
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
                return code
        except (OSError, UnicodeEncodeError) as error:  # a full disk, a name no LC_ALL=C can write
            text = str(getattr(error, "strerror", None) or error).lower()
        click.echo(f"Error: {' '.join(text.split())}", err=True)
        return code


_HERE = "hosting_emulator_cli.commands"


@click.group(
    name=PROGRAM,
    cls=RootGroup,
    lazy={
        "start": f"{_HERE}.start:start",
        "exec": f"{_HERE}.exec:exec_",
        "explore": f"{_HERE}.exec:explore",
        "status": f"{_HERE}.status:status",
        "env": f"{_HERE}.start:env",
        "doctor": f"{_HERE}.status:doctor",
        "wait": f"{_HERE}.status:wait",
        "token": f"{_HERE}.start:token",
        "clock": f"{_HERE}.world:clock",
        "fault": f"{_HERE}.fault:fault",
        "outcome": f"{_HERE}.fault:outcome",
        "intervene": f"{_HERE}.fault:intervene",
        "scenario": f"{_HERE}.scenario:scenario",
        "world": f"{_HERE}.world:world",
        "requests": f"{_HERE}.requests:requests",
        "why": f"{_HERE}.status:why",
        "conduct": f"{_HERE}.conduct:conduct",
        "contract": f"{_HERE}.contract:contract",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(
    f"{__version__} (build {BUILD_ID})",
    message="%(prog)s %(version)s",
    help="Print the version and the build.",
)
def cli() -> None:
    """A local emulator of the Project Hosting Control API."""


def main() -> None:
    """Run the command line and exit."""
    for name in ("stdout", "stderr"):  # None where whoever started it has closed them
        if getattr(sys, name) is None:
            # It stays open: whatever is printed goes there.
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    cli(prog_name=PROGRAM)
