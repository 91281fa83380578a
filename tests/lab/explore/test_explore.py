"""`explore` finds what a client does not survive, says how to see it again, and leaves nothing."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from tests.support import warm
from tests.support.exec_process import environment, until
from tests.support.plain_http import quick_start
from tests.support.warm import COMMAND

PATIENCE_S = 60.0
#: How long a client waits for an answer: as long as a busy machine may take; or, where answers come
#: late or never, hardly longer than those that are late.
TIMEOUT_S, SHORT_TIMEOUT_S = "10", "1.6"
TWICE = "2 API keys, while the clean run makes 1: 'ci' of owner in acme"
TORTURE = pytest.mark.torture
_MARK = "HOSTING_EMULATOR_TEST_MARK"


def client(manner: str, requests: int = 2) -> tuple[str, ...]:
    return ("--", *quick_start("tests.lab.explore.explored"), manner, str(requests))


def sh(code: str) -> tuple[str, ...]:
    return ("--", "sh", "-c", code)


def begin(*arguments: str, mark: str = "", timeout_s: str = TIMEOUT_S, **options: Any) -> Any:
    names = {"EXPLORED_TIMEOUT_S": timeout_s, _MARK: mark}
    words = [COMMAND, "explore", *arguments]
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return warm.start(words, env=environment() | names, **options)


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    with begin(*arguments, **options) as process:
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(process.args, process.wait(), stdout, stderr)


def explored(*arguments: str, **options: Any) -> dict[str, Any]:
    """Explore, and return the JSON report but for its durations."""
    done = run("--json", "-j", "3", *arguments, **options)
    found: dict[str, Any] = json.loads(done.stdout or "{}")
    assert done.returncode == found.get("exit_code"), done.stderr
    for part in (found["clean"], *found["points"]):
        part.pop("duration_s")
    return found


def processes(mark: str) -> list[int]:
    """Look for processes that carry a mark. Linux only."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and f"{_MARK}={mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


# --- what it finds --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meant", "requests", "runs"),
    [
        (("--calls", "create_user_api_key"), 1, 20),
        pytest.param((), 2, 38, marks=TORTURE),
    ],
)
def test_a_careful_client_survives_every_fault(meant: tuple[str, ...], requests: int, runs: int):
    done = run(*meant, *client("careful"), timeout_s=SHORT_TIMEOUT_S)

    assert done.returncode == 0, done.stdout
    assert f"{runs} runs: {runs} survived." in done.stdout
    assert (
        f"Met: calls {requests} of 8, fault kinds 10 of 10, problem codes 3 of 57." in done.stdout
    )


@pytest.mark.parametrize(
    ("manner", "faults", "many", "verdict"),
    [
        ("doubling", "connection_reset,gateway_error", 2, f"doubled: {TWICE}"),
        ("giving-up", "rate_limit", 1, "failed: exit code 1"),
        pytest.param("doubling", "truncate", 1, f"doubled: {TWICE}", marks=TORTURE),
        pytest.param("patient", "timeout", 2, "hung: it did not end within 3 s", marks=TORTURE),
    ],
)
def test_the_printed_command_repeats_each_reported_point(
    manner: str, faults: str, many: int, verdict: str
):
    meant = ("--faults", faults, "--calls", "create_user_api_key", "--time-limit", "3s")
    given = (*(meant if manner == "patient" else meant[:4]), "--conduct", "off")

    done = run(*given, *client(manner))

    lines = [line for line in done.stdout.splitlines() if line.startswith("  again: ")]
    assert (done.returncode, len(lines)) == (1, many)
    for line in lines:
        words = shlex.split(line.removeprefix("  again: "))
        assert words[:2] == ["hosting-emulator", "explore"]
        again = run(*words[2:])
        assert again.returncode == 1, line
        assert f"  {verdict}\n" in again.stderr
        assert ("done\n" in again.stdout) == (manner == "doubling")


def test_the_conduct_option_decides_whether_findings_fail_the_exploration():
    meant = ("--faults", "rate_limit", "--calls", "create_user_api_key")

    told = run(*meant, *client("careful"))
    strict = run(*meant, "--conduct", "error", *client("careful"))
    silent = run(*meant, "--conduct", "off", *client("careful"))

    rule = "retried-too-soon: Retried too soon"
    assert (told.returncode, strict.returncode, silent.returncode) == (0, 1, 0)
    assert f"conduct: {rule} (create_user_api_key#1/rate_limit/before_commit)" in told.stdout
    assert "misbehaved at 1 point: retried-too-soon\n" in strict.stdout
    assert "conduct" not in silent.stdout
    for done, code in ((told, 0), (strict, 1)):
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("  again: ")]
        again = run(*shlex.split(line.removeprefix("  again: "))[2:])
        assert again.returncode == code
        assert "warning: Retried too soon [retried-too-soon]\n" in again.stderr
        assert "    instead  Wait as many seconds as Retry-After" in again.stderr


def test_exploring_one_survived_point_exits_with_0():
    limited = ("--point", "create_user_api_key#1/rate_limit/before_commit")
    done = run(*limited, *client("careful"))

    assert (done.returncode, done.stdout) == (0, "done\n")
    point, conduct, *told = done.stderr.splitlines()
    assert point == "create_user_api_key#1/rate_limit/before_commit  survived"
    assert conduct.startswith("conduct: 1 finding (1 warning) in ")
    assert any(line.endswith(" [retried-too-soon]") for line in told)


def test_explore_ends_a_hanging_client_and_all_its_child_processes():
    mark = uuid.uuid4().hex
    code = f"sleep 300 & exec {shlex.join(client('patient', 1)[1:])}"

    done = run("--faults", "timeout", "--time-limit", "3s", *sh(code), mark=mark)

    assert done.returncode == 1
    assert "hung at 2 points: it did not end within 3 s" in done.stdout
    assert processes(mark) == []


def test_the_same_command_produces_the_same_report_in_any_process():
    faults = ("--faults", "abort:service_unavailable,connection_reset")
    arguments = (*faults, "--calls", "create_user_api_key", *client("doubling"))

    first = explored("-j", "2", *arguments)
    # In an interpreter of its own, whose sets have another order.
    second = explored("-j", "5", *arguments, cold=True)

    assert first == second
    assert first["summary"]["doubled"] == 2


def test_a_failure_that_does_not_recur_is_reported_but_counts_as_survived(tmp_path: Path):
    # The third run of all, which is the first point's, fails.
    code = f"{shlex.join(client('careful', 1)[1:])}; echo >>runs; [ $(wc -l <runs) -ne 3 ]"

    done = run("--faults", "connection_reset", "-j", "1", *sh(code), cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "2 runs: 2 survived." in done.stdout
    assert "(the first of two runs: failed; exit code 1)." in done.stdout


# --- what it cannot explore -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "why"),
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
def test_explore_says_why_a_command_cannot_be_explored(arguments: tuple[str, ...], why: str):
    done = run(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: ")


# --- cut off, and going on ------------------------------------------------------------------------


def test_ctrl_c_ends_every_run_and_prints_the_results_so_far():
    mark = uuid.uuid4().hex
    faults = ("--faults", "abort,timeout", "-j", "1", "--time-limit", "30s")
    arguments = (*faults, *client("patient", 1))

    with begin(*arguments, mark=mark) as process:
        # Two runs that are refused come to an end; then the first one waits for ever.
        until(lambda: len(processes(mark)) >= 2 or None)  # a supervisor and a run
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
        until(lambda: len(processes(mark)) >= 4 or None)  # two supervisors, two runs
        process.kill()

    until(lambda: not processes(mark) or None)


def test_explore_continues_after_an_interruption(tmp_path: Path):
    state = tmp_path / "so-far.json"
    whole = ("--faults", "connection_reset,empty_response", "-j", "1", "--state", str(state))

    with begin(*whole, *client("careful", 1)) as process:
        until(lambda: state.exists() or None)
        process.send_signal(signal.SIGINT)
        cut, _ = process.communicate(timeout=PATIENCE_S)
    done = len(json.loads(state.read_text())["results"])
    rest = run(*whole, *client("careful", 1))

    assert f"{done} run" in cut
    assert rest.returncode == 0
    assert f": {done} of 4 are done" in rest.stderr or done == 4
    assert "4 runs: 4 survived." in rest.stdout


def test_explore_reports_the_points_that_its_budget_left_out():
    done = run("--budget", "1ms", "--faults", "timeout", *client("patient", 1))

    assert (
        done.returncode,
        "2 points not run: the budget of 0.001 s is used up." in done.stdout,
    ) == (
        2,
        True,
    )


def test_explore_starts_over_for_another_command_or_after_a_finished_exploration(tmp_path: Path):
    state = ("--state", str(tmp_path / "so-far.json"), "--faults", "connection_reset")

    first = run(*state, *client("careful", 1))
    same = run(*state, *client("careful", 1))
    other = run(*state, *client("giving-up", 1))

    assert "beginning anew" not in first.stderr
    assert "finished exploration: starting over." in same.stderr
    assert "from another command or another clean run: starting over." in other.stderr
    assert other.returncode == 1


def test_explore_does_not_overwrite_a_file_that_is_not_its_state(tmp_path: Path):
    notes = tmp_path / "notes.json"
    notes.write_text('{"mine": 1}')

    done = run("--state", str(notes), *client("careful", 1))

    assert done.returncode == 2
    assert "is not the state of an exploration" in done.stderr
    assert notes.read_text() == '{"mine": 1}'


# --- what it writes -------------------------------------------------------------------------------


def test_explore_writes_junit_and_html_reports(tmp_path: Path):
    xml, html = tmp_path / "report.xml", tmp_path / "report.html"

    done = run(
        *("--faults", "connection_reset", "--junit", str(xml), "--html", str(html)),
        *client("doubling"),
    )

    assert done.returncode == 1
    # Once a key is doubled; three times a retry has a new Idempotency-Key.
    assert Xml.parse(xml).getroot().attrib["failures"] == "4"
    assert "did not survive every failure" in html.read_text(encoding="utf-8")


def test_the_printed_command_repeats_the_options_that_shape_a_run():
    shaping = ("--seed", "42", "--assume", "accepted_status=200", "--as", "owner")
    more = ("--clock", "frozen", "--export", "HOSTING_DEV_BASE_URL=DEV", "--time-limit", "9s")

    found = explored("--faults", "empty_response", *shaping, *more, *client("giving-up", 1))

    line = found["points"][0]["repeat"]
    assert " --seed 42 --clock frozen --assume accepted_status=200 --as owner" in line
    assert " --export HOSTING_DEV_BASE_URL=DEV --time-limit 9s --point " in line


@pytest.mark.benchmark
@pytest.mark.parametrize(("quick", "limit_s"), [((), 90), (("--quick",), 15)])
def test_exploring_outcomes_stays_within_its_time_limits(quick: tuple[str, ...], limit_s: float):
    began = time.monotonic()
    found = json.loads(
        run("--json", "--faults", "wire", "--outcomes", *quick, *client("careful", 10)).stdout
    )

    assert time.monotonic() - began < limit_s
    assert len(found["points"]) == (21 if quick else 209)


@pytest.mark.benchmark
def test_exploring_ten_requests_with_every_fault_kind_takes_less_than_a_minute():
    began = time.monotonic()
    found = json.loads(run("--json", *client("careful", 10)).stdout)

    assert time.monotonic() - began < 60

    assert len(found["clean"]["requests"]) == 10
    assert found["coverage"]["fault_kinds"]["of"] == len(found["coverage"]["fault_kinds"]["met"])
    assert found["summary"] == {"survived": len(found["points"])}
