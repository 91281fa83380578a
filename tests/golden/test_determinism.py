"""The same seed and requests give the same responses, with or without a restart in between."""

from __future__ import annotations

from pathlib import Path

from tests.support.emulator_process import Client, emulator


def test_a_restart_in_between_changes_no_response(tmp_path: Path) -> None:
    options = ("--clock", "frozen", "--seed", "x")

    with emulator("--data-dir", str(tmp_path / "running"), *options) as process:
        bodies = make_changes(process.client(), 0)
        bodies += make_changes(process.client(), 1)

    with emulator("--data-dir", str(tmp_path / "restarted"), *options) as process:
        bodies_with_restart = make_changes(process.client(), 0)
    # In an interpreter of its own, whose sets have another order.
    with emulator("--data-dir", str(tmp_path / "restarted"), *options, cold=True) as process:
        bodies_with_restart += make_changes(process.client(), 1)

    assert bodies == bodies_with_restart


def make_changes(client: Client, part: int) -> list[bytes]:
    """Change a project several times. Return the bodies of the responses."""
    token = client.token()
    projects = client.control("GET", "worlds/default")["projects"]
    project_id = next(project["id"] for project in projects if project["alias"] == "shop")
    path = f"/v1/projects/{project_id}"
    bodies: list[bytes] = []
    for number in range(10):
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"{part}-{number}"}
        bodies.append(client.send("PUT", f"{path}/domains", headers=headers).body)
        bodies.append(client.send("POST", f"{path}/dev-access-tickets", headers=headers).body)
        client.control("POST", "worlds/default/clock/advance", {"by": "7s"})
    return bodies


def test_another_seed_gives_other_ids(tmp_path: Path) -> None:
    project_ids = []
    for seed in ("one", "two"):
        with emulator("--data-dir", str(tmp_path / seed), "--seed", seed) as process:
            project_ids.append(process.ready["project_id"])

    assert project_ids[0] != project_ids[1]
