"""Printed commands work as printed, also for another port and another world."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import hosting_emulator
import hosting_emulator_cli
import pytest_hosting_emulator
from hosting_emulator.sdk import ControlRefused, EmulatorUnreachable, HostingEmulator
from hosting_emulator.settings import Settings
from hosting_emulator_cli.banner import banner
from hosting_emulator_cli.connection import command_here, typed_here
from hosting_emulator_cli.main import cli
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.checked_world import CheckedWorld
from tests.support.warm import programs

PACKAGES = (hosting_emulator, hosting_emulator_cli, pytest_hosting_emulator)
#: Texts print these for an emulator of the reader's choice, or for a shell that evaluated `env`.
OF_ANY_EMULATOR = {
    "requests har",
    "clock advance",
    "stop",
    "stop --url",  # the text goes on with the address of an emulator that runs
    "token",
    "token --user",
    "scenario record world",  # run with the build that reads a folder of another format
}


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Result]:
    """Run a line in a shell that knows no emulator."""
    for name in ("URL", "WORLD", "PORT", "READY_FILE"):
        monkeypatch.delenv(f"HOSTING_EMULATOR_{name}", raising=False)

    def run(line: str) -> Result:
        name, *words = shlex.split(line)
        assert name == "hosting-emulator"
        return CliRunner().invoke(cli, words)

    return run


def stuck(api: CheckedWorld) -> str:
    operation: str = api.initialize(1).json["id"]
    api.emulator.intervene("stick_operation", project="shop")
    return operation


def stuck_by_an_outcome(api: CheckedWorld) -> str:
    api.emulator.outcome("stick", phase="queued")
    operation: str = api.initialize(1).json["id"]
    api.advance("1m")
    return operation


def reconciling(api: CheckedWorld) -> str:
    operation: str = api.initialize(1).json["id"]
    api.emulator.intervene("require_reconciliation", project="shop")
    return operation


def waiting(api: CheckedWorld) -> str:
    api.emulator.intervene("hold_claim", project="shop")
    operation: str = api.initialize(1).json["id"]
    return operation


def manual(api: CheckedWorld) -> str:
    api.assume(source_profile="manual")
    operation: str = api.initialize(1).json["id"]
    return operation


def timed(api: CheckedWorld) -> str:
    operation: str = api.initialize(1).json["id"]
    return operation


def disturbed(api: CheckedWorld) -> str:
    operation: str = api.initialize(1).json["id"]
    api.emulator.fault("timeout", call="get_operation")
    return operation


@pytest.mark.parametrize(
    "begin", [timed, stuck, stuck_by_an_outcome, reconciling, waiting, manual, disturbed]
)
def test_a_command_that_why_prints_can_be_run(api: CheckedWorld, typed, begin) -> None:
    commands = api.emulator.why(begin(api)).commands

    assert commands
    for command in commands:
        assert f"--world {api.emulator.name} --url http://127.0.0.1:" in command
        result = typed(command)
        assert result.exit_code == 0, (command, result.output)


def test_a_printed_command_names_world_and_address_if_variables_name_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", "checkout")
    monkeypatch.setenv("HOSTING_EMULATOR_URL", "http://127.0.0.1:4711")

    printed = typed_here("hosting-emulator clock advance 1h")

    assert printed == (
        "hosting-emulator clock advance 1h --world default --url http://127.0.0.1:4620"
    )
    elsewhere = "hosting-emulator clock advance 1h --world other --url http://127.0.0.1:1"
    assert typed_here(elsewhere) == elsewhere


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("stop", ""),
        ("status", ""),
        ("env", " --world default"),
        ("clock advance 1h", " --world default"),
    ],
)
def test_a_printed_command_selects_a_world_only_if_it_acts_on_one(
    monkeypatch: pytest.MonkeyPatch, words: str, options: str
) -> None:
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", "checkout")
    monkeypatch.setenv("HOSTING_EMULATOR_URL", "http://127.0.0.1:4620")

    printed = command_here(words, "http://127.0.0.1:4620", "default")

    assert printed == f"hosting-emulator {words}{options}"


def test_a_command_in_a_report_can_be_run(api: CheckedWorld, typed) -> None:
    stuck(api)

    [line] = re.findall("try: (.*)", api.emulator.report())

    assert typed(line).exit_code == 0


def test_an_unreachable_emulator_error_names_a_start_command_for_the_port() -> None:
    message = str(EmulatorUnreachable("http://127.0.0.1:4711/_emulator", "refused"))

    assert "`hosting-emulator start --port 4711`" in message
    error_at_the_default_port = EmulatorUnreachable("http://127.0.0.1:4620/_emulator", "refused")
    assert "`hosting-emulator start`" in str(error_at_the_default_port)


def test_the_refusal_of_an_unknown_world_names_the_world(api: CheckedWorld) -> None:
    with pytest.raises(ControlRefused, match=r"'nope'.*default") as refused:
        api.emulator.control.get("worlds/nope/clock")

    assert refused.value.status == 404


@pytest.fixture(scope="module")
def server() -> Iterator[BackgroundEmulator]:
    """An emulator on its own port, which only its own printed commands reach."""
    with BackgroundEmulator(Settings(port=0, data_dir=None, clock="frozen")) as running:
        yield running


# --- Banner, env and pages -----------------------------------------------------------------------


def in_a_shell(text: str) -> str:
    """Run lines in a shell that knows no emulator, like a user who copies them."""
    path = os.pathsep.join((str(programs()), str(Path(sys.executable).parent), os.environ["PATH"]))
    result = subprocess.run(
        ["bash", "-ec", text], capture_output=True, text=True, timeout=60, env={"PATH": path}
    )
    assert result.returncode == 0, (text, result.stderr)
    return result.stdout


def test_the_lines_of_the_banner_can_be_run(server: BackgroundEmulator, typed) -> None:
    text = click.unstyle(banner(server.ready))
    lines = [line.strip() for line in text.splitlines()]
    exports = [line for line in lines if line.startswith("export ")]
    [curl] = [line for line in lines if line.startswith("curl ")]

    output = in_a_shell("\n".join([*exports, curl]))

    assert '"items":[' in output
    advance, status, variables = re.findall("`(hosting-emulator .*?)`", text)
    assert "clock     frozen, 2026-01-01T00:00:00.000Z; " in text
    assert typed(advance).exit_code == 0
    assert server.ready.base_url in typed(status).stdout
    assert "HOSTING_PROJECT_ID" in typed(variables).stdout


def test_the_commands_of_the_banner_contain_a_control_token_that_they_need(typed) -> None:
    settings = Settings(
        port=0, data_dir=None, public_url="https://emulator.example.com", control_token="a'b c"
    )
    with BackgroundEmulator(settings) as running:
        text = click.unstyle(banner(replace(running.ready, log_file="log")))
        status, variables, stop = re.findall("`(hosting-emulator .*?)`", text)
        assert typed(status).exit_code == 0
        assert typed(variables).exit_code == 0

    # This emulator runs in a thread of this process, so it cannot be stopped.
    assert stop == status.replace(" status ", " stop ")


def test_the_variables_of_env_lead_each_command_to_its_world(api: CheckedWorld) -> None:
    line = (
        f"hosting-emulator env --url {api.emulator.control.control_url} --world {api.emulator.name}"
    )

    output = in_a_shell(f'eval "$({line})"; hosting-emulator clock freeze; hosting-emulator token')

    assert output.strip().splitlines()[-1].startswith("eyJ")
    assert "clock" in api.emulator.history[-1].title


def test_the_lines_of_the_start_page_can_be_run(server: BackgroundEmulator, typed) -> None:
    from html import unescape
    from urllib.request import Request, urlopen

    with urlopen(
        Request(f"{server.ready.base_url}/_emulator/", headers={"Accept": "text/html"})
    ) as response:
        page = unescape(re.sub("<[^>]+>", "", response.read().decode()))

    commands = set(re.findall(r"hosting-emulator env[^\n]*?--url \S+", page))
    assert commands
    for command in commands:
        assert "HOSTING_TOKEN" in typed(command.rstrip(".")).stdout


# --- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "refused_call",
    [
        lambda world: world.load_scenario(name="zzz"),
        lambda world: world.vary("5", only="zzz"),
        lambda world: world.set_assumptions({"zzz": 1}),
    ],
)
def test_a_command_in_a_refusal_of_the_control_api_can_be_run(
    hosting_emulator: HostingEmulator, typed, refused_call: Callable[[HostingEmulator], None]
) -> None:
    with pytest.raises(ControlRefused) as refused:
        refused_call(hosting_emulator)

    [line] = re.findall("`(hosting-emulator .*?)`", str(refused.value))
    assert typed(line).exit_code == 0


@pytest.mark.parametrize(
    "line",
    [
        "hosting-emulator scenario show zzz",
        "hosting-emulator start --port 0 --ephemeral --scenario zzz",
        "hosting-emulator start --port 0 --ephemeral --assume zzz=1",
        "hosting-emulator start --port 0 --ephemeral --vary 5 --vary-only zzz",
        "hosting-emulator exec --conduct report --skip-rule zzz -- true",
    ],
)
def test_a_command_in_a_refusal_of_the_command_line_can_be_run(typed, line: str) -> None:
    refused = typed(line)

    assert refused.exit_code == 2
    for suggested in re.findall("`(hosting-emulator .*?)`", refused.output):
        assert typed(suggested).exit_code == 0
    assert "`hosting-emulator" in refused.output


def test_doctor_names_a_start_command_for_the_port_of_the_address(typed) -> None:
    stuck_by_an_outcome = typed("hosting-emulator doctor --port 0 --url http://127.0.0.1:1").output

    assert "`hosting-emulator start --port 1`" in stuck_by_an_outcome


# --- All others ----------------------------------------------------------------------------------


def sentences() -> Iterator[str]:
    """Yield each command in the texts of the code, without docstrings and the examples of `--help`."""
    for package in PACKAGES:
        for path in Path(str(package.__file__)).parent.rglob("*.py"):
            text = path.read_text("utf-8")
            if "hosting-emulator " not in text:
                continue
            nodes = [*ast.walk(ast.parse(text))]
            help_texts = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
            help_texts |= {id(text) for text in example_texts(nodes)}
            for node in nodes:
                if isinstance(node, ast.Constant) and id(node) not in help_texts:
                    yield from re.findall(r"hosting-emulator ([a-z -]+)", str(node.value))


def example_texts(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the parts of each argument of `examples()`."""
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "examples":
            yield from ast.walk(node.args[0])


def command_of(words: str) -> click.Command | None:
    """Return the command at the beginning of the words, or None if there is none."""
    command: click.Command = cli
    for word in words.split():
        if not isinstance(command, click.Group):
            break
        subcommand = command.get_command(click.Context(command), word)
        if subcommand is None:
            return None
        command = subcommand
    return None if isinstance(command, click.Group) else command


def test_each_command_in_a_text_of_the_product_needs_no_emulator(typed) -> None:
    commands_in_texts = {words.strip() for words in sentences() if command_of(words) is not None}
    assert {"scenario list", "contract assumptions", "start"} <= commands_in_texts

    for words in commands_in_texts - OF_ANY_EMULATOR:
        if words.split()[0] not in (
            "start",
            "exec",
            "judge",
            "explore",
        ):  # These start their own emulator.
            assert typed(f"hosting-emulator {words}").exit_code == 0, words


def examples(command: click.Command = cli) -> Iterator[str]:
    """Yield the example command lines in the help of a command and of its subcommands."""
    lines = (command.epilog or "").replace("\\\n", " ").splitlines()
    for line in lines:
        if line.strip().startswith("hosting-emulator "):
            yield line.strip()
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from examples(subcommand)


def test_each_example_of_the_help_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("BASE_URL", "TOKEN", "PROJECT_ID", "ORGANIZATION_ID"):
        monkeypatch.setenv(f"HOSTING_{name}", "http://as-env-sets-it")
    lines = list(examples())
    assert len(lines) > 100
    for line in lines:
        words = shlex.split(re.split(r" [|>&] ?", line)[0], comments=True)[1:]
        command: click.Command = cli
        while isinstance(command, click.Group):
            subcommand = command.get_command(click.Context(command), words[0])
            if subcommand is None:
                assert command.invoke_without_command, line
                break
            command = subcommand
            words = words[1:]
        try:
            command.make_context(line, words)
        except click.ClickException as error:
            pytest.fail(f"{line}: {error.format_message()}")
