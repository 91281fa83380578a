"""`explore` reads its own options and none of the command's (tests/lab/judge runs it for real)."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator.settings import Settings
from hosting_emulator_cli import exploration as exploration_module
from hosting_emulator_cli.client_runs import ClientRuns
from hosting_emulator_cli.exploration import CommandExploration
from hosting_emulator_cli.main import Failure
from hosting_emulator_lab.run_conditions import ORDINARY
from hosting_emulator_scenarios import FOLDER

POINT = "create_user_api_key#1/timeout/after_commit"
SETTINGS = Settings(port=0, data_dir=None, library=FOLDER, clock="skip")


@pytest.fixture
def explored(monkeypatch: pytest.MonkeyPatch) -> list[CommandExploration]:
    """Replace the exploration: each one is listed and ends with exit code 1."""
    explorations: list[CommandExploration] = []

    def explore(exploration: CommandExploration) -> int:
        explorations.append(exploration)
        return 1

    monkeypatch.setattr(exploration_module, "explore", explore)
    return explorations


def test_explore_without_options_tries_all_faults_on_the_clock_skip(
    run, explored: list[CommandExploration]
):
    result = run("explore", "--", "node", "--test")

    assert (result.exit_code, result.output) == (1, "")
    (exploration,) = explored
    assert exploration == CommandExploration(
        command=("node", "--test"),
        settings=SETTINGS,
        user=None,
        exports=(),
        faults=(),
        calls=(),
        jobs=None,
        max_runs=300,
        outcomes=False,
        quick=False,
        limit_s=None,
        budget_s=None,
        conditions=ORDINARY,
        point=None,
        conduct="report",
        results_file=None,
        as_json=False,
        junit_file=None,
        html_file=None,
        sealed=False,
        repeat=exploration.repeat,
        repeat_clean="hosting-emulator exec --clock skip --conduct report -- node --test",
    )


def test_explore_passes_every_option_on(run, explored: list[CommandExploration], tmp_path: Path):
    files = [tmp_path / name for name in ("state.json", "junit.xml", "page.html")]
    run(
        *shlex.split(
            "explore --faults timeout,abort:rate_limited --faults timeout "
            "--call list_deployments -j 3 --max-runs 7 --time-limit 1m30s "
            f"--budget 10m --results {files[0]} --junit {files[1]} --html {files[2]} "
            "--json --scenario mine.yaml --seed 42 --clock real --assume accepted_status=200 "
            "--user reader --export HOSTING_BASE_URL=API_URL --conduct error "
            "-- node"
        ),
    )
    run("explore", "--trial", POINT, "--", "node")

    settings = replace(
        SETTINGS,
        scenario="mine.yaml",
        seed="42",
        clock="real",
        assumptions={"accepted_status": "200"},
    )
    (exploration, repeated) = explored
    assert (exploration.settings, exploration.user) == (settings, "reader")
    assert exploration.faults == ("timeout", "abort:rate_limited")
    assert (exploration.calls, exploration.jobs, exploration.max_runs) == (
        ("list_deployments",),
        3,
        7,
    )
    assert (exploration.limit_s, exploration.budget_s, exploration.as_json) == (90, 600, True)
    assert [exploration.results_file, exploration.junit_file, exploration.html_file] == files
    assert exploration.exports == (("HOSTING_BASE_URL", "API_URL"),)
    assert repeated.point is not None
    line = exploration.repeat(repeated.point)
    assert line == (
        "hosting-emulator explore --scenario mine.yaml --seed 42 --clock real "
        "--assume accepted_status=200 --user reader --export HOSTING_BASE_URL=API_URL "
        f"--time-limit 1m30s --conduct error --trial '{POINT}' -- node"
    )
    assert exploration.conduct == "error"
    assert exploration.repeat_clean == (
        "hosting-emulator exec --scenario mine.yaml --seed 42 --clock real "
        "--assume accepted_status=200 --user reader --export HOSTING_BASE_URL=API_URL "
        "--conduct report -- node"
    )


def test_explore_reads_a_point(run, explored: list[CommandExploration]):
    run("explore", "--trial", POINT, "--", "node")

    assert str(explored[0].point) == POINT


def test_explore_takes_the_clock_of_a_state(
    run, explored: list[CommandExploration], tmp_path: Path
):
    run("explore", "--import", str(tmp_path / "kept.json"), "--", "node")

    assert explored[0].settings.clock is None
    assert explored[0].conditions.clock == "skip"


def test_the_responses_of_a_run_can_ask_for_the_next_poll_after_a_chosen_time():
    client_runs = ClientRuns(("true",), SETTINGS, None, ())
    alterations = {}

    class Visit:
        def begin(self, world: HostingEmulator, token: str | None = None) -> None:
            for fault in world.faults:
                written = fault.state.written
                alterations[written["call"]] = written["alter"]

        def end(self, world: HostingEmulator) -> None:
            """Examine nothing."""

    def work() -> int:
        client_runs.perform(Visit(), "run", 20.0, replace(ORDINARY, next_poll_s=7))
        return 0

    assert asyncio.run(client_runs.use(work)) == 0
    change = {"set": {"/progress/next_poll_after_seconds": 7}}
    calls = ("get_operation", "apply_project_domains", "initialize_managed_source")
    assert alterations == dict.fromkeys(calls, change)


class RunningCommand:
    """A running command that notes whether it was asked to end."""

    is_ended = False

    def end(self) -> None:
        self.is_ended = True


def test_stopping_ends_every_running_command_and_keeps_the_first_reason():
    client_runs = ClientRuns(("node", "--test"), SETTINGS, None, ())
    commands = [RunningCommand(), RunningCommand()]
    vars(client_runs)["_running"] = {*commands}

    client_runs.stop("interrupted")
    client_runs.stop("the budget is used up")

    assert all(command.is_ended for command in commands)
    assert client_runs.stop_reason == "interrupted"


def test_an_exploration_whose_results_cannot_be_stored_begins_no_more_runs(
    run, explored: list[CommandExploration], monkeypatch: pytest.MonkeyPatch
):
    run("explore", "-j", "1", "--", "node")
    exploration = exploration_module._Exploration(explored[0])
    monkeypatch.setattr(exploration_module, "run_point", lambda _, point, __: point)

    def fail(_: object) -> None:
        raise Failure("cannot write results.json: No space left on device")

    results_file: Any = SimpleNamespace(results={}, add=fail)
    plan: Any = SimpleNamespace(points=("first", "second"))
    nothing: Any = None

    with pytest.raises(Failure, match="No space left"):
        exploration._run_points(nothing, plan, nothing, results_file)

    assert exploration._runs.stop_reason == "the exploration could not continue"
