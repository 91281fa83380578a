"""The entry point of `hosting-emulator`, with the table of commands and the output of errors.

Commands and parts of the emulator are imported only when they are needed, so that each command
starts fast.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from inspect import cleandoc
from io import TextIOWrapper
from pathlib import Path
from textwrap import indent
from typing import Any

import click

from hosting_emulator import __version__
from hosting_emulator.build_id import BUILD_ID
from hosting_emulator_cli.help_text import HelpGroup

PROGRAM = "hosting-emulator"
#: The key under which a Click context's `meta` contains the names that follow a comma in an option.
_SPLIT_NAMES = "hosting_emulator_cli.split_names"


class Failure(click.ClickException):
    """Ends a command with exit code 2 and one line on stderr, or one for each mistake in a file."""

    exit_code = 2


@contextmanager
def failing(*errors: type[Exception], prefix: str = "") -> Iterator[None]:
    """Convert errors of these types to a Failure whose message begins with `prefix`.

    If the emulator refused a scenario, the message has a line for each mistake.
    """
    try:
        yield
    except errors as error:
        text = str(error)
        if isinstance(error, UnicodeEncodeError):
            text = _encoding_message(error)
        if getattr(error, "title", None) == "Scenario refused":
            text = str(getattr(error, "detail", None) or text)
        raise Failure(f"{prefix}{text}") from error


def load(address: Any) -> Any:
    """Import and return the attribute at an import path such as `module:attribute`.

    Return any other value unchanged.
    """
    if not isinstance(address, str):
        return address
    module, _, attribute = address.partition(":")
    return getattr(import_module(module), attribute)


def near(word: str, choices: Iterable[str], otherwise: str = "choose from {}") -> str:
    """Return the end of an error message, which suggests the choice closest to `word`.

    If no choice is close, return `otherwise`, in which `{}` is replaced by all choices.
    """
    from hosting_emulator.contract.suggestions import nearest

    names = list(choices)
    return nearest(word, names) or f"; {otherwise.format(', '.join(names))}"


def examples(lines: str) -> str:
    """Format example command lines for the end of a command's help.

    Click does not rewrap these lines.
    """
    return "\b\nExamples:\n" + indent(cleandoc(lines), "  ")


class CommandGroup(HelpGroup):
    """A group whose help lists its commands in the order of their declaration.

    `lazy` maps command names to import paths (`module:attribute`). A lazy command's module is
    imported only when the command is needed.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str] | None = None, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self._lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of their declaration."""
        return [*self._lazy, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if no command has this name."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        command: click.Command = load(self._lazy[cmd_name])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command named by the arguments.

        If there is no such command, raises UsageError with a message that suggests a name.
        """
        names = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in names:
            ctx.fail(f"there is no command {args[0]!r}{self._hint(args[0], names)}")
        return super().resolve_command(ctx, args)

    def _hint(self, word: str, names: Sequence[str]) -> str:
        """Return the end of the error message about an unknown command."""
        from hosting_emulator_cli.word_hints import word_hint

        hint = word_hint(str(self.name), word)
        if hint is not None:
            return f"; {hint}"
        return near(word, names)


class RootGroup(CommandGroup):
    """The root of the command line. An error is printed on one line.

    An integer that a command returns is the exit code.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. An error about a value after a comma gets a hint."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            hint = _split_hint(ctx, error.message)
            if hint:
                error.add_note(hint)
            raise

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line and exit.

        The exit code is the command's own, 2 after an error, or 130 after Ctrl-C.
        """
        # Handle errors here, because Click's standalone mode would print more than the error
        # message.
        if kwargs.get("standalone_mode", True):
            sys.exit(self._exit_code(*args, **{**kwargs, "standalone_mode": False}))
        return super().main(*args, **kwargs)

    def _exit_code(self, *args: Any, **kwargs: Any) -> int:
        try:
            result = super().main(*args, **kwargs)
        except click.exceptions.Abort:
            return 130
        except click.ClickException as error:
            # A group without a command prints its help. Compare the class by name, because Click
            # has exported it only since version 8.2.
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                _print_error("; ".join([_message_of(error), *getattr(error, "__notes__", ())]))
            return error.exit_code
        except UnicodeEncodeError as error:
            _print_error(_encoding_message(error))
            return 2
        except OSError as error:  # for example if the disk is full
            _print_error(str(error.strerror or error).lower())
            return 2
        if isinstance(result, int):
            return result
        return 0


def note_split_names(ctx: click.Context, values: Sequence[str]) -> None:
    """Record the names in values of the form NAME=VALUE that follow a comma in an option."""
    names = ctx.meta.setdefault(_SPLIT_NAMES, [])
    names += [value.partition("=")[0].strip() for value in values[1:]]


def _split_hint(ctx: click.Context, message: str) -> str:
    """Return a hint about commas if an error message contains the name of a value after a comma."""
    for name in ctx.meta.get(_SPLIT_NAMES, ()):
        if repr(name) in message:
            return (
                f"the comma before `{name}=` starts a new value: write `\\,` if the comma belongs to "
                "the value before it"
            )
    return ""


def _encoding_message(error: UnicodeEncodeError) -> str:
    """Describe an error about an argument that is not valid UTF-8, or about a name that cannot be
    printed with LC_ALL=C.
    """
    if "\ud800" <= error.object[error.start] <= "\udfff":
        nearby = error.object[max(0, error.start - 60) : error.start + 20]
        return f"{nearby!r} is not valid UTF-8 text"
    return str(error)


def _message_of(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption) and error.option_name[1:].isdigit():
        return f"'{error.option_name}…' is not an option; if you meant a value, values cannot be negative"
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        message = error.message  # without Click's suggestions, which are often far-fetched
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = _usage_hint(error, error.ctx.command)
    if not hint:
        return message
    return f"{message.rstrip('.')}; {hint}"


def _usage_hint(error: click.UsageError, command: click.Command) -> str:
    """Return a hint about the correct syntax, or an empty string if the error states it already."""
    if isinstance(error, click.NoSuchOption):
        start = load(_SECTIONS["Run it"]["start"])
        names = {name for parameter in start.params for name in parameter.opts}
        if isinstance(command, RootGroup) and error.option_name in names:
            return f"options follow the command, as in `{PROGRAM} start {error.option_name} …`"
        from hosting_emulator_cli.option_hints import option_hint

        return option_hint(error.option_name, command)
    examples_of_command = [
        line.strip()
        for line in (command.epilog or "").splitlines()
        if line.strip().startswith(PROGRAM) and not line.endswith("\\")
    ]
    is_bare = isinstance(error, click.MissingParameter)
    if "unexpected extra arg" in error.message:
        # The extra word was often meant as the value of an option.
        is_bare = True
        examples_of_command.sort(key=lambda line: "--" not in line)
    if error.message.endswith("is not of the form NAME=VALUE"):
        is_bare = True
        # Show only an example of this option or argument.
        syntax = "="
        if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
            syntax = f" {error.param.opts[0]} "
        examples_of_command = [line for line in examples_of_command if syntax in line]
    if not is_bare or not examples_of_command:
        return ""
    return f"for example: `{examples_of_command[0]}`"


def _print_error(text: str) -> None:
    """Print an error message on one line, or each mistake in a file on its own line."""
    mistakes = text.splitlines()
    if not all(_POSITION.match(mistake) for mistake in mistakes):
        mistakes = [text]
    for mistake in mistakes:
        click.echo(f"Error: {' '.join(mistake.split())}", err=True)


#: The beginning of a line that describes a mistake in a file.
_POSITION = re.compile(r".+:\d+:\d+: ")


_COMMANDS = "hosting_emulator_cli.commands"


#: The commands by section, in the order in which the help lists them.
_SECTIONS = {
    "Run it": {
        "start": f"{_COMMANDS}.start:start",
        "exec": f"{_COMMANDS}.exec:exec_",
        "status": f"{_COMMANDS}.status:status",
        "wait": f"{_COMMANDS}.status:wait",
        "doctor": f"{_COMMANDS}.doctor:doctor",
        "open": f"{_COMMANDS}.open:open_",
        "stop": f"{_COMMANDS}.stop:stop",
    },
    "Connect a client": {
        "env": f"{_COMMANDS}.env:env",
        "token": f"{_COMMANDS}.token:token",
    },
    "Change the world": {
        "clock": f"{_COMMANDS}.clock:clock",
        "fault": f"{_COMMANDS}.fault:fault",
        "outcome": f"{_COMMANDS}.outcome:outcome",
        "intervene": f"{_COMMANDS}.intervene:intervene",
        "scenario": f"{_COMMANDS}.scenario:scenario",
        "world": f"{_COMMANDS}.world:world",
    },
    "See what happened": {
        "requests": f"{_COMMANDS}.requests:requests",
        "operations": f"{_COMMANDS}.operations:operations",
        "triggers": f"{_COMMANDS}.triggers:triggers",
        "why": f"{_COMMANDS}.why:why",
    },
    "Check a client": {
        "judge": f"{_COMMANDS}.judge:judge",
        "conduct": f"{_COMMANDS}.conduct:conduct",
        "explore": f"{_COMMANDS}.explore:explore",
    },
    "The contract": {
        "contract": f"{_COMMANDS}.contract:contract",
    },
}


@click.group(
    name=PROGRAM,
    cls=RootGroup,
    lazy={name: address for section in _SECTIONS.values() for name, address in section.items()},
    command_sections=_SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        """
        hosting-emulator start
        eval "$(hosting-emulator env)"
        hosting-emulator clock advance 10m
        """
    ),
)
@click.version_option(
    f"{__version__} (build {BUILD_ID})",
    message="%(prog)s %(version)s",
    help="Print the version and the build.",
)
def cli() -> None:
    """A local emulator of the Project Hosting Control API.

    `start` runs the emulator. `exec`, `judge` and `explore` run another command together with an
    emulator of their own. Most other commands talk to an emulator that is already running. Data is
    written to stdout, and messages to stderr. Each error is printed on one line. After an error,
    the exit code is 2, unless the command's help says otherwise. A repeatable option also accepts
    several values separated by commas. If a value contains a comma, put a backslash before it.
    """


def main() -> None:
    """Run the command line and exit."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        # If the parent process has closed the stream, use the null device instead.
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        # Write a path that is not valid Unicode as it is.
        sys.stdout.reconfigure(errors="surrogateescape")
    cli(prog_name=PROGRAM)
