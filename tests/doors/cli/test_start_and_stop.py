"""Start and stop: messages, files that remain, and the state after a restart."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from hosting_emulator import DEFAULT_SEED
from hosting_emulator_cli.main import cli as hosting_emulator
from tests.support.emulator_in_loop import emulator_in_loop
from tests.support.emulator_process import Client, emulator, failed_start

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def data(tmp_path):
    return ("--data-dir", str(tmp_path / "data"))


def one_line(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("Error: ")
    return result.stderr


def project_id(client: Client, alias: str = "shop") -> str:
    projects = client.control("GET", "worlds/default")["projects"]
    return next(str(project["id"]) for project in projects if project["alias"] == alias)


# --- found again --------------------------------------------------------------------------------


def test_a_world_is_unchanged_after_a_stop_and_a_start(data):
    with emulator(*data, "--clock", "frozen") as process:
        client = process.client()
        headers = {"Authorization": f"Bearer {client.token()}"}
        shop = process.ready["project_id"]
        acme = process.ready["organization_id"]
        flag = (f"/v1/projects/{shop}/powered-by-flag", {"enabled": True})
        flag_headers = {**headers, "Idempotency-Key": "flag"}
        switched = client.send("PUT", *flag, headers=flag_headers)
        path = f"/v1/organizations/{acme}/user-api-keys"
        key_headers = {**headers, "Idempotency-Key": "key"}
        key = client.send("POST", path, {"name": "ci"}, key_headers).json
        accepted = client.send(
            "PUT", f"/v1/projects/{shop}/domains", headers={**headers, "Idempotency-Key": "domains"}
        ).json
        ticket = client.send("POST", f"/v1/projects/{shop}/dev-access-tickets", headers=headers)
        client.control("POST", "worlds/default/clock/advance", {"by": "3s"})
        assert process.stop() == (0, "")

    with emulator(*data) as process:
        client = process.client()
        # then the same key gets the same response with the same token
        retried = client.send("PUT", *flag, headers=flag_headers)
        assert (retried.status, retried.body) == (switched.status, switched.body)
        replayed = client.send("POST", path, {"name": "ci"}, key_headers).json
        assert (replayed["value"], replayed["key"]["id"]) == (None, key["key"]["id"])
        # and the API key is valid for its user
        as_key = {"Authorization": f"Bearer {key['value']}"}
        assert client.send("GET", f"/v1/projects/{shop}/edge-dns", headers=as_key).status == 200
        # and the operation continues where it was
        poll = f"/v1/operations/{accepted['id']}"
        assert client.send("GET", poll, headers=headers).json["state"] == "running"
        client.control("POST", "worlds/default/clock/advance", {"by": "7s"})
        assert client.send("GET", poll, headers=headers).json["state"] == "succeeded"
        # and the ticket can be redeemed once
        redeem_url = urlsplit(ticket.json["redeem_url"])
        redemption = ("GET", f"{redeem_url.path}?{redeem_url.query}")
        assert client.send(*redemption, headers={"Host": redeem_url.netloc}).status == 303
        assert client.send(*redemption, headers={"Host": redeem_url.netloc}).status == 404


def test_a_world_is_unchanged_after_a_kill_and_a_start(data):
    with emulator(*data, "--clock", "frozen") as process:
        client = process.client()
        client.control("POST", "worlds", {"name": "mine", "clock": {"mode": "skip"}})
        client.control("POST", "worlds/mine/clock/advance", {"by": "1d"})
        before = [client.state(name) for name in ("default", "mine")]
        process.kill()

    with emulator(*data) as process:
        client = process.client()
        assert [client.state(name) for name in ("default", "mine")] == before


def test_operations_advance_by_world_time_while_the_emulator_is_stopped(data):
    with emulator(*data, "--assume", "domains_profile=timed 1ms 1h") as process:
        client = process.client()
        headers = {"Authorization": f"Bearer {client.token()}", "Idempotency-Key": "a"}
        path = f"/v1/projects/{process.ready['project_id']}/domains"
        operation = client.send("PUT", path, headers=headers).json["id"]
        process.stop()

    with emulator(*data) as process:
        client = process.client()
        polled = client.send("GET", f"/v1/operations/{operation}", headers=headers).json
        assert polled["state"] == "running"
        # Half of the hour has passed.
        assert 1_700 < polled["progress"]["next_poll_after_seconds"] <= 1_800


def test_a_scaled_clock_does_not_run_while_stopped(data, tmp_path):
    rate = 1_000
    with emulator(*data, "--clock", f"scaled:{rate}") as process:
        process.client().control("GET", "worlds/default/clock")
        process.stop()
    path = tmp_path / "data" / "worlds" / "default" / "snapshot.json"
    (stopped,) = json.loads(path.read_bytes())["clock"].values()

    began_ms = time.time_ns() // 1_000_000
    with emulator(*data) as process:
        started = process.client().state()["tables"]["clock"]["world"]

    assert (started["mode"], started["rate"]) == ("scaled", rate)
    assert started["world_ms"] == stopped["world_ms"]
    assert started["machine_ms"] >= began_ms


def test_settings_for_a_new_world_do_not_change_a_stored_one(data):
    with emulator(*data, "--seed", "first", "--clock", "frozen") as process:
        first = project_id(process.client())
        process.stop()

    with emulator(*data, "--seed", "second", "--clock", "real") as process:
        client = process.client()
        assert project_id(client) == first
        assert client.control("GET", "worlds/default/clock")["mode"] == "frozen"
        _, stderr = process.stop()

    assert "continuing with the stored world" in stderr
    assert "only a new world uses --clock and --seed (" in stderr


STORED_SETTINGS = {
    "seed": "a",
    "clock": "scaled:60",
    "assumptions": {"accepted_status": "200", "listed_statuses": "closed"},
}


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, None),
        ({"seed": "b"}, "--seed"),
        ({"seed": DEFAULT_SEED}, None),
        ({"clock": "scaled:30"}, "--clock"),
        ({"clock": "scaled"}, None),
        ({"clock": "frozen"}, "--clock"),
        ({"clock": None}, None),
        ({"assumptions": {"accepted_status": "202"}}, "--assume"),
        ({"assumptions": {}}, None),
        (
            {"clock": "real", "seed": "b", "assumptions": {"accepted_status": "202"}},
            "--clock and --seed and --assume",
        ),
    ],
)
async def test_the_settings_that_a_stored_world_ignores_are_named_in_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, changes: dict[str, Any], names: str | None
) -> None:
    folder = tmp_path / "data"
    async with emulator_in_loop(data_dir=folder, **STORED_SETTINGS):
        pass
    caplog.clear()

    async with emulator_in_loop(data_dir=folder, **STORED_SETTINGS | changes):
        pass

    messages = []
    if names is not None:
        messages.append(
            f"continuing with the stored world in {folder}, which keeps its own values: only a new "
            f"world uses {names} (start with --ephemeral or another --data-dir for a new world)"
        )
    assert caplog.messages == messages


# --- stopping -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_emulator_stops_within_a_second_despite_open_connections(data, number):
    with emulator(*data) as process:
        idle = process.client()
        idle.control("GET", "health")
        parts = urlsplit(process.base_url)
        address = (str(parts.hostname), parts.port)
        with socket.create_connection(address) as upload, socket.create_connection(address) as shy:
            upload.sendall(
                b"PUT /_emulator/worlds/default/state HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: 1000000\r\n\r\n{"
            )
            shy.sendall(b"GET /v1/pro")
            idle.control("GET", "health")

            began_s = time.monotonic()
            code, errors = process.stop(number)

            # The promise is one second. The rest is for a busy machine.
            assert time.monotonic() - began_s < 1.5
            assert (code, errors) == (0, "")


def test_a_request_that_a_stop_interrupts_changes_nothing(data):
    with emulator(*data, "--clock", "frozen") as process:
        client = process.client()
        before = client.state()
        parts = urlsplit(process.base_url)
        with socket.create_connection((str(parts.hostname), parts.port)) as upload:
            upload.sendall(
                b"PUT /_emulator/worlds/default/state HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: 1000000\r\n\r\n" + json.dumps(before).encode()[:5_000]
            )
            process.stop(signal.SIGINT)

    with emulator(*data) as process:
        assert process.client().state() == before


# --- starting -----------------------------------------------------------------------------------


def test_a_port_in_use_is_an_error_of_one_line(tmp_path):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        messages = [
            one_line(failed_start(*options, "--port", str(port), cwd=tmp_path))
            for options in ((), ("--ephemeral",))
        ]

    for message in messages:
        assert f"port {port} on 127.0.0.1 " in message
        assert "--port 0" in message
    assert [*tmp_path.iterdir()] == []  # The next start begins as the first one would have.


def test_the_hint_for_a_used_port_names_make_run_if_that_was_typed():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        # `-o` prevents an installation.
        command = [
            "make",
            "--silent",
            f"VENV={sys.prefix}",
            f"-o{sys.prefix}/.installed-run",
            "run",
        ]
        result = subprocess.run(
            [*command, f"ARGS=--port {port} --ephemeral"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=60,
        )

    assert f"port {port} on 127.0.0.1 " in result.stderr
    assert "run `make run ARGS='--port 0'` for a free port" in result.stderr


def test_make_reports_no_error_after_ctrl_c():
    """Ctrl-C reaches all processes of the terminal: make, its shell and the emulator."""
    command = ["make", "--silent", f"VENV={sys.prefix}", f"-o{sys.prefix}/.installed-run", "run"]
    process = subprocess.Popen(
        [*command, "ARGS=--port 0 --ephemeral --json"],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None
        assert "base_url" in process.stdout.readline() + process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)

    assert errors == ""


def test_the_hint_for_a_used_port_names_the_option_below_another_make(tmp_path, monkeypatch):
    monkeypatch.setenv("MAKELEVEL", "1")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        message = one_line(failed_start("--port", str(port), "--ephemeral", cwd=tmp_path))

    assert message.endswith("or use --port 0 for a free port\n")


def test_a_directory_in_use_is_an_error_of_one_line(data):
    with emulator(*data) as process:
        message = one_line(failed_start("--port", "0", *data))

        assert data[1] in message
        assert process.client().control("GET", "health")["status"] == "ok"


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        (
            "journal.ndjson",
            lambda content: content.replace(b'"number":', b'"nunber":', 1),
            "checksum",
        ),
        ("snapshot.json", lambda content: content.replace(b"Acme", b"Bcme"), "checksum"),
        (
            "snapshot.json",
            lambda content: re.sub(rb'"format": \d+', b'"format": 97', content),
            "its format is 97",
        ),
        ("snapshot.json", lambda content: b"", "not a snapshot"),
    ],
)
def test_damaged_state_is_an_error_of_one_line_and_is_left_alone(
    data, tmp_path, name, change, reason
):
    with emulator(*data, "--clock", "frozen") as process:
        process.client().control("POST", "worlds/default/clock/advance", {"by": "1s"})
        process.kill()
    path = tmp_path / "data" / "worlds" / "default" / name
    whole = path.read_bytes()
    damaged = change(whole)
    assert damaged != whole
    path.write_bytes(damaged)

    message = one_line(failed_start("--port", "0", *data))

    assert reason in message
    assert name in message
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("name", ["snapshot.json", "journal.ndjson"])
def test_a_lost_file_is_an_error_of_one_line_and_starts_no_fresh_world(data, tmp_path, name):
    with emulator(*data, "--clock", "frozen") as process:
        process.client().control("POST", "worlds/default/clock/advance", {"by": "1s"})
        assert process.stop() == (0, "")
    folder = tmp_path / "data" / "worlds" / "default"
    (folder / name).unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    message = one_line(failed_start("--port", "0", *data))

    assert f"{name} is missing" in message
    assert "restore it from a copy" in message
    assert "move the folder away to start afresh" in message
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_directory_that_cannot_be_written_is_an_error_of_one_line(tmp_path):
    (tmp_path / "file").write_text("no directory")

    message = one_line(failed_start("--port", "0", "--data-dir", str(tmp_path / "file" / "data")))

    assert "cannot be written: Not a directory" in message
    assert "--ephemeral" in message


def test_the_ready_file_exists_exactly_while_the_emulator_runs(data, tmp_path):
    path = tmp_path / "ready.json"
    with emulator(*data, "--ready-file", str(path)) as process:
        process.client().control("GET", "health")
        document = json.loads(path.read_bytes())
        assert document == process.ready
        assert path.stat().st_mode & 0o777 == 0o600
        assert document["pid"] == process.popen.pid
        process.stop()

    assert not path.exists()


def test_two_emulators_with_port_0_get_different_ports(tmp_path):
    with (
        emulator("--data-dir", str(tmp_path / "one")) as first,
        emulator("--data-dir", str(tmp_path / "two")) as second,
    ):
        assert first.base_url != second.base_url
        assert {p.client().control("GET", "health")["status"] for p in (first, second)} == {"ok"}


def test_an_ephemeral_emulator_leaves_no_files(tmp_path):
    with emulator("--ephemeral", cwd=tmp_path) as process:
        client = process.client()
        client.control("POST", "worlds", {"name": "mine", "ephemeral": False})
        client.control("POST", "worlds/mine/clock/advance", {"by": "1s"})
        process.stop()

    assert list(tmp_path.iterdir()) == []


def test_the_default_data_directory_is_ignored_by_git(tmp_path):
    with emulator(cwd=tmp_path) as process:
        process.stop()

    assert [path.name for path in tmp_path.iterdir()] == [".hosting-emulator"]
    assert (tmp_path / ".hosting-emulator" / ".gitignore").read_text() == "*\n"


# --- An assumption that contradicts the contract ------------------------------------------------


def test_a_start_outside_the_contract_prints_a_warning():
    with emulator("--ephemeral", "--assume", "idempotency_retention=24h") as process:
        assert process.client().control("GET", "worlds/default")["warnings"]
        code, stderr = process.stop()

    assert code == 0
    assert stderr.count("\n") == 1
    assert "idempotency_retention=24h " in stderr


def test_a_start_within_the_contract_prints_no_warning():
    with emulator("--ephemeral", "--assume", "accepted_status=200") as process:
        assert process.stop() == (0, "")


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_conduct_gives_no_verdict_after_a_restart(data, end):
    """The requests of the earlier process are lost, so their absence proves no careful client."""
    with emulator(*data, "--clock", "frozen") as process:
        client = process.client()
        headers = {"Authorization": f"Bearer {client.token()}"}
        domains = f"/v1/projects/{process.ready['project_id']}/domains"
        assert client.send("PUT", domains, headers=headers).status == 400
        if end == "stop":
            process.stop()
        else:
            process.kill()

    with emulator(*data) as process:
        dns = f"/v1/projects/{process.ready['project_id']}/edge-dns"
        assert process.client().send("GET", dns, headers=headers).status == 200
        words = ["conduct", "--url", process.base_url]
        result = CliRunner().invoke(hosting_emulator, words)

    assert result.exit_code == 2
    output = " ".join(result.output.split())
    assert "the emulator has been restarted since" in output
    assert "No verdict: not every request was checked." in result.output
