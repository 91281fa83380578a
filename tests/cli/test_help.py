"""Every command and option has an explanation, and help imports nothing heavy."""

import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from hosting_emulator_cli.commands.start import SECTIONS
from hosting_emulator_cli.help_text import HelpGroup
from hosting_emulator_cli.main import cli
from hosting_emulator_cli.word_hints import GROUP_HINTS, ROOT_HINTS

HEAVY = {
    "aiohttp",
    "asyncio",
    "cryptography",
    "http.client",
    "jwt",
    "msgspec",
    "pydantic",
    "rich",
    "tinydb",
}


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand, (*path, name))


def command_at(path: tuple[str, ...]) -> click.Command:
    command: click.Command | None = cli
    for name in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    return command


ALL = list(commands(cli))


def test_each_command_has_a_short_summary():
    for path in ALL:
        help_text = command_at(path).help

        assert help_text, path
        first = help_text.strip().splitlines()[0]
        assert first[0].isupper(), path
        assert len(first) <= 85, path


def test_each_option_and_argument_is_explained():
    silent = [
        (*path, parameter.name)
        for path in ALL
        for command in [command_at(path)]
        for parameter in command.params
        if not (
            parameter.help
            if isinstance(parameter, click.Option)
            else str(parameter.human_readable_name).strip("[].") in (command.help or "")
        )
    ]

    assert silent == [], "give the option a `help=`, or name the argument in the docstring"


def test_the_help_of_a_command_and_of_an_option_consists_of_sentences():
    texts: list[tuple[tuple[str, ...], str]] = []
    for path in ALL:
        command = command_at(path)
        before_examples = (command.help or "").partition("\b")[0]
        texts += [(path, text) for text in before_examples.split("\n\n")]
        options = [option for option in command.params if isinstance(option, click.Option)]
        texts += [(path, option.help or "") for option in options]

    # The help of an option may begin with a value, which is in lower case.
    wrong = [row for row in texts if not re.fullmatch(r"(?s)(\S.*[.:])?", row[1].strip())]

    assert wrong == []


def test_help_is_printed_and_fits_80_columns(run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")

    for path in ALL:
        result = run(*path, "--help")

        assert result.exit_code == 0, path
        assert result.stdout.startswith(f"Usage: hosting-emulator {' '.join(path)}".rstrip())
        assert result.stderr == "", path
        assert [line for line in result.stdout.splitlines() if len(line) > 80] == [], (
            f"shorten the lines in the help of {' '.join(path)}: Click does not wrap examples"
        )


@pytest.mark.parametrize("width", ["60", "80", "140"])
def test_help_lists_each_command_with_its_whole_first_sentence(
    run, monkeypatch: pytest.MonkeyPatch, width: str
):
    monkeypatch.setenv("COLUMNS", width)

    for path in ALL:
        group = command_at(path)
        if isinstance(group, click.Group):
            text = " ".join(run(*path, "--help").stdout.split())
            context = click.Context(group)
            for name in group.list_commands(context):
                help_text = command_at((*path, name)).help or ""
                paragraph = " ".join(help_text.strip().partition("\n\n")[0].split())
                first, _, _ = paragraph.partition(". ")
                assert f" {name} {first.rstrip('.')}" in text


def test_the_root_lists_each_command_in_one_section():
    assert isinstance(cli, HelpGroup)
    names = [name for section in cli.command_sections.values() for name in section]

    assert sorted(names) == sorted(cli.list_commands(click.Context(cli)))
    assert [*cli.command_sections] == [
        "Run it",
        "Connect a client",
        "Change the world",
        "See what happened",
        "Check a client",
        "The contract",
    ]


def test_the_options_that_select_an_emulator_close_the_help(run):
    for path in ALL:
        options = {name for option in command_at(path).params for name in option.opts}
        text = run(*path, "--help").stdout
        if "--url" not in options:
            assert "Connection:" not in text, path
            continue
        before, connection = text.split("\nConnection:\n")
        # After the section, only examples follow.
        connection = connection.partition("\n\n")[0]
        assert re.findall("^  (--[a-z-]+)", connection, re.M) == [
            name for name in ("--world", "--url", "--control-token") if name in options
        ], path
        assert "--control-token TEXT" not in before


def test_each_option_of_start_is_in_one_section(run):
    text = run("start", "--help").stdout
    titles = re.findall(r"^([A-Z].*):$", text, re.M)
    names = [name for section in SECTIONS.values() for name in section]

    assert titles == [*SECTIONS, "Options"]
    assert sorted(names) == sorted(str(option.name) for option in command_at(("start",)).params)
    assert [*SECTIONS] == ["World", "Address", "State", "Access from elsewhere", "Output"]


@pytest.mark.parametrize(
    "word", ["logs", "time", "user", "version", "ps", "up", "run", "list", "replay", "reset"]
)
def test_a_word_of_another_tool_gets_a_hint(run, word: str):
    error = run(word).stderr

    assert error.startswith(f"Error: there is no command '{word}'; `")
    assert len(error.splitlines()) == 1


def test_intervene_list_names_the_command_that_lists_interventions(run):
    assert "`intervene kinds`" in run("intervene", "list").stderr


def test_each_hint_is_about_a_word_that_is_no_command_and_names_commands_that_exist():
    for group, hints in {"": ROOT_HINTS, **GROUP_HINTS}.items():
        path = (group,) if group else ()
        names = command_at(path)
        assert isinstance(names, click.Group)
        assert not {*hints} & {*names.list_commands(click.Context(names))}
        for hint in hints.values():
            for line in re.findall("`([^`]+)`", hint):
                assert_names_a_command(line.split(), path)


def assert_names_a_command(words: list[str], group: tuple[str, ...]) -> None:
    """Raise AssertionError unless the words begin with a command, or with an option of the root."""
    if words[0].startswith("-"):
        return
    command = command_at(group)
    assert isinstance(command, click.Group)
    if group and words[0] in command.list_commands(click.Context(command)):
        return
    command = command_at((words[0],))
    if isinstance(command, click.Group) and len(words) > 1:
        assert words[1] in command.list_commands(click.Context(command)), words
        command = command_at((words[0], words[1]))
    options = {name for option in command.params for name in option.opts}
    used = {word for word in words if word.startswith("--")} - {"--"}
    assert used <= options, words


def test_each_command_that_prints_data_has_the_option_json():
    without = {path for path in ALL if not any("--json" in p.opts for p in command_at(path).params)}

    assert without == {
        # Groups print their help.
        (),
        ("clock",),
        ("world",),
        ("contract",),
        ("fault",),
        ("outcome",),
        ("scenario",),
        ("requests",),
        # The output of `exec` belongs to the command that it runs.
        ("exec",),
        # These print no data.
        ("wait",),
        ("world", "delete"),
        ("fault", "remove"),
        ("fault", "clear"),
        ("outcome", "remove"),
        ("outcome", "clear"),
        ("conduct", "clear"),
        # These always print JSON.
        ("world", "export"),
        ("contract", "openapi"),
        ("scenario", "schema"),
        ("requests", "har"),
        # These always print YAML.
        ("scenario", "show"),
        ("scenario", "record"),
        ("scenario", "shrink"),
    }, "give the command the decorator `prints`, or add it here with the reason"


def test_help_imports_nothing_heavy():
    """All commands run in one process, where each imported module stays."""
    words = ("start", "exec", "explore", "fault", "scenario", "requests", "why")
    lines = [["--help"], ["--version"], *([word, "--help"] for word in words)]
    script = (
        "import sys\nfrom hosting_emulator_cli.main import main\n"
        f"for sys.argv[1:] in {lines!r}:\n"
        "    try:\n        main()\n    except SystemExit as end:\n        assert not end.code\n"
        "    print(*sys.modules, file=sys.stderr)"
    )

    completed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    loaded = completed.stderr.splitlines()
    heavy = [line for line, names in zip(lines, loaded, strict=True) if HEAVY & {*names.split()}]
    assert heavy == []
    assert completed.stdout.count("Usage: ") == len(lines) - 1


def test_the_option_version_prints_version_and_build(run):
    from hosting_emulator import __version__

    result = run("--version")

    assert re.fullmatch(
        rf"hosting-emulator {__version__} \(build (editable|[0-9a-f]{{12}})\)\n", result.stdout
    )


def test_a_group_without_a_command_prints_its_help_and_exits_2(run):
    result = run("clock")

    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: hosting-emulator clock")


def test_the_module_runs_like_the_command():
    completed = subprocess.run(
        [sys.executable, "-m", "hosting_emulator_cli", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert completed.stdout.startswith("hosting-emulator ")
