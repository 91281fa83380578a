"""The shell completes names from the program and from the running emulator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.shell_completion import ShellComplete

from hosting_emulator_cli.main import cli
from hosting_emulator_scenarios import FOLDER
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.http_world import HttpWorld


@pytest.fixture(scope="module")
def emulator() -> Iterator[BackgroundEmulator]:
    with emulator_in_thread(library=FOLDER) as emulator:
        yield emulator


def offered(line: str) -> set[str]:
    """Return the completions of the last word of a line."""
    *words, last = line.split(" ")
    shell = ShellComplete(cli, {}, "hosting-emulator", "_HOSTING_EMULATOR_COMPLETE")
    return {item.value for item in shell.get_completions(words, last) if item.type == "plain"}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("sce", {"scenario"}),
        ("scenario load provider-o", {"provider-outage"}),
        ("start --scenario provider-o", {"provider-outage"}),
        ("fault add --call apply", {"apply_project_domains"}),
        ("requests list --call redeem", {"redeem_ticket"}),
        ("fault add connection", {"connection_reset"}),
        ("explore --faults connection", {"connection_reset"}),
        ("outcome add rec", {"reconcile"}),
        ("intervene stick", {"stick_operation"}),
    ],
)
def test_completion_offers_names_that_need_no_emulator(line: str, names: set[str]) -> None:
    assert offered(line) == names


def test_completion_offers_names_from_the_running_emulator(
    emulator: BackgroundEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTING_EMULATOR_URL", emulator.base_url)
    world = emulator.world()
    operation = HttpWorld(world).initialize(1).json["id"]
    fault = world.fault("timeout")
    option = f"--world {world.name}"

    assert world.name in offered("clock show --world ")
    assert offered(f"world delete {world.name}") == {world.name}
    assert operation in offered(f"why {option} {operation[:12]}")
    assert operation in offered(f"clock advance {option} --until-operation ")
    assert offered(f"fault remove {option} ") == {fault.id}
    assert offered(f"fault add {option} --project sh") == {"shop"}
    assert offered(f"requests list {option} --user own") == {"owner"}


def test_completion_offers_nothing_without_an_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTING_EMULATOR_URL", "http://127.0.0.1:1")

    assert offered("world delete ") == set()
