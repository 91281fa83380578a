"""Variables: each option of `start` has one, and a variable that nothing reads is reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hosting_emulator import EXEC_CONDUCT_VARIABLE, EXEC_URL_VARIABLE, MAKE_RUN_VARIABLE
from hosting_emulator.sdk.discovery import look_around
from hosting_emulator.variables import KNOWN_VARIABLES, PREFIX, is_service_link
from hosting_emulator_cli.commands.start import start
from hosting_emulator_cli.doctor_checks import check_settings
from hosting_emulator_cli.main import cli
from hosting_emulator_cli.value_types import split_at_spaces
from tests.cli.conftest import Run
from tests.support.fake_bootstrap import FakeBootstrap

#: What a service called `hosting-emulator` with two ports puts into each container of Kubernetes.
SERVICE_LINKS = {
    "HOSTING_EMULATOR_SERVICE_HOST": "10.0.0.7",
    "HOSTING_EMULATOR_SERVICE_PORT": "4620",
    "HOSTING_EMULATOR_SERVICE_PORT_HTTP": "4620",
    "HOSTING_EMULATOR_SERVICE_PORT_DEV_ORIGINS": "4621",
    "HOSTING_EMULATOR_PORT": "tcp://10.0.0.7:4620",
    "HOSTING_EMULATOR_PORT_4620_TCP": "tcp://10.0.0.7:4620",
    "HOSTING_EMULATOR_PORT_4620_TCP_PROTO": "tcp",
    "HOSTING_EMULATOR_PORT_4620_TCP_PORT": "4620",
    "HOSTING_EMULATOR_PORT_4620_TCP_ADDR": "10.0.0.7",
    # A second service, called `hosting-emulator-tls`.
    "HOSTING_EMULATOR_TLS_SERVICE_HOST": "10.0.0.8",
    "HOSTING_EMULATOR_TLS_SERVICE_PORT": "4621",
    "HOSTING_EMULATOR_TLS_PORT": "tcp://10.0.0.8:4621",
    "HOSTING_EMULATOR_TLS_PORT_4621_TCP_ADDR": "10.0.0.8",
    # Linked containers of Docker.
    "HOSTING_EMULATOR_NAME": "/web/hosting-emulator",
    "HOSTING_EMULATOR_ENV_LANG": "C.UTF-8",
}


def variables_of(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if parameter.envvar is not None and str(parameter.envvar).startswith(PREFIX):
            yield str(parameter.envvar)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from variables_of(subcommand)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1", ["a=1"]),
        ("  a=1  b=2 ", ["a=1", "b=2"]),
        ("a=1, b=2", ["a=1", "b=2"]),
        ("a=one two b=3", ["a=one two", "b=3"]),
        ("a=1\\, b=2", ["a=1\\,", "b=2"]),
        ('a={"x": 1} b=[1, 2]', ['a={"x": 1}', "b=[1, 2]"]),
        ('a="x b=1" c=2', ['a="x b=1"', "c=2"]),
    ],
)
def test_a_space_in_a_variable_separates_two_values_if_a_name_follows(text: str, values: list[str]):
    assert [*split_at_spaces(text)] == values


def test_the_variables_are_those_of_the_options_and_those_of_exec_and_make_run():
    of_options = {*variables_of(cli)}

    others = {EXEC_CONDUCT_VARIABLE, EXEC_URL_VARIABLE, MAKE_RUN_VARIABLE}
    assert of_options | others == KNOWN_VARIABLES


def test_each_option_of_start_has_a_variable_with_its_name():
    for option in start.params:
        name = max(option.opts, key=len).removeprefix("--").replace("-", "_").upper()

        assert option.envvar == PREFIX + name


@pytest.mark.parametrize(
    "text",
    [
        'data_modes=["shared", "separate"],accepted_status=200',
        'data_modes=["shared", "separate"], accepted_status=200',
        ' data_modes=["shared", "separate"]  accepted_status=200\n',
    ],
)
def test_the_values_in_a_variable_may_contain_spaces(monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("HOSTING_EMULATOR_ASSUME", text)

    context = start.make_context("start", [])

    assert context.params["assume"] == (
        ("data_modes", '["shared", "separate"]'),
        ("accepted_status", "200"),
    )


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("HOSTING_EMULATOR_PROT", "HOSTING_EMULATOR_PORT"),
        ("HOSTING_EMULATOR_ALLOW_ORIGINS", "HOSTING_EMULATOR_ALLOW_ORIGIN"),
        ("HOSTING_EMULATOR_LOGLEVEL", "HOSTING_EMULATOR_LOG_LEVEL"),
    ],
)
def test_a_variable_that_nothing_reads_is_reported_with_the_nearest_name(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, nearest: str
):
    monkeypatch.setenv(name, "1")

    result = run("conduct", "rules")

    assert result.stderr == (
        f"Warning: nothing reads the variable {name}; did you mean {nearest}?\n"
    )
    assert result.exit_code == 0


def test_a_variable_without_a_near_name_is_reported_in_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOSTING_EMULATOR_QUUX", "1")

    result = run("conduct", "rules")

    assert result.stderr == (
        "Warning: nothing reads the variable HOSTING_EMULATOR_QUUX; "
        "`hosting-emulator start --help` explains the variables\n"
    )


@pytest.mark.usefixtures("bootstrap")
def test_with_a_log_in_json_the_warning_is_a_line_of_the_log(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOSTING_EMULATOR_PROT", "1")

    result = run("start", "--ephemeral", "--log-format", "json")
    quiet = run("start", "--ephemeral", "--log-format", "json", "--log-level", "error")

    line = json.loads(result.stderr)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "warning",
        "logger": "hosting_emulator",
        "message": (
            "nothing reads the variable HOSTING_EMULATOR_PROT; did you mean HOSTING_EMULATOR_PORT?"
        ),
    }
    assert quiet.stderr == ""


def test_the_variable_for_the_format_of_the_log_counts_as_well(
    run: Run, bootstrap: FakeBootstrap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOSTING_EMULATOR_PROT", "1")
    monkeypatch.setenv("HOSTING_EMULATOR_LOG_FORMAT", "json")

    result = run("start", "--ephemeral")

    assert json.loads(result.stderr)["level"] == "warning"
    [settings] = bootstrap.settings
    assert settings.log_format == "json"


def test_service_links_are_ignored(
    run: Run, bootstrap: FakeBootstrap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    for name, value in SERVICE_LINKS.items():
        monkeypatch.setenv(name, value)

    result = run("start", "--ephemeral")

    assert "Warning" not in result.stderr
    assert result.exit_code == 0
    [settings] = bootstrap.settings
    assert (settings.port, settings.tls_port) == (4620, None)
    assert look_around().default_url == "http://127.0.0.1:4620"


@pytest.mark.parametrize("value", ["4700", "0"])
def test_a_port_is_no_service_link(value: str):
    assert not is_service_link("HOSTING_EMULATOR_PORT", value)


def test_doctor_reports_the_same_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    for name, value in {**SERVICE_LINKS, "HOSTING_EMULATOR_PROT": "1"}.items():
        monkeypatch.setenv(name, value)

    findings, _ = check_settings(start)

    assert [finding.seen for finding in findings] == [
        "Nothing reads the variable HOSTING_EMULATOR_PROT; did you mean HOSTING_EMULATOR_PORT?"
    ]
