"""Commands that are printed work as they are printed, also for another port and another world."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from hosting_emulator.sdk import ControlRefused, EmulatorUnreachable
from hosting_emulator_cli.main import cli
from tests.contract.test_fault_doors import Faulty


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Result]:
    """Types a line in a shell that knows of no emulator."""
    for name in ("URL", "WORLD", "PORT", "READY_FILE"):
        monkeypatch.delenv(f"HOSTING_EMULATOR_{name}", raising=False)

    def run(line: str) -> Result:
        name, *words = shlex.split(line)
        assert name == "hosting-emulator"
        return CliRunner().invoke(cli, words)

    return run


@pytest.fixture
def api(hosting_emulator) -> Faulty:
    return Faulty(hosting_emulator)


def stuck(api: Faulty) -> str:
    operation: str = api.initialize(1).json["id"]
    api.emulator.intervene("stick_operation", project="shop")
    return operation


def told(api: Faulty) -> str:
    api.emulator.outcome("stick", phase="queued")
    operation: str = api.initialize(1).json["id"]
    api.advance("1m")
    return operation


def reconciling(api: Faulty) -> str:
    operation: str = api.initialize(1).json["id"]
    api.emulator.intervene("require_reconciliation", project="shop")
    return operation


def waiting(api: Faulty) -> str:
    api.emulator.intervene("hold_claim", project="shop")
    operation: str = api.initialize(1).json["id"]
    return operation


def manual(api: Faulty) -> str:
    api.assume(source_profile="manual")
    operation: str = api.initialize(1).json["id"]
    return operation


def timed(api: Faulty) -> str:
    operation: str = api.initialize(1).json["id"]
    return operation


def disturbed(api: Faulty) -> str:
    operation: str = api.initialize(1).json["id"]
    api.emulator.fault("timeout", call="get_operation")
    return operation


@pytest.mark.parametrize("begin", [timed, stuck, told, reconciling, waiting, manual, disturbed])
def test_what_why_tells_to_do_can_be_typed(api: Faulty, typed, begin) -> None:
    commands = api.emulator.why(begin(api)).commands

    assert commands
    for command in commands:
        assert f"--world {api.emulator.name} --url http://127.0.0.1:" in command
        result = typed(command)
        assert result.exit_code == 0, (command, result.output)


def test_the_report_tells_the_same(api: Faulty, typed) -> None:
    stuck(api)

    [line] = re.findall("try: (.*)", api.emulator.report())

    assert typed(line).exit_code == 0


def test_who_reaches_nobody_is_told_how_to_start_one_there() -> None:
    shown = str(EmulatorUnreachable("http://127.0.0.1:4711/_emulator", "refused"))

    assert "`hosting-emulator start --port 4711`" in shown
    usual = EmulatorUnreachable("http://127.0.0.1:4620/_emulator", "refused")
    assert "`hosting-emulator start`" in str(usual)


def test_an_unknown_world_is_said_to_be_one(api: Faulty) -> None:
    with pytest.raises(ControlRefused, match=r"no world is named 'nope'; there are default"):
        api.emulator.control.get("worlds/nope/clock")
