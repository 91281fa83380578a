"""An option has the name of its field in the control API, in scenarios and in the SDK."""

from __future__ import annotations

from inspect import signature
from typing import get_type_hints

import click
import pytest

from hosting_emulator.control.new_worlds import NewWorld
from hosting_emulator.control.scenarios import ScenarioRun
from hosting_emulator.control.tokens import NewToken
from hosting_emulator.messages import RequestFilters
from hosting_emulator.sdk import HostingEmulator
from hosting_emulator.world.fault_records import Rule
from hosting_emulator_cli.main import cli

#: The fields that differ from their option. A repeatable option is in the singular, and the list or
#: mapping of its values in the plural.
FIELDS = {"assume": "assumptions"}
#: The same for a fault. `principal` is the contract's word for a user or a key.
FAULT_FIELDS = {"pause": "pauses", "user": "principal"}


def options_of(*path: str) -> dict[str, click.Option]:
    """Return the options of a command by name, except those of every command."""
    command: click.Command | None = cli
    for name in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    named = {max(option.opts, key=len): option for option in options}
    return {
        name: option
        for name, option in named.items()
        if name not in ("--url", "--control-token", "--world", "--json")
    }


def test_the_filters_of_the_log_have_the_same_names_everywhere():
    own = {name.removeprefix("--") for name in options_of("requests", "list")}

    assert {*get_type_hints(RequestFilters)} - {"after"} == own - {"limit", "whole"}


@pytest.mark.parametrize("command", ["fault", "outcome"])
def test_a_fault_has_the_same_fields_on_the_command_line_and_in_a_scenario(command: str):
    options = {name.removeprefix("--").replace("-", "_") for name in options_of(command, "add")}
    fields = {FAULT_FIELDS.get(name, name) for name in options - {"json_fault"}}
    of_rule = {name.removesuffix("_") for name in Rule.__struct_fields__}

    assert fields <= of_rule
    if command == "fault":
        assert fields == of_rule
    parameters = {
        name.rstrip("_") for name in signature(getattr(HostingEmulator, command)).parameters
    }
    assert fields <= parameters


@pytest.mark.parametrize(
    ("path", "body", "others"),
    [
        # `--without-session` is `interactive: false`, which is the contract's word.
        (("token",), NewToken, {"without_session", "api_key", "permission"}),
        # `--clock` and `--at` are the members of the field `clock`.
        (("world", "create"), NewWorld, {"at"}),
        (("scenario", "run"), ScenarioRun, {"junit"}),
    ],
)
def test_a_field_of_the_control_api_has_the_name_of_its_option(
    path: tuple[str, ...], body: type, others: set[str]
):
    options = {name.removeprefix("--").replace("-", "_") for name in options_of(*path)}
    fields = {FIELDS.get(name, name) for name in options - others}

    assert fields <= {*get_type_hints(body)}
