"""The data directory disappears while the emulator runs, as with `git clean -fdx`: nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.emulator_process import Client, Process, emulator

PATIENCE_S = 15.0
ARGUMENTS = ("--clock", "frozen")


def change(process: Process, client: Client, number: int) -> int:
    """Make a change through the public API, and return the status of the response."""
    path = f"/v1/projects/{process.ready['project_id']}/powered-by-flag"
    headers = {
        "Authorization": f"Bearer {process.ready['token']}",
        "Idempotency-Key": f"key-{number}",
    }
    return client.send("PUT", path, {"enabled": True}, headers).status


@contextmanager
def paused(process: Process) -> Iterator[None]:
    """Pause the emulator during a block, so that it notices nothing meanwhile."""
    os.kill(process.popen.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.popen.pid, signal.SIGCONT)


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)  # between two checks of another process


def problem_of(client: Client) -> str | None:
    health: dict[str, Any] = client.control("GET", "health")
    return health["storage"]


def delete_all(data: Path) -> None:
    shutil.rmtree(data)


def delete_contents(data: Path) -> None:
    for path in data.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def delete_worlds(data: Path) -> None:
    shutil.rmtree(data / "worlds")


def delete_world(data: Path) -> None:
    shutil.rmtree(data / "worlds" / "default")


def delete_journal(data: Path) -> None:
    (data / "worlds" / "default" / "journal.ndjson").unlink()


def empty_journal(data: Path) -> None:
    (data / "worlds" / "default" / "journal.ndjson").write_bytes(b"")


def delete_snapshot(data: Path) -> None:
    (data / "worlds" / "default" / "snapshot.json").unlink()


def delete_lock(data: Path) -> None:
    (data / "lock").unlink()


def delete_list(data: Path) -> None:
    (data / "worlds.json").unlink()


def move_away(data: Path) -> None:
    data.rename(data.with_name("moved"))


LOSSES = [
    delete_all,
    delete_contents,
    delete_worlds,
    delete_world,
    delete_journal,
    empty_journal,
    delete_snapshot,
    delete_lock,
    delete_list,
    move_away,
]


@pytest.mark.parametrize("durability", ["process", "disk"])
@pytest.mark.parametrize("lose", LOSSES)
def test_deleted_files_are_noticed_and_written_again(
    tmp_path: Path, lose: Callable[[Path], None], durability: str
):
    data = tmp_path / "data"
    arguments = ("--data-dir", str(data), "--durability", durability, *ARGUMENTS)
    with emulator(*arguments) as process:
        client = process.client()
        client.control("POST", "worlds", {"name": "second", "ephemeral": False})
        assert change(process, client, 1) == 200
        assert problem_of(client) is None

        with paused(process):
            lose(data)
        wait_until(lambda: problem_of(client))

        assert change(process, client, 2) == 200
        expected = client.state()
        errors = process.kill()
    assert len(errors.splitlines()) == 1, errors
    assert str(data) in errors

    with emulator(*arguments) as process:
        state = process.client().state()
        second = process.client().send("GET", "/_emulator/worlds/second")
        assert process.stop() == (0, "")
    assert state == expected
    assert second.status == 200


@pytest.mark.parametrize("lose", [delete_all, delete_journal])
def test_no_acknowledged_change_is_lost_before_the_deletion_is_noticed(
    tmp_path: Path, lose: Callable[[Path], None]
):
    data = tmp_path / "data"
    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        client = process.client()
        assert change(process, client, 1) == 200
        with paused(process):
            lose(data)
        assert change(process, client, 2) == 200
        expected = client.state()
        process.kill()

    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        assert process.client().state() == expected


def test_the_certificate_authority_survives_the_deletion_of_its_files(tmp_path: Path):
    data = tmp_path / "data"
    ca_file = data / "tls" / "ca.pem"
    arguments = ("--data-dir", str(data), "--tls-port", "0", *ARGUMENTS)
    with emulator(*arguments) as process:
        client = process.client()
        before = ca_file.read_bytes()
        with paused(process):
            delete_all(data)
        wait_until(lambda: problem_of(client))

        assert ca_file.read_bytes() == before
        assert "rewritten: " in str(problem_of(client))
        assert str(problem_of(client)).endswith(", the certificate authority")
        with paused(process):
            delete_all(data)
        assert process.stop()[0] == 0

    with emulator(*arguments) as process:
        assert ca_file.read_bytes() == before
        assert process.stop() == (0, "")


@pytest.mark.parametrize("lose", LOSSES)
def test_a_stop_writes_all_deleted_files_again(tmp_path: Path, lose: Callable[[Path], None]):
    data = tmp_path / "data"
    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        client = process.client()
        assert change(process, client, 1) == 200
        expected = client.state()
        with paused(process):
            lose(data)
        code, errors = process.stop()
    assert code == 0
    assert "the journal contains all changes" not in errors

    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        assert process.client().state() == expected


def test_a_foreign_directory_in_place_of_the_data_directory_is_left_alone(
    tmp_path: Path,
):
    data = tmp_path / "data"
    foreign_data = tmp_path / "foreign"
    with emulator("--data-dir", str(foreign_data), "--seed", "other", *ARGUMENTS) as process:
        expected = process.client().state()
        process.stop()

    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        client = process.client()
        assert change(process, client, 1) == 200
        with paused(process):
            data.rename(tmp_path / "moved")
            foreign_data.rename(data)
        wait_until(lambda: problem_of(client))

        assert change(process, client, 2) == 503
        code, errors = process.stop()
    assert code == 0
    assert "the journal contains all changes" not in errors

    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        assert process.client().state() == expected


def test_a_directory_that_another_emulator_took_over_is_left_alone(tmp_path: Path):
    data = tmp_path / "data"
    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        client = process.client()
        with ExitStack() as second_emulator:
            with paused(process):
                data.rename(tmp_path / "moved")
                second = second_emulator.enter_context(
                    emulator("--data-dir", str(data), "--seed", "other", *ARGUMENTS)
                )
            wait_until(lambda: problem_of(client))
            assert change(process, client, 2) == 503
            expected = second.client().state()
            second.stop()
        process.stop()

    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        assert process.client().state() == expected


def test_changes_are_refused_while_a_lost_directory_cannot_be_written_again(tmp_path: Path):
    data = tmp_path / "data"
    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        client = process.client()
        with paused(process):
            shutil.rmtree(data)
            data.write_text("a file")
        wait_until(lambda: problem_of(client))
        assert change(process, client, 2) == 503
        data.unlink()
        wait_until(lambda: change(process, client, 2) == 200)
        expected = client.state()
        code, errors = process.stop()
    assert code == 0
    assert len(errors.splitlines()) == 2, errors

    with emulator("--data-dir", str(data), *ARGUMENTS) as process:
        assert json.dumps(process.client().state()) == json.dumps(expected)
