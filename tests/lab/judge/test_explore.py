"""`explore` finds what a client does not survive, prints how to repeat it, and leaves no process."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from hosting_emulator_lab.judge.fault_points import KINDS
from tests.lab.judge.samples import met_line
from tests.support import warm
from tests.support.exec_process import environment, wait_until
from tests.support.plain_http import client_command
from tests.support.warm import COMMAND

PATIENCE_S = 60.0
#: How long a client waits for a response: as long as a busy machine may take. Where responses are
#: late or lost, hardly longer than the late ones take.
TIMEOUT_S = "10"
SHORT_TIMEOUT_S = "1.6"
TORTURE = pytest.mark.torture
_MARK = "HOSTING_EMULATOR_TEST_MARK"


def client(manner: str, requests: int = 2) -> tuple[str, ...]:
    return ("--", *client_command("tests.lab.judge.explored"), manner, str(requests))


def sh(code: str) -> tuple[str, ...]:
    return ("--", "sh", "-c", code)


def begin(*arguments: str, mark: str = "", timeout_s: str = TIMEOUT_S, **options: Any) -> Any:
    variables = {"EXPLORED_TIMEOUT_S": timeout_s, _MARK: mark}
    command = [COMMAND, "explore", *arguments]
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return warm.start(command, env=environment() | variables, **options)


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    with begin(*arguments, **options) as process:
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(process.args, process.wait(), stdout, stderr)


def explored(*arguments: str, **options: Any) -> dict[str, Any]:
    """Explore and return the JSON report without its durations."""
    process = run("--json", "-j", "3", *arguments, **options)
    report: dict[str, Any] = json.loads(process.stdout or "{}")
    assert process.returncode == report.get("exit_code"), process.stderr
    for run_report in (report["clean"], *report["points"]):
        run_report.pop("duration_s")
    return report


def processes(mark: str) -> list[int]:
    """Return the ids of the processes whose environment contains a mark. Linux only."""
    process_ids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and f"{_MARK}={mark}".encode() in (folder / "environ").read_bytes():
                    process_ids.append(int(folder.name))
            except OSError:
                continue
    return process_ids


# --- what it finds --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "requests", "least_runs"),
    [
        (("--call", "create_user_api_key"), 1, 20),
        pytest.param((), 2, 38, marks=TORTURE),
    ],
)
def test_a_careful_client_survives_every_fault(
    options: tuple[str, ...], requests: int, least_runs: int
):
    process = run(*options, *client("careful"), timeout_s=SHORT_TIMEOUT_S)

    assert process.returncode == 0, process.stdout
    totals = re.search(r"^(\d+) runs: \1 survived\.$", process.stdout, re.MULTILINE)
    assert totals is not None, process.stdout
    assert int(totals[1]) >= least_runs
    kinds = len(KINDS)
    assert met_line(calls=requests, kinds=kinds, codes=3) in process.stdout


@pytest.mark.parametrize(
    ("manner", "faults", "point_count", "verdict"),
    [
        ("doubling", "connection_reset,gateway_error", 2, "doubled"),
        ("giving-up", "rate_limit", 1, "failed"),
        pytest.param("doubling", "truncate", 1, "doubled", marks=TORTURE),
        pytest.param("patient", "timeout", 2, "hung", marks=TORTURE),
    ],
)
def test_the_printed_command_repeats_each_reported_point(
    manner: str, faults: str, point_count: int, verdict: str
):
    options = ("--faults", faults, "--call", "create_user_api_key", "--time-limit", "3s")
    selected_options = (*(options if manner == "patient" else options[:4]), "--conduct", "off")

    process = run(*selected_options, *client(manner))

    lines = [line for line in process.stdout.splitlines() if line.startswith("  again: ")]
    assert (process.returncode, len(lines)) == (1, point_count)
    for line in lines:
        words = shlex.split(line.removeprefix("  again: "))
        assert words[:2] == ["hosting-emulator", "explore"]
        repetition = run(*words[2:])
        assert repetition.returncode == 1, line
        assert f"  {verdict}: " in repetition.stderr
        assert ("done\n" in repetition.stdout) == (manner == "doubling")


def test_the_conduct_option_decides_whether_findings_fail_the_exploration():
    options = ("--faults", "rate_limit", "--call", "create_user_api_key")

    reporting = run(*options, *client("careful"))
    strict = run(*options, "--conduct", "error", *client("careful"))
    silent = run(*options, "--conduct", "off", *client("careful"))

    rule = "retried-too-soon: Retried too soon"
    assert (reporting.returncode, strict.returncode, silent.returncode) == (0, 1, 0)
    assert f"conduct: {rule} (create_user_api_key#1/rate_limit/before_commit)" in reporting.stdout
    assert "misbehaved at 1 point: retried-too-soon\n" in strict.stdout
    assert "conduct" not in silent.stdout
    for process, code in ((reporting, 0), (strict, 1)):
        (line,) = [line for line in process.stdout.splitlines() if line.startswith("  again: ")]
        repetition = run(*shlex.split(line.removeprefix("  again: "))[2:])
        assert repetition.returncode == code
        assert "warning: Retried too soon [retried-too-soon]\n" in repetition.stderr
        assert "\n    instead  " in repetition.stderr


def test_exploring_one_survived_point_exits_with_0():
    options = ("--point", "create_user_api_key#1/rate_limit/before_commit")
    process = run(*options, *client("careful"))

    assert (process.returncode, process.stdout) == (0, "done\n")
    point, conduct, *lines = process.stderr.splitlines()
    assert point == "create_user_api_key#1/rate_limit/before_commit  survived"
    assert conduct.startswith("conduct: 1 finding (1 warning) in ")
    assert any(line.endswith(" [retried-too-soon]") for line in lines)


def test_explore_ends_a_hanging_client_and_all_its_child_processes():
    mark = uuid.uuid4().hex
    code = f"sleep 300 & exec {shlex.join(client('patient', 1)[1:])}"

    process = run("--faults", "timeout", "--time-limit", "3s", *sh(code), mark=mark)

    assert process.returncode == 1
    assert "hung at 2 points: " in process.stdout
    assert processes(mark) == []


def test_the_same_command_produces_the_same_report_in_any_process():
    faults = ("--faults", "abort:service_unavailable,connection_reset")
    arguments = (*faults, "--call", "create_user_api_key", *client("doubling"))

    first = explored("-j", "2", *arguments)
    # A separate interpreter has another order of sets.
    second = explored("-j", "5", *arguments, cold=True)

    assert first == second
    assert first["summary"]["doubled"] == 2


def test_a_failure_that_does_not_recur_is_reported_but_counts_as_survived(tmp_path: Path):
    # The third run, the first one of the first point, fails.
    code = f"{shlex.join(client('careful', 1)[1:])}; echo >>runs; [ $(wc -l <runs) -ne 3 ]"

    process = run("--faults", "connection_reset", "-j", "1", *sh(code), cwd=tmp_path)

    assert process.returncode == 0, process.stderr
    assert "2 runs: 2 survived." in process.stdout
    assert "failed; exit code 1" in process.stdout


# --- what it cannot explore -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (sh("echo why; exit 3"), "| why\nError: the command ended with 3 even without faults;"),
        (("--time-limit", "200ms", *sh("sleep 9")), "the command did not end within 0.2 s"),
        (sh("true"), "the command sends no request to the emulator: "),
        (("--", "no-such-command"), "Error: no-such-command: command not found\n"),
        (
            ("--point", "list_deployments#1/timeout/before_commit", *client("careful")),
            "the clean run has no request list_deployments#1: it sends 0 of list_deployments\n",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_explore_says_why_a_command_cannot_be_explored(arguments: tuple[str, ...], reason: str):
    process = run(*arguments)

    assert (process.returncode, process.stdout) == (2, "")
    assert reason in process.stderr
    assert process.stderr.splitlines()[-1].startswith("Error: ")


# --- cut off, and going on ------------------------------------------------------------------------


def test_ctrl_c_ends_every_run_and_prints_the_results_so_far():
    mark = uuid.uuid4().hex
    faults = ("--faults", "abort,timeout", "-j", "1", "--time-limit", "30s")
    arguments = (*faults, *client("patient", 1))

    with begin(*arguments, mark=mark) as process:
        # Two refused runs end; then the first run with a timeout waits forever.
        wait_until(lambda: len(processes(mark)) >= 2 or None)  # a supervisor and a run
        assert process.stderr is not None
        assert "runs" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    assert "not run: interrupted." in stdout
    assert processes(mark) == []


def test_killing_explore_leaves_no_process_behind():
    mark = uuid.uuid4().hex
    arguments = ("--faults", "timeout", "--time-limit", "30s", *client("patient", 1))

    with begin(*arguments, mark=mark) as process:
        assert process.stderr is not None
        assert "runs" in process.stderr.readline()
        wait_until(lambda: len(processes(mark)) >= 4 or None)  # two supervisors, two runs
        process.kill()

    wait_until(lambda: not processes(mark) or None)


def test_explore_continues_after_an_interruption(tmp_path: Path):
    state = tmp_path / "so-far.json"
    options = ("--faults", "connection_reset,empty_response", "-j", "1", "--results", str(state))

    with begin(*options, *client("careful", 1)) as process:
        wait_until(lambda: state.exists() or None)
        process.send_signal(signal.SIGINT)
        interrupted_report, _ = process.communicate(timeout=PATIENCE_S)
    finished_count = len(json.loads(state.read_text())["results"])
    second_process = run(*options, *client("careful", 1))

    assert f"{finished_count} run" in interrupted_report
    assert second_process.returncode == 0
    assert f": {finished_count} of 4 runs are done" in second_process.stderr or finished_count == 4
    assert "4 runs: 4 survived." in second_process.stdout


def test_explore_reports_the_points_that_its_budget_left_out():
    process = run("--budget", "1ms", "--faults", "timeout", *client("patient", 1))

    assert process.returncode == 2
    assert "2 points not run: the budget of 0.001 s is used up." in process.stdout


def test_explore_starts_over_for_another_command_or_after_a_finished_exploration(tmp_path: Path):
    state = ("--results", str(tmp_path / "so-far.json"), "--faults", "connection_reset")

    first = run(*state, *client("careful", 1))
    repetition = run(*state, *client("careful", 1))
    other_command = run(*state, *client("giving-up", 1))

    assert "beginning anew" not in first.stderr
    assert "finished exploration: starting over." in repetition.stderr
    assert "from another command or another clean run: starting over." in other_command.stderr
    assert other_command.returncode == 1


def test_explore_does_not_overwrite_a_file_that_is_not_its_state(tmp_path: Path):
    notes = tmp_path / "notes.json"
    notes.write_text('{"mine": 1}')

    process = run("--results", str(notes), *client("careful", 1))

    assert process.returncode == 2
    assert "does not contain the results of an exploration" in process.stderr
    assert notes.read_text() == '{"mine": 1}'


# --- what it writes -------------------------------------------------------------------------------


def test_explore_writes_junit_and_html_reports(tmp_path: Path):
    xml = tmp_path / "report.xml"
    html = tmp_path / "report.html"

    process = run(
        "--faults",
        "connection_reset",
        "--junit",
        str(xml),
        "--html",
        str(html),
        *client("doubling"),
    )

    assert process.returncode == 1
    # One point doubles a key; at three points a retry has a new Idempotency-Key.
    assert Xml.parse(xml).getroot().attrib["failures"] == "4"
    assert "did not survive every failure" in html.read_text(encoding="utf-8")


def test_the_printed_command_repeats_the_options_that_shape_a_run():
    shaping = ("--seed", "42", "--assume", "accepted_status=200", "--user", "owner")
    more = ("--clock", "frozen", "--export", "HOSTING_DEV_BASE_URL=DEV", "--time-limit", "9s")

    report = explored("--faults", "empty_response", *shaping, *more, *client("giving-up", 1))

    line = report["points"][0]["repeat"]
    assert " --seed 42 --clock frozen --assume accepted_status=200 --user owner" in line
    assert " --export HOSTING_DEV_BASE_URL=DEV --time-limit 9s --point " in line


@pytest.mark.benchmark
@pytest.mark.parametrize(("quick", "limit_s"), [((), 90), (("--quick",), 15)])
def test_exploring_outcomes_stays_within_its_time_limits(quick: tuple[str, ...], limit_s: float):
    start_s = time.monotonic()
    report = json.loads(
        run("--json", "--faults", "wire", "--outcomes", *quick, *client("careful", 10)).stdout
    )

    assert time.monotonic() - start_s < limit_s
    assert len(report["points"]) == (21 if quick else 209)


@pytest.mark.benchmark
def test_exploring_ten_requests_with_every_fault_kind_takes_less_than_a_minute():
    start_s = time.monotonic()
    report = json.loads(run("--json", *client("careful", 10)).stdout)

    assert time.monotonic() - start_s < 60

    assert len(report["clean"]["requests"]) == 10
    assert report["coverage"]["fault_kinds"]["of"] == len(report["coverage"]["fault_kinds"]["met"])
    assert report["summary"] == {"survived": len(report["points"])}
