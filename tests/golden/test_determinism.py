"""The same seed and requests give the same answers, whether or not the emulator restarts between."""

from __future__ import annotations

from tests.support.emulator_process import Client, emulator


def test_a_restart_in_between_changes_no_answer(tmp_path):
    transcripts = []
    for restarts in (False, True):
        data = ("--data-dir", str(tmp_path / str(restarts)), "--clock", "frozen", "--seed", "x")
        answers = []
        with emulator(*data) as process:
            answers += changes(process.client(), 0)
            if not restarts:
                answers += changes(process.client(), 1)
        if restarts:
            # In an interpreter of its own, whose sets have another order.
            with emulator(*data, cold=True) as process:
                answers += changes(process.client(), 1)
        transcripts.append(answers)

    assert transcripts[0] == transcripts[1]


def changes(client: Client, part: int) -> list[bytes]:
    token = client.token()
    shop = client.control("GET", "worlds/default")["projects"]
    path = f"/v1/projects/{next(p['id'] for p in shop if p['alias'] == 'shop')}"
    found = []
    for number in range(10):
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"{part}-{number}"}
        found.append(client.send("PUT", f"{path}/domains", headers=headers).body)
        found.append(client.send("POST", f"{path}/dev-access-tickets", headers=headers).body)
        client.control("POST", "worlds/default/clock/advance", {"by": "7s"})
    return found


def test_another_seed_gives_other_ids(tmp_path):
    projects = []
    for seed in ("one", "two"):
        with emulator("--data-dir", str(tmp_path / seed), "--seed", seed) as process:
            projects.append(process.ready["project_id"])

    assert projects[0] != projects[1]
