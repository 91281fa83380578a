"""A loaded scenario says what it changed, and a reset leads back to the default world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator
from tests.support.emulator_process import emulator
from tests.support.http_world import HttpWorld

PLAIN = "{name: plain, description: A frozen world.}"
RUNNING = "{name: running, description: Time runs., clock: {mode: real}}"
SEEDED = "{name: seeded, description: It has a seed of its own., seed: ours}"


def notices(world: HostingEmulator, text: str) -> str:
    """Load a scenario, and return what the response says about it."""
    return " ".join(world.load_scenario(text=text).notices)


def test_a_load_says_what_happens_to_time_clock_and_log(api: HttpWorld):
    api.emulator.clock.set(mode="real")
    api.advance("1d")
    api.deployments()
    api.deployments()
    before = api.emulator.clock.now[:10]

    text = notices(api.emulator, PLAIN)

    assert f"World time went back from {before}T" in text
    assert "to 2026-01-01T00:00:00.000Z." in text
    assert "The clock was real and is now frozen." in text
    assert "The request log was emptied. It had 2 requests." in text
    assert f"clock advance 10m --world {api.emulator.name}" in text


def test_a_load_that_changes_neither_time_nor_log_says_nothing_about_them(api: HttpWorld):
    text = notices(api.emulator, PLAIN)

    assert "World time" not in text
    assert "The clock was" not in text
    assert "request log" not in text


def test_a_load_says_that_a_seed_of_the_scenario_changes_ids_and_tokens(api: HttpWorld):
    token = api.emulator.token()

    text = notices(api.emulator, SEEDED)

    assert "earlier tokens are not valid" in text
    assert api.dns(user=None, token=token).status == 401
    assert "earlier tokens" not in notices(api.emulator, PLAIN)


def test_only_a_clock_that_stands_still_is_explained(api: HttpWorld):
    assert "The clock is frozen" in notices(api.emulator, PLAIN)
    assert "The clock is frozen" not in notices(api.emulator, RUNNING)


@pytest.mark.parametrize(("text", "is_explained"), [(PLAIN, True), (RUNNING, False)])
def test_a_new_world_of_a_scenario_says_whether_its_clock_stands_still(
    api: HttpWorld, text: str, is_explained: bool
):
    control = api.emulator.control

    summary = control.create_world(scenario={"text": text})
    control.world(summary.name).delete()

    assert ("The clock is frozen" in " ".join(summary.notices)) is is_explained


def test_the_commit_that_a_load_names_leads_back_to_the_world_before(api: HttpWorld):
    api.set_flag(False)
    before = api.emulator.export()["tables"]["projects"]
    commit = api.emulator.summary.commit

    text = notices(api.emulator, PLAIN)
    api.emulator.rewind(commit)

    assert f"world rewind {commit} " in text
    assert api.emulator.export()["tables"]["projects"] == before


def by_reset(world: HostingEmulator) -> None:
    world.reset()


def by_another_scenario(world: HostingEmulator) -> None:
    world.load_scenario(text=RUNNING)


@pytest.mark.parametrize("text", [PLAIN, RUNNING, SEEDED])
@pytest.mark.parametrize("meanwhile", [lambda world: None, by_reset, by_another_scenario])
def test_a_reset_to_the_default_restores_the_world_before_all_scenarios(
    hosting_emulator: HostingEmulator, text: str, meanwhile: Callable[[HostingEmulator], Any]
):
    control = hosting_emulator.control
    options: Any = {"clock": {"mode": "frozen", "at": "2027-05-01T00:00:00Z"}}
    options["assumptions"] = {"accepted_status": 200}
    world = control.world(control.create_world(**options).name)
    users = world.summary.users

    world.load_scenario(text=text)
    assert world.reset().scenario == "scenario.yaml"
    meanwhile(world)
    summary = world.reset(default=True)
    world.delete()

    assert summary.scenario is None
    assert (summary.clock.mode, summary.clock.now) == ("frozen", "2027-05-01T00:00:00.000Z")
    assert summary.assumptions == {"accepted_status": 200}
    assert [user.alias for user in summary.users] == [user.alias for user in users]
    if text != SEEDED:
        assert summary.users == users


def test_a_reset_to_the_default_of_a_default_world_is_a_reset(api: HttpWorld):
    api.set_flag(False)

    api.emulator.reset(default=True)

    assert api.set_flag(False).json["enabled_at"] is None
    assert api.emulator.clock.mode == "frozen"


def test_an_emulator_that_starts_with_a_scenario_returns_to_its_default_world(tmp_path: Any):
    scenario = tmp_path / "ours.yaml"
    scenario.write_text(SEEDED)
    data = ("--data-dir", str(tmp_path / "data"))
    with emulator(*data, "--clock", "skip", "--scenario", str(scenario)):
        pass
    with (
        emulator(*data) as process,
        ControlClient(process.ready["control_url"]) as control,
    ):
        loaded = control.world().summary
        summary = control.world().reset(default=True)
        after = control.world().summary

    assert loaded.scenario is not None
    assert (summary.scenario, after.scenario) == (None, None)
    assert summary.clock.mode == "skip"
    assert summary.seed == "hosting-emulator"


def test_a_world_with_a_refused_scenario_is_imported_and_reset_to_the_default(api: HttpWorld):
    world = api.emulator
    world.load_scenario(text=PLAIN)
    state = world.export(with_seed=True)
    [origin] = state["tables"]["origin"].values()
    origin["scenario"] = (
        "{name: old, description: A., world: {extends: default, users: [{alias: nobody}]}}"
    )
    world.import_state(state)

    with pytest.raises(ControlRefused, match="'nobody' is reserved") as refused:
        world.reset()
    assert refused.value.status == 409
    assert world.reset(default=True).scenario is None
