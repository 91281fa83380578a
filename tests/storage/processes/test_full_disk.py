"""A disk that is really full: changes are refused, reads go on, and nothing is lost."""

from __future__ import annotations

import sys

import pytest

from tests.support.emulator_process import Process, emulator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")


def limit_files(process: Process, size: int) -> None:
    """Let no file of a process grow beyond a size: to it, the disk is then full."""
    import resource

    hard = resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (size, hard))


@pytest.mark.parametrize("durability", ["process", "disk"])
def test_a_full_disk_refuses_changes_until_there_is_room(tmp_path, durability):
    data = ("--data-dir", str(tmp_path), "--clock", "frozen", "--durability", durability)
    journal = tmp_path / "worlds" / "default" / "journal.ndjson"
    with emulator(*data) as process:
        client = process.client()
        project = f"/v1/projects/{process.ready['project_id']}"
        token = {"Authorization": f"Bearer {client.token()}"}

        def switch(number: int) -> int:
            headers = {**token, "Idempotency-Key": str(number)}
            return client.send(
                "PUT", f"{project}/powered-by-flag", {"enabled": True}, headers
            ).status

        assert switch(0) == 200
        limit_files(process, journal.stat().st_size + 2_500)
        answers = [switch(number) for number in range(1, 10)]
        limit_files(process, journal.stat().st_size)
        full = client.state()
        made = client.send("POST", "/_emulator/worlds", {"name": "more", "ephemeral": False})
        moved = client.send("POST", "/_emulator/worlds/default/clock/advance", {"by": "1d"})
        forked = client.send(
            "POST", "/_emulator/worlds/default/fork", {"name": "fork", "ephemeral": False}
        )
        reset = client.send("POST", "/_emulator/worlds/default/reset", {})
        read = client.send("GET", f"{project}/deployments", headers=token)
        after = client.state()

        assert set(answers) == {200, 503}
        assert answers == sorted(answers)
        assert [made.status, moved.status, forked.status, reset.status] == [503] * 4
        assert read.status == 200
        assert after == full

        limit_files(process, 1 << 40)
        assert [switch(number) for number in range(10)] == [200] * 10
        there = client.state()
        process.kill()

    with emulator(*data) as process:
        client = process.client()
        assert client.state() == there
        assert [world["name"] for world in client.control("GET", "worlds")["items"]] == ["default"]
