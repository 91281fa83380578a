"""`explore` finds the faults that a client does not survive, and prints how to repeat each run."""

from __future__ import annotations

import json
import re
import shlex
import signal
import uuid
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from hosting_emulator_lab.judge.fault_points import KINDS
from tests.lab.judge.explore_process import (
    LONG_EXPLORATION_S,
    LONGEST_EXPLORATION_S,
    SHORT_TIMEOUT_S,
    explore_report,
    marked_process_ids,
    run_explore,
    shell_script,
    small_client,
    start_explore,
)
from tests.lab.judge.samples import coverage_line
from tests.support.exec_process import wait_until

TORTURE = pytest.mark.torture

# --- Results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "request_count", "least_run_count"),
    [
        (("--call", "create_user_api_key"), 1, 20),
        pytest.param((), 2, 38, marks=TORTURE),
    ],
)
def test_a_careful_client_survives_every_fault(
    options: tuple[str, ...], request_count: int, least_run_count: int
):
    process = run_explore(*options, *small_client("careful"), timeout_s=SHORT_TIMEOUT_S)

    assert process.returncode == 0, process.stdout
    summary = re.search(r"^(\d+) runs: \1 survived\.$", process.stdout, re.MULTILINE)
    assert summary is not None, process.stdout
    assert int(summary[1]) >= least_run_count
    assert coverage_line(calls=request_count, kinds=len(KINDS), codes=3) in process.stdout


@pytest.mark.parametrize(
    ("behavior", "faults", "more_options", "point_count", "verdict"),
    [
        ("doubling", "connection_reset,gateway_error", (), 2, "doubled"),
        ("giving-up", "rate_limit", (), 1, "failed"),
        pytest.param("doubling", "truncate", (), 1, "doubled", marks=TORTURE),
        pytest.param("patient", "timeout", ("--time-limit", "3s"), 2, "hung", marks=TORTURE),
    ],
)
def test_the_printed_command_repeats_each_reported_point(
    behavior: str, faults: str, more_options: tuple[str, ...], point_count: int, verdict: str
):
    options = ("--faults", faults, "--call", "create_user_api_key", "--conduct", "off")

    process = run_explore(*options, *more_options, *small_client(behavior))

    assert process.returncode == 1
    commands = repeat_commands(process.stdout)
    assert len(commands) == point_count
    for command in commands:
        assert command[:2] == ["hosting-emulator", "explore"]
        repetition = run_explore(*command[2:])
        assert repetition.returncode == 1, command
        assert f"  {verdict}: " in repetition.stderr
        assert ("done\n" in repetition.stdout) == (behavior == "doubling")


def test_the_conduct_option_decides_whether_findings_fail_the_exploration():
    options = ("--faults", "rate_limit", "--call", "create_user_api_key")

    reporting = run_explore(*options, *small_client("careful"))
    strict = run_explore(*options, "--conduct", "error", *small_client("careful"))
    silent = run_explore(*options, "--conduct", "off", *small_client("careful"))

    finding = "retried-too-soon: Retried too soon"
    point = "create_user_api_key#1/rate_limit/before_commit"
    assert (reporting.returncode, strict.returncode, silent.returncode) == (0, 1, 0)
    assert f"conduct: {finding} ({point})" in reporting.stdout
    assert "misbehaved at 1 point: retried-too-soon\n" in strict.stdout
    assert "conduct" not in silent.stdout
    for process in (reporting, strict):
        (command,) = repeat_commands(process.stdout)
        repetition = run_explore(*command[2:])
        assert repetition.returncode == process.returncode
        assert "warning: Retried too soon [retried-too-soon]\n" in repetition.stderr
        assert "\n    instead  " in repetition.stderr


def test_exploring_one_survived_point_exits_with_0():
    options = ("--trial", "create_user_api_key#1/rate_limit/before_commit")

    process = run_explore(*options, *small_client("careful"))

    assert (process.returncode, process.stdout) == (0, "done\n")
    result_line, conduct_line, *finding_lines = process.stderr.splitlines()
    assert result_line == "create_user_api_key#1/rate_limit/before_commit  survived"
    assert conduct_line.startswith("conduct: 1 finding (1 warning) in ")
    assert any(line.endswith(" [retried-too-soon]") for line in finding_lines)


def test_explore_ends_a_hanging_client_and_all_its_child_processes():
    mark = uuid.uuid4().hex
    script = f"sleep 300 & exec {client_in_shell('patient')}"

    process = run_explore(
        "--faults", "timeout", "--time-limit", "3s", *shell_script(script), mark=mark
    )

    assert process.returncode == 1
    assert "hung at 2 points: " in process.stdout
    assert marked_process_ids(mark) == []


def test_the_same_command_produces_the_same_report_in_any_process():
    faults = ("--faults", "abort:service_unavailable,connection_reset")
    arguments = (*faults, "--call", "create_user_api_key", *small_client("doubling"))

    first_report = explore_report("-j", "2", *arguments)
    # In a separate interpreter, sets have another order.
    second_report = explore_report("-j", "5", *arguments, cold=True)

    assert first_report == second_report
    assert first_report["summary"]["doubled"] == 2


def test_a_failure_that_does_not_recur_is_reported_but_counts_as_survived(tmp_path: Path):
    # Only the third run fails, which is the first run of the first point.
    script = f"{client_in_shell('careful')}; echo >>runs; [ $(wc -l <runs) -ne 3 ]"

    process = run_explore(
        "--faults", "connection_reset", "-j", "1", *shell_script(script), cwd=tmp_path
    )

    assert process.returncode == 0, process.stderr
    assert "2 runs: 2 survived." in process.stdout
    assert "failed; exit code 1" in process.stdout


# --- Commands that cannot be explored ------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            shell_script("echo why; exit 3"),
            "| why\nError: the command ended with 3 even without failures;",
        ),
        (
            ("--time-limit", "200ms", *shell_script("sleep 9")),
            "the command did not end within 0.2 s even without failures. If it is a server, run it in "
            "the background: hosting-emulator explore -- sh -c './server & ./check'. If it takes "
            "longer, give a larger --time-limit\n",
        ),
        (shell_script("true"), "the command sends no request to the emulator; "),
        (("--", "no-such-command"), "Error: no-such-command: command not found\n"),
        (
            ("--trial", "list_deployments#1/timeout/before_commit", *small_client("careful")),
            "the clean run has no request list_deployments#1: it sends 0 of list_deployments\n",
        ),
    ],
    ids=["exit_code", "time_limit", "no_request", "no_command", "no_such_point"],
)
def test_explore_says_why_a_command_cannot_be_explored(arguments: tuple[str, ...], reason: str):
    process = run_explore(*arguments)

    assert (process.returncode, process.stdout) == (2, "")
    assert reason in process.stderr
    assert process.stderr.splitlines()[-1].startswith("Error: ")


def test_explore_says_that_a_command_fails_when_it_runs_a_second_time(tmp_path: Path):
    process = run_explore(*shell_script("[ ! -e before ] && touch before"), cwd=tmp_path)

    assert process.returncode == 2
    assert "the command ended with 1 when it runs a second time even" in process.stderr


# --- Interruption and continuation ---------------------------------------------------------------


def test_ctrl_c_ends_every_run_and_prints_the_results_so_far():
    mark = uuid.uuid4().hex
    options = ("--faults", "abort,timeout", "-j", "1", "--time-limit", "30s")

    with start_explore(*options, *small_client("patient", 1), mark=mark) as process:
        # Two runs with refusals end. Then the first run with a timeout waits until it is ended.
        wait_until(lambda: len(marked_process_ids(mark)) >= 2 or None)  # a supervisor and a run
        assert process.stderr is not None
        assert "runs" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=LONGEST_EXPLORATION_S)

    assert process.returncode == 130
    assert "not run: interrupted." in stdout
    assert marked_process_ids(mark) == []


def test_killing_explore_leaves_no_process_behind():
    mark = uuid.uuid4().hex
    options = ("--faults", "timeout", "--time-limit", "30s")

    with start_explore(*options, *small_client("patient", 1), mark=mark) as process:
        assert process.stderr is not None
        assert "runs" in process.stderr.readline()
        # Wait for two supervisors and two runs.
        wait_until(lambda: len(marked_process_ids(mark)) >= 4 or None)
        process.kill()

    wait_until(lambda: not marked_process_ids(mark) or None)


def test_explore_continues_after_an_interruption(tmp_path: Path):
    file = tmp_path / "so-far.json"
    options = ("--faults", "connection_reset,empty_response", "-j", "1", "--results", str(file))

    with start_explore(*options, *small_client("careful", 1)) as process:
        wait_until(lambda: file.exists() or None)
        process.send_signal(signal.SIGINT)
        interrupted_report, _ = process.communicate(timeout=LONGEST_EXPLORATION_S)
    result_count = len(json.loads(file.read_text())["results"])
    continuation = run_explore(*options, *small_client("careful", 1))

    assert f"{result_count} run" in interrupted_report
    assert continuation.returncode == 0
    if result_count < 4:
        assert f": {result_count} of 4 runs are done" in continuation.stderr
    assert "4 runs: 4 survived." in continuation.stdout


def test_explore_reports_the_points_that_its_budget_left_out():
    process = run_explore("--budget", "1ms", "--faults", "timeout", *small_client("patient", 1))

    assert process.returncode == 2
    assert "2 points not run: the budget of 0.001 s is used up." in process.stdout


def test_explore_starts_over_for_another_command_or_after_a_finished_exploration(tmp_path: Path):
    options = ("--results", str(tmp_path / "so-far.json"), "--faults", "connection_reset")

    first = run_explore(*options, *small_client("careful", 1))
    repetition = run_explore(*options, *small_client("careful", 1))
    other_command = run_explore(*options, *small_client("giving-up", 1))

    assert "starts over" not in first.stderr
    assert "finished exploration, so the exploration starts over." in repetition.stderr
    assert (
        "is from a different command or clean run, so the exploration starts over."
        in other_command.stderr
    )
    assert other_command.returncode == 1


def test_explore_does_not_overwrite_a_file_that_contains_no_results(tmp_path: Path):
    notes = tmp_path / "notes.json"
    notes.write_text('{"mine": 1}')

    process = run_explore("--results", str(notes), *small_client("careful", 1))

    assert process.returncode == 2
    assert "does not contain the results of an exploration" in process.stderr
    assert notes.read_text() == '{"mine": 1}'


def test_an_exploration_stops_if_a_result_cannot_be_stored(tmp_path: Path):
    folder = tmp_path / "results"
    folder.mkdir()
    script = f"rm -rf {folder}; exec {client_in_shell('careful')}"

    process = run_explore(
        *("--results", str(folder / "so-far.json"), "--faults", "connection_reset"),
        *shell_script(script),
    )

    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.endswith("so-far.json: No such file or directory\n")


# --- Reports -------------------------------------------------------------------------------------


def test_explore_writes_junit_and_html_reports(tmp_path: Path):
    junit_file = tmp_path / "report.xml"
    html_file = tmp_path / "report.html"
    options = ("--junit", str(junit_file), "--html", str(html_file))

    process = run_explore("--faults", "connection_reset", *options, *small_client("doubling"))

    assert process.returncode == 1
    # At one point a key is created twice. At three points a retry has a new Idempotency-Key.
    assert Xml.parse(junit_file).getroot().attrib["failures"] == "4"
    assert "did not survive every failure" in html_file.read_text(encoding="utf-8")


def test_the_printed_command_repeats_the_options_that_shape_a_run():
    world_options = ("--seed", "42", "--clock", "frozen", "--assume", "accepted_status=200")
    client_options = ("--user", "owner", "--export", "HOSTING_DEV_BASE_URL=DEV")
    options = (*world_options, *client_options, "--time-limit", "9s")

    report = explore_report("--faults", "empty_response", *options, *small_client("giving-up", 1))

    command = report["points"][0]["repeat"]
    assert " --seed 42 --clock frozen --assume accepted_status=200 --user owner" in command
    assert " --export HOSTING_DEV_BASE_URL=DEV --time-limit 9s --trial " in command


# --- Effort --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "most_runs"),
    [
        ((), 150),
        (("--faults", "wire", "--outcomes"), 225),
        (("--faults", "wire", "--outcomes", "--quick"), 23),
    ],
)
def test_the_number_of_runs_for_ten_requests_is_limited(options: tuple[str, ...], most_runs: int):
    """A run takes hardly longer than the command alone, so the number of runs determines the duration."""
    # The plan is printed before the first run of a point, and the budget leaves time for none.
    process = run_explore("--budget", "1ms", *options, *small_client("careful", 10))

    plan = re.search(r"^10 requests: (\d+) runs,", process.stderr, re.MULTILINE)
    assert plan is not None, process.stderr
    assert most_runs / 2 < int(plan[1]) <= most_runs


@TORTURE
def test_a_careful_client_with_ten_requests_survives_every_fault_kind():
    # On a busy machine, a run may take long.
    process = run_explore(
        *("--json", "--time-limit", "60s"),
        *small_client("careful", 10),
        timeout_s=SHORT_TIMEOUT_S,
        longest_s=LONG_EXPLORATION_S,
    )

    report = json.loads(process.stdout)
    assert len(report["clean"]["requests"]) == 10
    assert report["coverage"]["fault_kinds"]["of"] == len(report["coverage"]["fault_kinds"]["met"])
    assert report["summary"] == {"survived": len(report["points"])}


def repeat_commands(report: str) -> list[list[str]]:
    """Return the words of each command in a text report that repeats a run."""
    prefix = "  repeat: "
    return [
        shlex.split(line.removeprefix(prefix))
        for line in report.splitlines()
        if line.startswith(prefix)
    ]


def client_in_shell(behavior: str) -> str:
    """Return the small client's command with one request, as a shell script contains it."""
    return shlex.join(small_client(behavior, 1)[1:])
