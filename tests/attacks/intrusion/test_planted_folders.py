"""A checkout with foreign files never makes a command send the control token to another program.

The attacker wrote files of the checkout, and listens on a port of this machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.control_samples import INFO, items, world
from tests.support.data_directories import running_in, write_address
from tests.support.fake_control import FakeControl, refusal
from tests.support.warm import COMMAND

TOKEN = "only-for-my-emulator-0123456789"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    return folder


@pytest.fixture
def attacker() -> Iterator[FakeControl]:
    with FakeControl() as fake:
        fake.on("GET /worlds", items(world()))
        yield fake


@pytest.fixture
def run(checkout: Path, tmp_path: Path) -> Callable[..., str]:
    """Run a command in the checkout, in a shell that sets the control token, and return its output."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("HOSTING_EMULATOR_")}
    variables["HOSTING_EMULATOR_CONTROL_TOKEN"] = TOKEN
    variables["XDG_RUNTIME_DIR"] = str(tmp_path)

    def run(*words: str) -> str:
        result = warm.run([COMMAND, *words], cwd=checkout, env=variables)
        return result.stdout + result.stderr

    return run


def sent_tokens(attacker: FakeControl) -> list[str]:
    return [value for request in attacker.requests for value in request.headers.values()]


def test_an_address_in_a_checkout_leads_to_no_request(
    checkout: Path, attacker: FakeControl, run: Callable[..., str]
):
    write_address(checkout / ".hosting-emulator", attacker.url)

    assert "is not running" in run("status")
    assert attacker.connections == 0


def test_an_attacker_who_can_lock_the_folder_receives_no_control_token(
    checkout: Path, attacker: FakeControl, run: Callable[..., str]
):
    state = checkout / ".hosting-emulator"
    attacker.on("GET /info", {**INFO, "data_dir": str(state)})

    with running_in(state, attacker.url):
        assert "version" in run("status")

    assert attacker.requests
    assert TOKEN not in sent_tokens(attacker)


def test_an_attacker_who_asks_for_the_control_token_does_not_receive_it(
    checkout: Path, attacker: FakeControl, run: Callable[..., str]
):
    attacker.on("GET /info", refusal(401, "Control token required"))

    with running_in(checkout / ".hosting-emulator", attacker.url):
        assert "requires the control token" in run("status")

    assert TOKEN not in sent_tokens(attacker)


def test_a_port_in_a_settings_file_of_a_checkout_receives_no_control_token(
    checkout: Path, attacker: FakeControl, run: Callable[..., str]
):
    (checkout / "hosting-emulator.yaml").write_text(f"port: {attacker.url.rpartition(':')[2]}")
    attacker.on("GET /info", refusal(401, "Control token required"))

    assert f"add --url {attacker.url}" in run("status")
    assert attacker.requests
    assert TOKEN not in sent_tokens(attacker)


def test_an_address_that_the_user_gives_receives_the_control_token(
    attacker: FakeControl, run: Callable[..., str]
):
    attacker.on("GET /info", INFO)

    run("status", "--url", attacker.url)

    assert TOKEN in sent_tokens(attacker)
