"""Lays out the output of `--help`, with options and commands in sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from hosting_emulator_cli.variable_warnings import warn_of_unknown_variables

#: The section at the end of a command's help, and the parameters of the options in it.
_CONNECTION = "Connection"
_CONNECTION_PARAMETERS = ("url", "control_token", "world")
#: The section for options that are in no other section.
_OTHER = "Options"


class HelpCommand(click.Command):
    """A command whose help lists options in sections. It warns about variables that nothing reads.

    `sections` maps the title of each section to its parameters. Other options are listed in the
    Options section, and the options that select an emulator and a world in the Connection section
    at the end.
    """

    def __init__(
        self, *args: Any, sections: Mapping[str, Sequence[str]] | None = None, **attrs: Any
    ) -> None:
        super().__init__(*args, **attrs)
        self.sections = sections or {}

    def invoke(self, ctx: click.Context) -> Any:
        """Warn about variables that nothing reads, and run the command."""
        warn_of_unknown_variables(ctx.params)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections."""
        sections = option_sections(self, ctx, self.sections)
        connection = sections.pop(_CONNECTION, [])
        for title, options in sections.items():
            _write_options(ctx, formatter, title, options)
        _write_options(ctx, formatter, _CONNECTION, connection)


class HelpGroup(click.Group):
    """A group whose help lists its commands in sections, each with the first sentence of its help.

    `command_sections` maps the title of each section to the names of its commands. Commands that
    are in no section are listed in the Commands section.
    """

    command_class = HelpCommand

    def __init__(
        self,
        *args: Any,
        command_sections: Mapping[str, Iterable[str]] | None = None,
        **attrs: Any,
    ) -> None:
        super().__init__(*args, **attrs)
        self.command_sections = command_sections or {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, the commands, and the options of the Connection section."""
        sections = option_sections(self, ctx, {})
        connection = sections.pop(_CONNECTION, [])
        for title, options in sections.items():
            _write_options(ctx, formatter, title, options)
        self.format_commands(ctx, formatter)
        _write_options(ctx, formatter, _CONNECTION, connection)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the commands, each with the first sentence of its help."""
        names = self.list_commands(ctx)
        listed_names = {name for section in self.command_sections.values() for name in section}
        sections = {
            **self.command_sections,
            "Commands": [name for name in names if name not in listed_names],
        }
        width = max(map(len, names), default=0)
        for title, section in sections.items():
            rows = [(name.ljust(width), self._summary(ctx, name)) for name in section]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _summary(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        if command is None:
            return ""
        return first_sentence(command.help or "")


def option_sections(
    command: click.Command, ctx: click.Context, sections: Mapping[str, Sequence[str]]
) -> dict[str, list[click.Parameter]]:
    """Return the parameters that a command's help lists, keyed by the title of their section."""
    titles = {name: title for title, names in sections.items() for name in names}
    is_start = _CONNECTION_PARAMETERS[0] not in {parameter.name for parameter in command.params}
    by_title: dict[str, list[click.Parameter]] = {title: [] for title in sections}
    by_title[_OTHER] = []
    for parameter in command.get_params(ctx):
        title = titles.get(str(parameter.name), _OTHER)
        if title == _OTHER and parameter.name in _CONNECTION_PARAMETERS and not is_start:
            title = _CONNECTION
        by_title.setdefault(title, []).append(parameter)
    return by_title


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text as one line, without its full stop."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    sentence, _, _ = paragraph.partition(". ")
    return sentence.rstrip(".")


def _write_options(
    ctx: click.Context,
    formatter: click.HelpFormatter,
    title: str,
    parameters: Sequence[click.Parameter],
) -> None:
    records = [parameter.get_help_record(ctx) for parameter in parameters]
    rows = [record for record in records if record is not None]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)
