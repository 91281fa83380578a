"""The page of commands and their options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc

import click

from hosting_emulator_cli.help_text import HelpGroup
from hosting_emulator_cli.main import PROGRAM, cli
from reference.markdown import anchor, block, code, join, paragraph, prose, table

#: Options of almost all commands, which the page explains once. If such an option has a different
#: meaning in a command, the command's section explains it again.
CONNECTION = ("--url", "--control-token", "--world")

INTRODUCTION = """\
Commands write data to stdout, and messages to stderr. An error message is a single line, but each
mistake in a scenario file has its own line. After an error, the exit code is 2, unless the command's
section says otherwise. To see a command's section of this page in the terminal, add `--help` to the
command."""


def render() -> str:
    """Return the page without its title."""
    root = click.Context(cli, info_name=PROGRAM)
    shared_rows = _connection_rows(root)
    sections = [_section(context, shared_rows) for context in contexts(root)]
    return join(INTRODUCTION, _list_of_commands(root), _connection(shared_rows), *sections)


def contexts(parent: click.Context) -> Iterator[click.Context]:
    """Yield a context for each command, groups before their commands."""
    group = parent.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        if command is None or command.hidden:
            continue
        context = click.Context(command, info_name=name, parent=parent)
        yield context
        if isinstance(command, click.Group):
            yield from contexts(context)


def name_of(context: click.Context) -> str:
    """Return the name of a command without the program's name, such as `fault add`."""
    return context.command_path.removeprefix(f"{PROGRAM} ")


def _list_of_commands(root: click.Context) -> str:
    assert isinstance(cli, HelpGroup)
    tables = []
    for title, names in cli.command_sections.items():
        rows = []
        for context in contexts(root):
            name = name_of(context)
            if name.split()[0] in names and runs(context.command):
                rows.append([f"[`{name}`](#{anchor(name)})", paragraph(summary(context.command))])
        tables.append(join(f"### {title}", table(["command", "what it does"], rows)))
    return join("## All commands", *tables)


def runs(command: click.Command) -> bool:
    """Return whether a command runs by itself. Most groups only contain other commands."""
    return not isinstance(command, click.Group) or command.invoke_without_command


def summary(command: click.Command) -> str:
    """Return the first paragraph of a command's help."""
    return cleandoc(command.help or "").partition("\n\n")[0]


def _connection_rows(root: click.Context) -> dict[str, list[str]]:
    """Return the rows of the options in CONNECTION, by option, as most commands describe them."""
    rows: dict[str, list[str]] = {}
    for context in contexts(root):
        options = options_of(context.command)
        # `start` has no `--url`. It sets the control token instead of sending it.
        if all(option.opts[0] != "--url" for option in options):
            continue
        for option in options:
            if option.opts[0] in CONNECTION:
                rows.setdefault(option.opts[0], _row(option, context))
    return rows


def _connection(shared_rows: dict[str, list[str]]) -> str:
    text = "Most commands that use a running emulator also accept some of these options."
    return join("## Connection", text, table(["option", "meaning"], shared_rows.values()))


def options_of(command: click.Command) -> list[click.Option]:
    """Return the options of a command that its help shows, except `--help`."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return [option for option in options if not option.hidden]


def _section(context: click.Context, shared_rows: dict[str, list[str]]) -> str:
    command = context.command
    if not runs(command):
        return join(f"## {name_of(context)}", _help(command))
    level = "###" if context.parent is not None and context.parent.parent is not None else "##"
    options = options_of(command)
    rows = []
    shared = []
    for option in options:
        row = _row(option, context)
        if shared_rows.get(option.opts[0]) == row:
            shared.append(option.opts[0])
        else:
            rows.append(row)
    return join(
        f"{level} {name_of(context)}",
        block(_usage(context)),
        _help(command),
        table(["option", "meaning"], rows) if rows else "",
        f"It also accepts {_list(shared)}: see [Connection](#connection)." if shared else "",
        _examples(command),
    )


def _list(names: list[str]) -> str:
    *most, last = [code(name) for name in names]
    return f"{', '.join(most)} and {last}" if most else last


def _usage(context: click.Context) -> str:
    pieces = context.command.collect_usage_pieces(context)
    return " ".join([context.command_path, *pieces])


def _row(option: click.Option, context: click.Context) -> list[str]:
    record = option.get_help_record(context)
    assert record is not None, option.name
    names, text = record
    return [code(names), prose(" ".join(text.split()))]


def _help(command: click.Command) -> str:
    """Return the help of a command. Click keeps the lines of a paragraph that begins with backspace."""
    parts = []
    for part in cleandoc(command.help or "").split("\n\n"):
        if part.startswith("\b\n"):
            parts.append(block(cleandoc(part.removeprefix("\b\n"))))
        else:
            parts.append(paragraph(part))
    return join(*parts)


def _examples(command: click.Command) -> str:
    """Return the examples at the end of a command's help as a block."""
    match = re.search(r"\x08\nExamples:\n(.*)", command.epilog or "", re.DOTALL)
    if match is None:
        return ""
    return block(cleandoc(match[1].strip("\n")), "bash")
