"""A changed stored world is replaced only on request, and the printed commands bring it back."""

from __future__ import annotations

import re
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator
from tests.support import warm
from tests.support.emulator_process import Process, emulator, failed_start
from tests.support.http_world import HttpWorld
from tests.support.warm import COMMAND


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, str]:
    return "--data-dir", str(tmp_path / "data")


@pytest.fixture
def running(data: tuple[str, str]) -> Iterator[Process]:
    with emulator(*data, "--clock", "frozen") as process:
        yield process


@pytest.fixture
def world(running: Process) -> Iterator[HostingEmulator]:
    """The stored default world of a running emulator, in its initial state."""
    with ControlClient(running.ready["control_url"]) as control:
        yield control.world("default")


def changed(world: HostingEmulator) -> dict[str, Any]:
    """Change a world and return its tables."""
    assert HttpWorld(world).set_flag(False).status == 200
    return tables(world)


def tables(world: HostingEmulator) -> dict[str, Any]:
    rows: dict[str, Any] = world.export(with_seed=True)["tables"]
    return rows


def command(world: HostingEmulator, *words: str, **options: Any) -> CompletedProcess[str]:
    """Run a command of hosting-emulator for an emulator."""
    url = world.control.control_url.removesuffix("/_emulator")
    return warm.run([COMMAND, *words, "--url", url], **options)


def advised(text: str, word: str) -> list[str]:
    """Return the only command of a message that contains a word, as its arguments."""
    joined = " ".join(text.split())
    (line,) = {line for line in re.findall(r"`([^`]*)`", joined) if f" world {word} " in line}
    return shlex.split(line)[1:]


def follow(advice: list[str], folder: Path) -> None:
    """Run a printed command."""
    result = warm.run([COMMAND, *advice], cwd=folder)
    assert result.returncode == 0, result.stderr


def test_loading_a_scenario_leaves_a_changed_world_as_it_is(world: HostingEmulator) -> None:
    before = changed(world)

    result = command(world, "scenario", "load", "stuck-operation")

    assert result.returncode != 0
    assert "--replace" in result.stderr
    assert tables(world) == before
    assert len(world.requests) == 1


def test_the_option_replace_loads_the_scenario(world: HostingEmulator) -> None:
    before = changed(world)

    result = command(world, "scenario", "load", "stuck-operation", "--replace")

    assert result.returncode == 0
    assert tables(world) != before


def test_an_export_as_advised_brings_the_world_back(world: HostingEmulator, tmp_path: Path) -> None:
    before = changed(world)
    refusal = command(world, "scenario", "load", "stuck-operation").stderr

    follow(advised(refusal, "export"), tmp_path)
    assert command(world, "scenario", "load", "stuck-operation", "--replace").returncode == 0
    follow(advised(refusal, "import"), tmp_path)

    assert tables(world) == before


def test_a_rewind_as_advised_brings_the_world_back(world: HostingEmulator, tmp_path: Path) -> None:
    before = changed(world)
    refusal = command(world, "scenario", "load", "stuck-operation").stderr

    assert command(world, "scenario", "load", "stuck-operation", "--replace").returncode == 0
    follow(advised(refusal, "rewind"), tmp_path)

    assert tables(world) == before


def test_importing_a_state_leaves_a_changed_world_as_it_is(
    world: HostingEmulator, tmp_path: Path
) -> None:
    file = tmp_path / "before.json"
    world.export(file, with_seed=True)
    before = changed(world)

    refused = command(world, "world", "import", str(file))

    assert refused.returncode == 2
    assert "--replace" in refused.stderr
    assert tables(world) == before
    assert len(world.requests) == 1

    follow(advised(refused.stderr, "export"), tmp_path)
    assert command(world, "world", "import", str(file), "--replace").returncode == 0
    assert tables(world) != before
    changed(world)
    follow(advised(refused.stderr, "import"), tmp_path)
    assert tables(world) == before


def test_the_advice_for_another_world_names_it(world: HostingEmulator, tmp_path: Path) -> None:
    world.control.create_world("ci-1", ephemeral=False, clock={"mode": "frozen"})
    other_world = world.control.world("ci-1")
    before = changed(other_world)
    load = ("scenario", "load", "stuck-operation", "--world", "ci-1")
    refusal = command(world, *load).stderr

    assert command(world, *load, "--replace").returncode == 0
    follow(advised(refusal, "rewind"), tmp_path)

    assert tables(other_world) == before


def test_a_world_that_has_not_changed_is_replaced_at_once(world: HostingEmulator) -> None:
    for name in ("stuck-operation", "provider-outage"):
        assert command(world, "scenario", "load", name).returncode == 0
    world.intervene("set_credits", organization="acme", credits=7)
    world.reset()

    assert command(world, "scenario", "load", "stuck-operation").returncode == 0


def test_changes_before_a_restart_protect_a_world_from_replacement(data: tuple[str, str]) -> None:
    with emulator(*data) as process, ControlClient(process.ready["control_url"]) as control:
        changed(control.world("default"))
        process.stop()

    with emulator(*data) as process, ControlClient(process.ready["control_url"]) as control:
        world = control.world("default")
        assert command(world, "scenario", "load", "stuck-operation").returncode != 0
        process.stop()


def test_an_imported_world_is_not_replaced_silently(world: HostingEmulator) -> None:
    world.import_state(world.export())

    assert command(world, "scenario", "load", "stuck-operation").returncode != 0


def test_a_story_does_not_replace_a_changed_world_silently(world: HostingEmulator) -> None:
    before = changed(world)
    run = ("scenario", "run", "stuck-operation", "provider-outage", "--world", "default")

    refused = command(world, *run)
    assert refused.returncode == 2
    assert "--replace" in refused.stdout + refused.stderr
    assert tables(world) == before

    assert command(world, *run, "--replace").returncode == 0


def test_the_control_api_replaces_a_changed_world_only_on_request(
    running: Process, data: Any
) -> None:
    client = running.client()
    with ControlClient(running.ready["control_url"]) as control:
        changed(control.world("default"))
    path = "/_emulator/worlds/default/scenario"

    assert client.send("POST", path, {"name": "stuck-operation"}).status == 409
    assert client.send("POST", path, {"name": "stuck-operation", "replace": True}).status == 200


def test_a_program_replaces_a_changed_world_by_default(world: HostingEmulator) -> None:
    changed(world)
    with pytest.raises(ControlRefused) as refused:
        world.load_scenario(name="stuck-operation", replace=False)

    assert refused.value.status == 409
    world.load_scenario(name="stuck-operation")


def test_a_world_in_memory_is_replaced_at_once(world: HostingEmulator) -> None:
    with HostingEmulator.fresh(world.control) as temporary:
        changed(temporary)
        load = ("scenario", "load", "stuck-operation", "--world", temporary.name)

        assert command(world, *load).returncode == 0


def test_start_says_how_to_get_the_old_world_back(data: tuple[str, str], tmp_path: Path) -> None:
    with emulator(*data, "--clock", "frozen") as process:
        with ControlClient(process.ready["control_url"]) as control:
            before = changed(control.world("default"))
        process.stop()
    refusal = failed_start(*data, "--port", "0", "--scenario", "stuck-operation").stderr
    assert "--replace" in refusal

    with emulator(*data) as process, ControlClient(process.ready["control_url"]) as control:
        url = ("--url", process.base_url)
        follow([*advised(refusal, "export"), *url], tmp_path)
        process.stop()
    replaced = ("--scenario", "stuck-operation", "--replace")
    with emulator(*data, *replaced) as process:
        with ControlClient(process.ready["control_url"]) as control:
            world = control.world("default")
            assert tables(world) != before
            follow([*advised(refusal, "import"), "--url", process.base_url], tmp_path)
            assert without_progress(tables(world)) == without_progress(before)
        process.stop()


def test_a_start_that_replaced_names_the_commit_to_rewind_to(
    data: tuple[str, str], tmp_path: Path
) -> None:
    with emulator(*data, "--clock", "frozen") as process:
        with ControlClient(process.ready["control_url"]) as control:
            before = changed(control.world("default"))
        process.stop()

    with emulator(*data, "--scenario", "stuck-operation", "--replace") as process:
        with ControlClient(process.ready["control_url"]) as control:
            world = control.world("default")
            commits = [commit for commit in world.history if commit.title == "began"]
            world.rewind(commits[0].commit)
            assert without_progress(tables(world)) == without_progress(before)
        _, warnings = process.stop()
    assert advised(warnings, "rewind")[-1] == str(commits[0].commit)


def without_progress(rows_by_table: dict[str, Any]) -> dict[str, Any]:
    """Return the tables without the rows that sign-ins and restarts change."""
    return {name: rows for name, rows in rows_by_table.items() if name not in ("clock", "streams")}


def test_a_start_that_cannot_listen_replaces_nothing(
    data: tuple[str, str], running: Process, world: HostingEmulator
) -> None:
    before = changed(world)
    running.stop()

    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        refused = failed_start(*data, "--scenario", "admission", "--replace", "--port", port)

    assert refused.returncode == 2
    assert f"port {port} " in refused.stderr
    with emulator(*data) as process, ControlClient(process.ready["control_url"]) as control:
        assert tables(control.world("default")) == before
