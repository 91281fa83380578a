"""Every command and option has an explanation, and help imports nothing heavy."""

import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from hosting_emulator_cli.main import cli

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
