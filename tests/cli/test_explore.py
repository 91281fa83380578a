"""`explore` reads its own options and nothing of the command's. (tests/crash runs it for real.)"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import exploration
from hosting_emulator_cli.exploration import CommandExploration
from hosting_emulator_scenarios import FOLDER

POINT = "create_user_api_key#1/timeout/after_commit"
SETTINGS = Settings(port=0, data_dir=None, library=FOLDER, clock="skip")


@pytest.fixture
def explored(monkeypatch: pytest.MonkeyPatch) -> list[CommandExploration]:
    """What is explored; each ends with exit code 1."""
    found: list[CommandExploration] = []

    def explore(wanted: CommandExploration) -> int:
        found.append(wanted)
        return 1

    monkeypatch.setattr(exploration, "explore", explore)
    return found


def test_explore_without_options_tries_all_faults_on_the_clock_skip(
    run, explored: list[CommandExploration]
):
    result = run("explore", "--", "node", "--test")

    assert (result.exit_code, result.output) == (1, "")
    (wanted,) = explored
    assert wanted == CommandExploration(
        command=("node", "--test"),
        settings=SETTINGS,
        principal=None,
        exports=(),
        faults=(),
        calls=(),
        jobs=None,
        max_runs=300,
        outcomes=False,
        quick=False,
        limit_s=None,
        budget_s=None,
        point=None,
        conduct="report",
        state_file=None,
        as_json=False,
        junit_file=None,
        html_file=None,
        repeat=wanted.repeat,
        repeat_clean="hosting-emulator exec --clock skip --conduct report -- node --test",
    )


def test_explore_passes_every_option_on(run, explored: list[CommandExploration], tmp_path: Path):
    files = [tmp_path / name for name in ("state.json", "junit.xml", "page.html")]
    run(
        "explore",
        "--faults",
        "timeout,abort:rate_limited",
        "--faults",
        "timeout",
        "--calls",
        "list_deployments",
        "-j",
        "3",
        "--max-runs",
        "7",
        "--time-limit",
        "1m30s",
        "--budget",
        "10m",
        "--state",
        str(files[0]),
        "--junit",
        str(files[1]),
        "--html",
        str(files[2]),
        "--json",
        "--scenario",
        "mine.yaml",
        "--seed",
        "42",
        "--clock",
        "real",
        "--assume",
        "accepted_status=200",
        "--as",
        "reader",
        "--export",
        "HOSTING_BASE_URL=API_URL",
        "--conduct",
        "error",
        "--",
        "node",
    )
    run("explore", "--point", POINT, "--", "node")

    settings = replace(
        SETTINGS,
        scenario="mine.yaml",
        seed="42",
        clock="real",
        assumptions={"accepted_status": "200"},
    )
    (wanted, repeated) = explored
    assert (wanted.settings, wanted.principal) == (settings, "reader")
    assert wanted.faults == ("timeout", "abort:rate_limited")
    assert (wanted.calls, wanted.jobs, wanted.max_runs) == (("list_deployments",), 3, 7)
    assert (wanted.limit_s, wanted.budget_s, wanted.as_json) == (90, 600, True)
    assert [wanted.state_file, wanted.junit_file, wanted.html_file] == files
    assert wanted.exports == (("HOSTING_BASE_URL", "API_URL"),)
    assert repeated.point is not None
    line = wanted.repeat(repeated.point)
    assert line == (
        "hosting-emulator explore --scenario mine.yaml --seed 42 --clock real "
        "--assume accepted_status=200 --as reader --export HOSTING_BASE_URL=API_URL "
        f"--time-limit 1m30s --conduct error --point '{POINT}' -- node"
    )
    assert wanted.conduct == "error"
    assert wanted.repeat_clean == (
        "hosting-emulator exec --scenario mine.yaml --seed 42 --clock real "
        "--assume accepted_status=200 --as reader --export HOSTING_BASE_URL=API_URL "
        "--conduct report -- node"
    )


def test_explore_reads_a_point(run, explored: list[CommandExploration]):
    run("explore", "--point", POINT, "--", "node")

    assert str(explored[0].point) == POINT


def test_explore_takes_the_clock_of_a_state(
    run, explored: list[CommandExploration], tmp_path: Path
):
    run("explore", "--from", str(tmp_path / "kept.json"), "--", "node")

    assert explored[0].settings.clock is None
