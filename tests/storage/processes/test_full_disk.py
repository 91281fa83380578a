"""A full disk: changes are refused, reads succeed, and nothing is lost."""

from __future__ import annotations

import sys

import pytest

from tests.support.emulator_process import Process, emulator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")


def limit_files(process: Process, size: int) -> None:
    """Limit the size of the files of a process, which for it is the same as a full disk."""
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
            path = f"{project}/powered-by-flag"
            return client.send("PUT", path, {"enabled": True}, headers).status

        assert switch(0) == 200
        limit_files(process, journal.stat().st_size + 2_500)
        statuses = [switch(number) for number in range(1, 10)]
        limit_files(process, journal.stat().st_size)
        state_on_full_disk = client.state()
        refused = [
            client.send("POST", f"/_emulator/{path}", body).status
            for path, body in (
                ("worlds", {"name": "more", "ephemeral": False}),
                ("worlds/default/clock/advance", {"by": "1d"}),
                ("worlds/default/fork", {"name": "fork", "ephemeral": False}),
                ("worlds/default/reset", {}),
            )
        ]
        read = client.send("GET", f"{project}/deployments", headers=token)

        assert set(statuses) == {200, 503}
        assert statuses == sorted(statuses)
        assert refused == [503] * 4
        assert read.status == 200
        assert client.state() == state_on_full_disk

        limit_files(process, 1 << 40)
        assert [switch(number) for number in range(10)] == [200] * 10
        expected = client.state()
        process.kill()

    with emulator(*data) as process:
        client = process.client()
        assert client.state() == expected
        assert [world["name"] for world in client.control("GET", "worlds")["items"]] == ["default"]
