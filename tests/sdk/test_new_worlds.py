"""How the options for a new world become a request of the control API, and which are refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.sdk.new_worlds import clock_request, find_file, read_vary, world_request

NO_SEED = 'vary must be a seed (a string or a whole number) or {"seed": …, "only": […]}, not'


def request(**options: Any) -> dict[str, Any]:
    """Return the request for a world with these options."""
    scenario = options.pop("scenario", None)
    state = options.pop("state", None)
    return {**world_request(scenario, "scenario.json", state, **options)}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOSTING_EMULATOR_VARY", raising=False)
    monkeypatch.delenv("HOSTING_EMULATOR_VARY_ONLY", raising=False)


def test_the_request_for_a_default_world_has_a_frozen_clock_and_expires_after_six_hours():
    assert request() == {
        "scenario": None,
        "state": None,
        "seed": None,
        "clock": {"mode": "frozen"},
        "assumptions": None,
        "ephemeral": True,
        "vary": None,
        "vary_only": None,
        "ttl": "6h",
    }


@pytest.mark.parametrize("options", [{"scenario": "everyday"}, {"state": {}}])
def test_a_scenario_or_a_state_brings_its_own_clock(options: dict[str, Any]):
    assert request(**options)["clock"] is None


def test_a_scenario_is_a_name_a_file_or_a_document(tmp_path: Path):
    path = tmp_path / "early.yaml"
    path.write_text("name: early")

    assert request(scenario="everyday")["scenario"] == {"name": "everyday"}
    for file in (path, str(path)):
        assert request(scenario=file)["scenario"] == {"text": "name: early", "file": str(path)}
    assert request(scenario={"clock": "scaled:60"})["scenario"] == {
        "text": '{"name": "inline", "description": "Written where it is used.", '
        '"clock": {"mode": "scaled", "rate": 60.0}}',
        "file": "scenario.json",
    }


def test_a_file_is_looked_for_in_each_folder(tmp_path: Path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/x.yaml").touch()
    folders = [tmp_path / "a", tmp_path / "b", tmp_path / "a"]

    assert find_file("x.yaml", folders) == tmp_path / "b/x.yaml"
    message = f"there is no file {tmp_path}/a/y.yaml and no {tmp_path}/b/y.yaml"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        find_file("y.yaml", folders)


@pytest.mark.parametrize(
    ("options", "variation"),
    [
        ({"vary": "7"}, ("7", None)),
        ({"vary": 7}, ("7", None)),
        (
            {"vary": "7", "vary_only": "page-size, retry-after  x"},
            ("7", ["page-size", "retry-after", "x"]),
        ),
        ({"vary": "7", "vary_only": ["page-size"]}, ("7", ["page-size"])),
        ({"vary": "7", "vary_only": " "}, ("7", None)),
        ({"vary": "7", "vary_only": []}, ("7", None)),
        ({"vary": {"seed": "7"}}, ("7", None)),
        ({"vary": None}, (None, None)),
        ({"vary": {"seed": 7, "only": ["page-size"]}}, ("7", ["page-size"])),
    ],
)
def test_a_variation_is_a_seed_and_a_list_of_points(
    options: dict[str, Any], variation: tuple[str, list[str] | None]
):
    document = request(**options)

    assert (document["vary"], document["vary_only"]) == variation


def test_variables_set_the_variation_unless_an_option_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOSTING_EMULATOR_VARY", "8")
    monkeypatch.setenv("HOSTING_EMULATOR_VARY_ONLY", "page-size")

    from_variables = request()
    from_options = request(vary="7")

    assert (from_variables["vary"], from_variables["vary_only"]) == ("8", ["page-size"])
    assert (from_options["vary"], from_options["vary_only"]) == ("7", None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vary_only": ["page-size"]}, "vary_only needs vary: give a seed"),
        ({"vary": True}, f"{NO_SEED} True"),
        ({"vary": 1.5}, f"{NO_SEED} 1.5"),
        ({"vary": ["7"]}, f"{NO_SEED} ['7']"),
        ({"vary": {"seed": [2]}}, f"{NO_SEED} [2]"),
        ({"vary": {}}, f"{NO_SEED} {{}}"),
        ({"vary": {"seed": "7", "x": 1}}, f"{NO_SEED} {{'seed': '7', 'x': 1}}"),
        (
            {"vary": {"seed": "7", "only": ["page-size"]}, "vary_only": "page-size"},
            "the points are given twice: use either only or vary_only",
        ),
        (
            {"vary": {"seed": "7", "only": []}},
            "vary: only must name at least one point; leave it out to vary all points",
        ),
        (
            {"vary": "7", "vary_only": [1]},
            "the points of vary must be a list of names, not [1]",
        ),
        ({"vary": "7", "vary_only": 1}, "the points of vary must be a list of names, not 1"),
        (
            {"clock": "slow"},
            "'slow' is not a clock: use real, frozen, skip or scaled:RATE, such as scaled:60",
        ),
        (
            {"clock": "scaled:"},
            "'scaled:' is not a clock: use real, frozen, skip or scaled:RATE, such as scaled:60",
        ),
        ({"clock": "scaled:0"}, "'0' is not a rate: write a number above 0, such as 60 or 0.5"),
        ({"clock": "scaled:inf"}, "'inf' is not a rate: write a number above 0, such as 60 or 0.5"),
        ({"clock": "scaled:x"}, "'x' is not a rate: write a number above 0, such as 60 or 0.5"),
        (
            {"scenario": {"x": object}},
            "the scenario cannot be written as JSON: Object of type type is not JSON serializable",
        ),
        ({"scenario": "no/such.yaml"}, "there is no file no/such.yaml"),
    ],
)
def test_an_invalid_option_of_a_new_world_is_refused(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        request(**options)


@pytest.mark.parametrize("mode", ["frozen", "real", "skip"])
def test_a_clock_is_a_mode(mode: str):
    assert clock_request(mode) == {"mode": mode}


def test_a_variation_without_points_varies_all(monkeypatch: pytest.MonkeyPatch):
    assert read_vary({"seed": "7", "only": None}, ["page-size"]) == ("7", ["page-size"])
