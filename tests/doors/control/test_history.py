"""The history of a world over the control API: its commits, rewinds and forks."""

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.http_world import HttpWorld

#: The number of commits in the history of a world.
KEPT_COMMITS = 1000


def path(api: HttpWorld, rest: str) -> str:
    return f"worlds/{api.emulator.name}/{rest}"


def history(api: HttpWorld, limit: int = 100) -> Any:
    return api.emulator.control.get(path(api, f"history?limit={limit}"))


def state(api: HttpWorld) -> Any:
    document = api.emulator.export()
    del document["commit"]
    return document


def test_each_commit_has_its_number_moment_and_title(api: HttpWorld):
    api.set_flag(False)
    api.emulator.clock.advance("1h")
    api.dns()

    items = history(api)["items"]

    assert [item["title"] for item in items[:2]] == ["clock", "set_project_powered_by_flag"]
    assert [item["at"] for item in items[:2]] == [
        "2026-01-01T01:00:00.000Z",
        "2026-01-01T00:00:00.000Z",
    ]
    assert items[-1]["title"] == "began"
    assert [item["commit"] for item in items] == sorted(
        (item["commit"] for item in items), reverse=True
    )


def test_a_commit_says_how_the_clock_changed(api: HttpWorld):
    api.emulator.clock.change({"mode": "scaled", "rate": 60})
    api.emulator.clock.change({"mode": "frozen"})
    api.emulator.clock.advance("1h")

    moved, frozen, scaled = (item["summary"] for item in history(api, 3)["items"])

    assert "time moved by 1h" in moved
    assert "the clock is frozen" in frozen
    assert "the clock is scaled to 60x real time" in scaled


def test_a_world_can_be_rewound_to_any_commit(api: HttpWorld):
    states = {}
    for enabled in (False, True, False):
        api.set_flag(enabled)
        api.emulator.clock.advance("1d")
        states[history(api, 1)["items"][0]["commit"]] = state(api)

    for commit, before in reversed(states.items()):
        summary = api.emulator.control.post(path(api, "rewind"), {"commit": commit})
        assert state(api) == before
        assert summary["commit"] > commit
        assert history(api, 1)["items"][0]["title"] == f"rewound to {commit}"
    assert api.dns().status == 200


def test_a_fork_can_begin_at_an_earlier_commit(api: HttpWorld):
    control = api.emulator.control
    before = state(api)
    commit = history(api, 1)["items"][0]["commit"]
    api.set_flag(False)

    forked = control.post(path(api, "fork"), {"commit": commit})

    exported = control.world(forked["name"]).export()
    control.world(forked["name"]).delete()
    assert exported["tables"] == before["tables"]
    assert state(api) != before


@pytest.mark.parametrize("ask", ["rewind", "fork"])
def test_a_commit_that_is_not_stored_is_refused(api: HttpWorld, ask: str):
    with pytest.raises(
        ControlRefused, match="commit 99 is not in the history, which contains the commits"
    ):
        api.emulator.control.post(path(api, ask), {"commit": 99})


def test_counts_of_faults_are_not_in_the_history(api: HttpWorld):
    api.emulator.fault("latency", delay_ms=0)
    first_commit = api.emulator.summary.commit
    for enabled in (True, False):
        api.set_flag(enabled)

    assert api.emulator.summary.commit == first_commit + 4
    titles = [item["title"] for item in history(api)["items"]]
    assert titles[:3] == ["set_project_powered_by_flag"] * 2 + ["fault-1 armed"]


def test_the_history_keeps_only_the_latest_commits(api: HttpWorld):
    for _ in range(KEPT_COMMITS + 5):
        api.emulator.clock.change({"mode": "frozen"})

    page = history(api, 1000)

    assert len(page["items"]) == KEPT_COMMITS
    assert page["first"] == page["items"][-1]["commit"]


def test_each_replacement_of_a_world_is_in_its_history(api: HttpWorld):
    api.emulator.load_scenario(name="stuck-operation")
    api.emulator.reset()
    api.emulator.import_state(api.emulator.export())

    titles = [item["title"] for item in history(api, 3)["items"]]

    assert titles == ["state imported", "reset", "scenario stuck-operation"]


def test_a_refused_step_of_a_timeline_is_in_the_history_and_the_report(
    hosting_emulator: HostingEmulator,
):
    planned = {"at": "1m", "intervene": {"stick_operation": {"project": "shop"}}}
    control = hosting_emulator.control
    scenario = {"timeline": [planned]}
    with HostingEmulator.fresh(control, scenario=scenario) as emulator:
        emulator.clock.advance("2m")

        (refusal,) = emulator.report_document().refused
        assert refusal.startswith("stick_operation was refused: ")
        assert refusal in emulator.history[-1].summary
        assert refusal in emulator.report()
