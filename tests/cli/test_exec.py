"""`exec` reads its own options and none of the command's (tests/doors/cli runs it for real)."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import execution as execution_module
from hosting_emulator_cli import varied_execution
from hosting_emulator_cli.execution import CommandResult, Execution
from hosting_emulator_cli.main import Failure
from hosting_emulator_lab.run_conditions import RunsStopped
from hosting_emulator_scenarios import FOLDER
from tests.support.control_samples import story_report
from tests.support.fake_bootstrap import READY, FakeBootstrap
from tests.support.fake_control import FakeControl
from tests.support.product_tables import variation_points

POINTS = tuple(variation_points())
PLAIN = Execution(
    command=("node", "--test"),
    settings=Settings(port=0, data_dir=None, library=FOLDER),
    user=None,
    exports=(),
    report="failed",
    failed_world=None,
    patience_s=10.0,
    quiet=False,
)


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[Execution]:
    """Replace the execution: each one is listed and ends with exit code 42."""
    executions: list[Execution] = []

    def execute(execution: Execution) -> CommandResult:
        executions.append(execution)
        return CommandResult(42)

    monkeypatch.setattr(execution_module, "execute", execute)
    return executions


def test_exec_without_options_keeps_nothing_and_uses_a_free_port(run, executed: list[Execution]):
    result = run("exec", "--", "node", "--test")

    assert (result.exit_code, result.output) == (42, "")
    assert executed == [PLAIN]


def test_exec_passes_every_option_on(run, executed: list[Execution], tmp_path: Path):
    keep = tmp_path / "kept.json"
    run(
        *shlex.split(
            "exec --scenario mine.yaml --seed 42 --clock skip --assume accepted_status=200 "
            "--user reader --export HOSTING_BASE_URL=API_URL --export HOSTING_BASE_URL=OTHER "
            f"--host 0.0.0.0 --port 4700 --tls-port 0 --report always --failed-world {keep} "
            "--kill-after 1m30s --quiet -- node --test"
        ),
    )

    settings = replace(
        PLAIN.settings,
        host="0.0.0.0",
        port=4700,
        tls_port=0,
        scenario="mine.yaml",
        seed="42",
        clock="skip",
        assumptions={"accepted_status": "200"},
    )
    assert executed == [
        replace(
            PLAIN,
            settings=settings,
            user="reader",
            exports=(("HOSTING_BASE_URL", "API_URL"), ("HOSTING_BASE_URL", "OTHER")),
            report="always",
            failed_world=keep,
            patience_s=90.0,
            quiet=True,
        )
    ]


def test_exec_passes_state_and_start_time_on(run, executed: list[Execution]):
    run("exec", "--import", "kept.json", "true")
    run("exec", "--at", "2030-01-31T09:30:00Z", "true")

    assert executed[0].settings == replace(PLAIN.settings, state=Path("kept.json"))
    assert executed[1].settings == replace(PLAIN.settings, at="2030-01-31T09:30:00Z")


def test_exec_accepts_quiet_and_an_endless_grace_period(run, executed: list[Execution]):
    run("exec", "--quiet", "--kill-after", "never", "node", "--test")

    assert executed == [replace(PLAIN, quiet=True, report="never", patience_s=inf)]


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (("--", "a", "--", "-h"), ("a", "--", "-h")),
        (("a", "--quiet", "--help"), ("a", "--quiet", "--help")),
        (("--quiet", "--", "--odd"), ("--odd",)),
    ],
)
def test_exec_does_not_read_the_options_of_the_command(
    run, executed: list[Execution], typed: tuple[str, ...], command: tuple[str, ...]
):
    run("exec", *typed)

    assert executed[0].command == command


def replace_search_runs(
    monkeypatch: pytest.MonkeyPatch, run_at: Callable[[tuple[str, ...]], CommandResult]
) -> list[tuple[str, ...]]:
    """Replace the runs of a search. Return the list of the points of each run."""
    points_of_runs: list[tuple[str, ...]] = []

    class FakeRuns:
        def __init__(self, plan: Execution) -> None:
            pass

        def use(self, search: Callable[[], None]) -> None:
            search()

        def run(self, points: tuple[str, ...]) -> CommandResult:
            points_of_runs.append(points)
            return run_at(points)

    monkeypatch.setattr(varied_execution, "SearchRuns", FakeRuns)
    return points_of_runs


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Execution]:
    """Replace the execution: a run fails when `extra-fields` and `page-size` can both vary."""
    executions: list[Execution] = []

    def execute(execution: Execution) -> CommandResult:
        executions.append(execution)
        return run_at(execution.settings.vary_only or tuple(POINTS))

    def run_at(points: tuple[str, ...]) -> CommandResult:
        return CommandResult(3 if {"extra-fields", "page-size"} <= {*points} else 0, points)

    monkeypatch.setattr(execution_module, "execute", execute)
    replace_search_runs(monkeypatch, run_at)
    for name in ("HOSTING_EMULATOR_VARY", "HOSTING_EMULATOR_VARY_ONLY"):
        monkeypatch.delenv(name, raising=False)
    return executions


def test_variation_points_may_be_given_one_by_one_or_by_commas(run, runs: list[Execution]):
    run(*shlex.split("exec --vary 7 --vary-only page-size --vary-only key-order,next-poll -- x"))

    assert runs[0].settings.vary == "7"
    assert runs[0].settings.vary_only == ("page-size", "next-poll", "key-order")


def test_exec_reads_variation_from_variables(
    run, runs: list[Execution], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOSTING_EMULATOR_VARY", "9")
    monkeypatch.setenv("HOSTING_EMULATOR_VARY_ONLY", "key-order,page-size")
    run("exec", "--", "x")

    settings = runs[0].settings
    assert (settings.vary, settings.vary_only) == ("9", ("page-size", "key-order"))


def test_a_failed_varied_run_prints_seed_points_and_a_command_that_repeats_it(run, runs):
    result = run("exec", "--clock=skip", "--vary=a b", "--", "npm", "test", "--vary", "x")

    lines = result.stderr.splitlines()
    assert result.exit_code == 3
    assert lines[0] == f"Varied with seed a b: {', '.join(POINTS)}."
    assert lines[1] == (
        "Repeat with: hosting-emulator exec --clock=skip --vary 'a b' -- npm test --vary x"
    )
    assert len(runs) == 1


def test_the_command_that_repeats_a_failure_contains_the_start_time(run, runs):
    lines = run("exec", "--at", "now", "--vary", "7", "--", "x").stderr.splitlines()

    assert re.fullmatch(r"Repeat with: .* --at \d{4}-\d\d-\d\dT[\d:.]+Z --vary 7 -- x", lines[1])


def test_a_failure_in_worlds_of_the_command_itself_says_that_they_vary_too(
    run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(execution_module, "execute", lambda execution: CommandResult(1))

    lines = run("exec", "--vary", "1", "--", "pytest").stderr.splitlines()

    assert lines[0] == (
        "With seed 1, no response from this emulator varied. Worlds that the command creates also use "
        "the seed."
    )


def test_a_successful_varied_run_prints_nothing(run, runs):
    result = run("exec", "--vary", "7", "--vary-only", "key-order", "--shrink", "--", "x")

    assert (result.exit_code, result.stderr, len(runs)) == (0, "", 1)


def test_a_failed_varied_run_prints_nothing_with_quiet(run, runs):
    result = run("exec", "--quiet", "--vary", "7", "--", "x")

    assert (result.exit_code, result.stderr) == (3, "")


def test_shrinking_finds_the_points_that_matter(run, monkeypatch: pytest.MonkeyPatch):
    def run_at(points: tuple[str, ...]) -> CommandResult:
        return CommandResult(3 if {"extra-fields", "page-size"} <= {*points} else 0, points)

    monkeypatch.setattr(execution_module, "execute", lambda _: run_at(tuple(POINTS)))
    points_of_runs = replace_search_runs(monkeypatch, run_at)

    result = run(*shlex.split("exec --vary 7 --shrink --report never -- npm test"))

    lines = result.stderr.splitlines()
    assert result.exit_code == 3
    assert lines[2].startswith("Shrinking takes at most 41 more runs")
    assert lines[3].startswith("The command fails with page-size and extra-fields alone (")
    assert lines[4] == (
        "Repeat with: hosting-emulator exec --report never --vary 7 --vary-only page-size "
        "--vary-only extra-fields -- npm test"
    )
    assert len(points_of_runs) <= 41
    assert points_of_runs[0] == ()


def test_shrinking_finds_a_point_that_another_point_hides(run, monkeypatch: pytest.MonkeyPatch):
    def run_at(points: tuple[str, ...]) -> CommandResult:
        # If one point breaks the run, the other point is never reached.
        met = ("absent-fields",) if "absent-fields" in points else points
        bad = {"absent-fields", "timestamp-form", "id-order"} & {*met}
        return CommandResult(int(bool(bad)), met)

    monkeypatch.setattr(execution_module, "execute", lambda _: run_at(tuple(POINTS)))
    replace_search_runs(monkeypatch, run_at)

    lines = run("exec", "--vary", "7", "--shrink", "--", "x").stderr.splitlines()

    blamed = [line.partition(" alone")[0] for line in lines if " alone (" in line]
    assert blamed == [
        "The command fails with absent-fields",
        "Without this variation, the command fails with id-order",
        "Without this variation, the command fails with timestamp-form",
    ]
    assert (
        lines[-1] == "Repeat with: hosting-emulator exec --vary 7 --vary-only timestamp-form -- x"
    )


def test_shrinking_blames_no_point_for_a_run_that_fails_without_variation(
    run, monkeypatch: pytest.MonkeyPatch
):
    failure = CommandResult(1, ("key-order",))
    monkeypatch.setattr(execution_module, "execute", lambda _: failure)
    points_of_runs = replace_search_runs(monkeypatch, lambda _: failure)

    lines = run("exec", "--vary", "7", "--shrink", "--", "x").stderr.splitlines()

    assert lines[-1] == "The command also fails without variation, so no point is the cause."
    assert points_of_runs == [()]


def test_shrinking_reports_a_run_that_fails_only_sometimes(run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(execution_module, "execute", lambda _: CommandResult(1, ("key-order",)))
    points_of_runs = replace_search_runs(monkeypatch, lambda _: CommandResult(0))

    lines = run("exec", "--vary", "7", "--shrink", "--", "x").stderr.splitlines()

    assert lines[-1].startswith("The failure is intermittent")
    assert points_of_runs == [(), ("key-order",), tuple(POINTS)]


def test_shrinking_says_that_a_smaller_set_of_points_may_exist(
    run, monkeypatch: pytest.MonkeyPatch
):
    first = CommandResult(1, ("key-order", "page-size", "id-order"))
    monkeypatch.setattr(execution_module, "execute", lambda _: first)
    monkeypatch.setattr(varied_execution, "MOST_RUNS", 1)
    replace_search_runs(monkeypatch, lambda points: CommandResult(int(bool(points)), points))

    stderr = run("exec", "--vary", "7", "--shrink", "--", "x").stderr

    assert "; the search stopped, so a smaller set may exist)." in stderr


def test_a_report_that_fails_gives_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(execution_module, "connected", fail)
    command_run = execution_module._CommandRun(replace(PLAIN, conduct="error"))

    command_run._report(READY, None)  # type: ignore[arg-type]

    assert capsys.readouterr().err == (
        "Error: the report failed: ZeroDivisionError: division by zero\n"
    )
    assert command_run._undecided


@pytest.mark.parametrize(
    ("outer", "settings", "variables"),
    [
        ({}, {}, {}),
        (
            {"HOSTING_EMULATOR_VARY": "1", "HOSTING_EMULATOR_VARY_ONLY": "page-size"},
            {},
            {"HOSTING_EMULATOR_VARY": "", "HOSTING_EMULATOR_VARY_ONLY": ""},
        ),
        (
            {"HOSTING_EMULATOR_VARY": "1"},
            {"vary": "7", "vary_only": ("key-order", "page-size")},
            {"HOSTING_EMULATOR_VARY": "7", "HOSTING_EMULATOR_VARY_ONLY": "key-order,page-size"},
        ),
    ],
)
def test_the_variation_of_an_outer_exec_does_not_reach_the_command(
    monkeypatch: pytest.MonkeyPatch,
    outer: dict[str, str],
    settings: dict[str, Any],
    variables: dict[str, str],
):
    for name in ("HOSTING_EMULATOR_VARY", "HOSTING_EMULATOR_VARY_ONLY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in outer.items():
        monkeypatch.setenv(name, value)
    client = SimpleNamespace(world=lambda: None)
    monkeypatch.setattr(execution_module, "connected", lambda *_: nullcontext(client))
    monkeypatch.setattr(execution_module, "command_variables", lambda *_: {})
    plan = replace(PLAIN, settings=replace(PLAIN.settings, **settings))
    command_run = execution_module._CommandRun(plan)
    monkeypatch.setattr(command_run, "_observe", lambda _: "observation")

    given = command_run._variables(READY)

    assert {name: value for name, value in given.items() if "VARY" in name} == variables


def test_an_error_of_a_judge_is_printed_and_leaves_the_verdict_open(
    capsys: pytest.CaptureFixture[str],
):
    verdict: Any = SimpleNamespace(
        has_requests=True,
        is_bad=False,
        has_findings=False,
        errors=["the rule polled-too-early failed"],
        in_progress_text=lambda: "",
    )
    command_run = execution_module._CommandRun(replace(PLAIN, conduct="error"))

    command_run._judge(verdict, color=False)

    assert capsys.readouterr().err == "Error: the rule polled-too-early failed\n"
    assert command_run._undecided


async def test_a_command_whose_supervisor_cannot_be_started_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
):
    def fail(_: str) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(execution_module, "ChildCommand", fail)

    with pytest.raises(Failure) as caught:
        await execution_module._CommandRun(PLAIN).run()

    assert caught.value.message == "cannot start a process: Resource temporarily unavailable"


@pytest.mark.parametrize(("is_terminal", "has_hint"), [(True, True), (False, False)])
async def test_a_user_on_a_terminal_learns_how_to_kill_the_command(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, has_hint: bool
):
    hints: list[str] = []
    hinted = asyncio.Event()

    def mention(text: str) -> None:
        hints.append(text)
        hinted.set()

    monkeypatch.setattr(execution_module, "mention", mention)
    monkeypatch.setattr(execution_module, "_HINT_S", 0)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: is_terminal))
    child: Any = SimpleNamespace(end=lambda _: hinted.set())
    command_run = execution_module._CommandRun(replace(PLAIN, patience_s=0.01))

    command_run._end_later(child, signal.SIGINT)
    await hinted.wait()

    hint = "Waiting for the command to end; press Ctrl-C again to kill it."
    assert hints == ([hint] if has_hint else [])
    for timer in command_run._timers:
        timer.cancel()


def test_shrinking_tries_all_points_if_worlds_of_other_emulators_may_vary(
    run, monkeypatch: pytest.MonkeyPatch
):
    def run_at(points: tuple[str, ...]) -> CommandResult:
        return CommandResult(int("id-order" in points))

    monkeypatch.setattr(execution_module, "execute", lambda _: run_at(tuple(POINTS)))
    replace_search_runs(monkeypatch, run_at)

    lines = run("exec", "--vary", "7", "--shrink", "--", "x").stderr.splitlines()

    assert lines[-2].startswith("The command fails with id-order alone (")


def test_a_signal_ends_shrinking(run, monkeypatch: pytest.MonkeyPatch):
    def run_at(points: tuple[str, ...]) -> CommandResult:
        raise RunsStopped

    monkeypatch.setattr(execution_module, "execute", lambda _: CommandResult(1, ("key-order",)))
    replace_search_runs(monkeypatch, run_at)

    result = run("exec", "--vary", "7", "--shrink", "--", "x")

    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "Stopped before the search was finished."


@pytest.mark.parametrize("code", [126, 127])
def test_exec_prints_no_variation_for_a_command_that_never_ran(
    run, monkeypatch: pytest.MonkeyPatch, code: int
):
    monkeypatch.setattr(execution_module, "execute", lambda execution: CommandResult(code))

    result = run("exec", "--vary", "7", "--shrink", "--", "x")

    assert (result.exit_code, result.stderr) == (code, "")


def test_contract_variation_points_lists_all_points(run):
    lines = run("contract", "variation-points").stdout.splitlines()
    rows = json.loads(run("contract", "variation-points", "--json").stdout)

    assert lines[0].split() == ["POINT", "WHAT", "VARIES"]
    assert [line.split()[0] for line in lines[1:]] == list(POINTS)
    assert [row["id"] for row in rows] == list(POINTS)
    assert all(row["sentence"] for row in rows)


def test_a_failed_varied_story_prints_its_seed(ask, control: FakeControl):
    variation = {"seed": "7", "only": ["key-order"], "assumed": {}, "varied": {"key-order": 2}}
    control.on("POST /scenarios/run", story_report(passed=False, variation=variation))

    result = ask("scenario", "run", "outage", "--vary", "7", "--vary-only", "key-order")

    assert control.bodies("POST /scenarios/run") == [
        {"name": "outage", "vary": "7", "vary_only": ["key-order"]}
    ]
    assert "varied   by seed 7, confined to key-order: key-order" in result.stdout
    assert "again    --vary 7 --vary-only key-order" in result.stdout
    assert result.stderr.splitlines()[-1] == (
        "With --vary, a story fails if it expects a particular choice by the emulator. "
        "Responses varied at: key-order."
    )


def test_a_passed_varied_story_prints_no_advice(ask, control: FakeControl):
    variation = {"seed": "7", "only": None, "assumed": {}, "varied": {"key-order": 2}}
    control.on("POST /scenarios/run", story_report(variation=variation))

    assert "--vary" not in ask("scenario", "run", "outage", "--vary", "7").stderr


def test_start_passes_the_variation_on(run, bootstrap: FakeBootstrap):
    run("start", "--ephemeral", "--vary", "7", "--vary-only", "page-size")

    [settings] = bootstrap.settings
    assert (settings.vary, settings.vary_only) == ("7", ("page-size",))


# --- signals --------------------------------------------------------------------------------------

#: Runs `exec` in a process that gets a signal while its emulator starts or is ready, before the command.
SIGNALLED_EXEC = """
import os, sys, time
from hosting_emulator import logs
from hosting_emulator_cli import execution
from hosting_emulator_cli.main import cli

def variables(run, ready):
    os.kill(os.getpid(), int(sys.argv[1]))
    until = time.monotonic() + 30
    while run._signal is None and time.monotonic() < until:
        time.sleep(0.01)
    return {}

def start_logs(settings):
    os.kill(os.getpid(), int(sys.argv[1]))

if sys.argv[3] == "starting":
    logs.log_to_stderr = start_logs
else:
    execution._CommandRun._variables = variables
cli(["exec", "--", "touch", sys.argv[2]])
"""


@pytest.mark.parametrize("moment", ["starting", "ready"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_command_begins_ends_exec_without_the_command(
    number: signal.Signals, moment: str, tmp_path: Path
):
    result = tmp_path / "result"
    arguments = [sys.executable, "-c", SIGNALLED_EXEC, str(int(number)), str(result), moment]

    run = subprocess.run(arguments, capture_output=True, text=True, timeout=60)

    assert (run.returncode, run.stderr) == (128 + number, "")
    assert not result.exists()
