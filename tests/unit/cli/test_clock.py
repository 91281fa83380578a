"""`clock` sends what was meant and shows the clock as it then is."""

import json
from typing import Any

import pytest

from tests.unit.cli.samples import ADVANCED, CLOCK
from tests.unit.sdk.fake_control import FakeControl


def test_show_lays_out_the_clock(ask, control: FakeControl):
    control.on("GET /worlds/default/clock", CLOCK)

    result = ask("clock", "show")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "mode      scaled",
        "rate      60 world seconds per real second",
        "now       2030-01-31T09:30:00.000Z",
        "next due  2030-01-31T09:30:02.000Z (3 pending)",
    ]


def test_show_says_when_nothing_is_due(ask, control: FakeControl):
    idle = {**CLOCK, "mode": "frozen", "next_due_at": None, "pending": 0}
    control.on("GET /worlds/default/clock", idle)

    result = ask("clock", "show")

    assert "next due  nothing" in result.stdout
    assert "rate" not in result.stdout


def test_show_as_json_is_the_answer(ask, control: FakeControl):
    control.on("GET /worlds/w/clock", CLOCK)

    result = ask("clock", "show", "--world", "w", "--json")

    assert json.loads(result.stdout) == CLOCK


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        (["freeze"], {"mode": "frozen"}),
        (["run"], {"mode": "real"}),
        (["skip"], {"mode": "skip"}),
        (["scale", "0.5"], {"mode": "scaled", "rate": 0.5}),
        (["set", "2030-01-31T09:30:00+01:00"], {"at": "2030-01-31T09:30:00+01:00"}),
    ],
)
def test_change_sends_what_was_meant(
    ask, control: FakeControl, arguments: list[str], body: dict[str, Any]
):
    control.on("PUT /worlds/default/clock", CLOCK)

    result = ask("clock", *arguments)

    assert result.exit_code == 0
    assert "now       2030" in result.stdout
    assert control.bodies("PUT /worlds/default/clock") == [body]


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        (["10m"], {"by": "10m"}),
        (["PT10M"], {"by": "PT10M"}),
        (["--to", "2030-01-31T09:30:00Z"], {"to": "2030-01-31T09:30:00Z"}),
        (["--until", "01J0"], {"until_operation": "01J0"}),
    ],
)
def test_advance_sends_what_was_meant(
    ask, control: FakeControl, arguments: list[str], body: dict[str, Any]
):
    control.on("POST /worlds/default/clock/advance", ADVANCED)

    result = ask("clock", "advance", *arguments)

    assert result.stdout.splitlines()[-2:] == ["moved       10m", "events run  2"]
    assert control.bodies("POST /worlds/default/clock/advance") == [body]


def test_world_comes_from_the_environment(ask, control: FakeControl, monkeypatch):
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", "ci-1")
    control.on("GET /worlds/ci-1/clock", CLOCK)

    assert ask("clock", "show").exit_code == 0


def test_control_token_comes_from_the_environment(ask, control: FakeControl, monkeypatch):
    monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "s3cret")
    control.on("GET /worlds/default/clock", CLOCK)

    ask("clock", "show")

    assert control.asked[0].headers["X-Control-Token"] == "s3cret"


@pytest.mark.parametrize("tail", ["", "/", "/_emulator", "/_emulator/"])
def test_address_may_be_written_in_any_usual_way(run, control: FakeControl, tail: str):
    control.on("GET /worlds/default/clock", CLOCK)

    assert run("clock", "show", "--url", control.url + tail).exit_code == 0
