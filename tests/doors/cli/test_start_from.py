"""`start --import FILE` begins with an exported world; an invalid file changes no stored world."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from hosting_emulator_cli.main import cli
from tests.support.emulator_process import emulator, failed_start

#: Chosen for starts that must fail, so that a taken default port is not the reason.
ANY_PORT = ("--port", "0")


@pytest.fixture
def stored_world(tmp_path: Path) -> Path:
    """An exported world with a frozen clock, one day after its beginning."""
    path = tmp_path / "kept.json"
    with emulator("--ephemeral", "--clock", "frozen", "--seed", "of the file") as process:
        client = process.client()
        client.control("POST", "worlds/default/clock/advance", {"by": "1d"})
        path.write_text(json.dumps(client.state()), encoding="utf-8")
    return path


def without_commit(state: Any) -> Any:
    return {name: value for name, value in state.items() if name != "commit"}


def test_the_default_world_begins_as_the_file_describes_it(stored_world: Path):
    with emulator("--ephemeral", "--import", str(stored_world)) as process:
        client = process.client()
        state = client.state()
        headers = {"Authorization": f"Bearer {process.ready['token']}"}
        path = f"/v1/projects/{process.ready['project_id']}/edge-dns"
        assert client.send("GET", path, headers=headers).status == 200

    assert without_commit(state) == without_commit(json.loads(stored_world.read_text()))


def test_a_world_from_a_file_continues_with_a_new_seed_or_a_chosen_one(stored_world: Path):
    seeds = []
    for seed_options in ((), (), ("--seed", "given")):
        with emulator("--ephemeral", "--import", str(stored_world), *seed_options) as process:
            seeds.append(process.client().control("GET", "worlds/default")["seed"])

    assert seeds[2] == "given"
    assert len({*seeds, "of the file"}) == 4


def test_a_world_from_a_file_replaces_the_stored_world(stored_world: Path, tmp_path: Path):
    data = ("--data-dir", str(tmp_path / "data"))
    with emulator(*data, "--clock", "skip") as process:
        process.client().control("POST", "worlds", {"name": "mine"})
        process.stop()

    refused = failed_start(*data, *ANY_PORT, "--import", str(stored_world)).stderr
    assert "already has a stored world" in refused
    assert "--replace" in refused

    with emulator(*data, "--import", str(stored_world), "--replace") as process:
        process.client().control("POST", "worlds/default/clock/advance", {"by": "1d"})
        process.stop()

    with emulator(*data) as process:
        client = process.client()
        clock = client.control("GET", "worlds/default/clock")
        assert (clock["mode"], clock["now"]) == ("frozen", "2026-01-03T00:00:00.000Z")
        assert len(client.control("GET", "worlds")["items"]) == 2


def test_a_scenario_replaces_the_stored_world_only_on_request(tmp_path: Path):
    data = ("--data-dir", str(tmp_path / "data"))
    scenario = ("--scenario", "stuck-operation")
    with emulator(*data, *scenario) as process:  # A new world has nothing to lose.
        before = process.client().state()
        process.stop()

    refused = failed_start(*data, *ANY_PORT, "--scenario", "provider-outage").stderr
    assert "already has a stored world, which --scenario would replace" in refused
    with emulator(*data) as process:
        assert process.client().state()["tables"]["projects"] == before["tables"]["projects"]
        process.stop()

    with emulator(*data, *scenario, "--replace") as process:
        assert process.ready["fresh"]


def test_the_commands_that_save_a_stored_world_from_a_replacement_name_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # given a stored world, and a refusal to replace it on a port of the user's choice
    for name in ("URL", "WORLD", "PORT", "READY_FILE"):
        monkeypatch.delenv(f"HOSTING_EMULATOR_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
    data = ("--data-dir", str(tmp_path / "data"))
    with emulator(*data) as process:
        port = str(urlsplit(process.ready["base_url"]).port)
        process.stop()
    refused = failed_start(*data, "--port", port, "--scenario", "stuck-operation").stderr
    commands = re.findall("`hosting-emulator (.*?)`", " ".join(refused.split()))

    # when each printed command is run while the emulator runs there
    with emulator(*data, "--port", port):
        results = [CliRunner().invoke(cli, shlex.split(command)) for command in commands]

    assert len(commands) == 2
    assert [result.exit_code for result in results] == [0, 0], [result.output for result in results]


def test_a_refusal_does_not_blame_a_variable_whose_value_only_its_commands_contain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data = ("--data-dir", str(tmp_path / "data"))
    with emulator(*data) as process:
        process.stop()
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", "47901")

    refused = failed_start(*data, "--scenario", "stuck-operation").stderr

    assert "--url http://127.0.0.1:47901" in refused
    assert "HOSTING_EMULATOR_PORT" not in refused


def test_the_option_scenario_begins_only_the_first_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A container with a volume has the same variables at each start."""
    monkeypatch.setenv("HOSTING_EMULATOR_SCENARIO", "stuck-operation")
    data = ("--data-dir", str(tmp_path / "data"))
    for fresh in (True, False):
        with emulator(*data) as process:
            assert process.ready["fresh"] is fresh
            process.stop()


def test_the_scaled_clock_of_a_file_continues_from_its_stored_time(tmp_path: Path):
    stored_world = tmp_path / "kept.json"
    with emulator("--ephemeral", "--clock", "scaled:1000") as process:
        state = process.client().state()
    state["tables"]["clock"]["world"]["machine_ms"] -= 3_600_000  # It was exported an hour ago.
    stored_world.write_text(json.dumps(state))

    with emulator("--ephemeral", "--import", str(stored_world)) as process:
        clock = process.client().state()["tables"]["clock"]["world"]

    assert (clock["mode"], clock["world_ms"]) == ("scaled", state["at_ms"])


def cut(text: str) -> str:
    return text[: len(text) // 2]


def without_kind(text: str) -> str:
    return text.replace("hosting-emulator state", "a shopping list")


def with_an_odd_row(text: str) -> str:
    document = json.loads(text)
    next(iter(document["tables"]["projects"].values()))["flag_enabled"] = "perhaps"
    return json.dumps(document)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (cut, "is not JSON"),
        (without_kind, '"kind": "hosting-emulator state"'),
        (with_an_odd_row, "projects"),
    ],
)
def test_an_invalid_file_is_an_error_of_one_line_and_changes_no_stored_world(
    stored_world: Path, tmp_path: Path, spoil: Callable[[str], str], reason: str
):
    data = ("--data-dir", str(tmp_path / "data"))
    invalid_file = tmp_path / "bad.json"
    invalid_file.write_text(spoil(stored_world.read_text()))
    with emulator(*data, "--clock", "skip") as process:
        before = process.client().state()
        process.stop()

    result = failed_start(*data, *ANY_PORT, "--import", str(invalid_file))

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {invalid_file}")
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1
    with emulator(*data) as process:
        assert process.client().state() == before


def test_a_missing_file_is_an_error_and_creates_no_data_directory(tmp_path: Path):
    result = failed_start("--data-dir", "data", "--import", "no-such.json", cwd=tmp_path)

    assert result.returncode == 2
    assert result.stderr == "Error: no-such.json cannot be read: no such file or directory\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option",
    [
        ("--scenario", "stuck-operation"),
        ("--clock", "real"),
        ("--at", "2030-01-31T09:30:00Z"),
        ("--assume", "accepted_status=200"),
    ],
    ids=lambda words: words[0],
)
def test_from_refuses_other_options_that_describe_the_beginning(
    stored_world: Path, option: tuple[str, str]
):
    result = failed_start("--ephemeral", "--port", "0", "--import", str(stored_world), *option)

    assert result.returncode == 2
    assert (
        result.stderr == f"Error: {option[0]} cannot be used with --import, "
        "because the imported state sets it\n"
    )


def test_the_option_at_is_refused_with_a_scenario():
    result = failed_start(
        "--ephemeral",
        "--port",
        "0",
        "--scenario",
        "stuck-operation",
        "--at",
        "2030-01-31T09:30:00Z",
    )

    assert result.returncode == 2
    assert "--at cannot be used with a scenario" in result.stderr


def test_a_scenario_from_stdin_is_refused_with_the_reason():
    refused = failed_start("--ephemeral", "--watch", "--scenario", "-").stderr
    assert refused == "Error: -: the scenario cannot be read from stdin here; write it to a file\n"
