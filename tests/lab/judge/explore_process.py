"""Runs `explore` as a process, with a client of the tests."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support import warm
from tests.support.exec_process import environment
from tests.support.plain_http import client_command
from tests.support.warm import COMMAND

LONGEST_EXPLORATION_S = 60.0
#: The same for an exploration with many runs on a busy machine.
LONG_EXPLORATION_S = 900.0
#: How long the small client waits for a response, in seconds. A busy machine may need this long.
TIMEOUT_S = "10"
#: The same for an exploration in which responses are late or lost. A late response arrives within
#: this time.
SHORT_TIMEOUT_S = "1.6"
_MARK_VARIABLE = "EMULATOR_TEST_MARK"


def small_client(behavior: str, request_count: int = 2) -> tuple[str, ...]:
    """Return the arguments of `explore` that run the small client."""
    command = client_command("tests.lab.judge.small_client")
    return ("--", *command, behavior, str(request_count))


def shell_script(script: str) -> tuple[str, ...]:
    """Return the arguments of `explore` that run a shell script."""
    return ("--", "sh", "-c", script)


def start_explore(
    *arguments: str, mark: str = "", timeout_s: str = TIMEOUT_S, **options: Any
) -> Any:
    """Start `explore` and return its process.

    All processes that it starts have `mark` in their environment. `options` are those of
    `warm.start`.
    """
    variables = {"SMALL_CLIENT_TIMEOUT_S": timeout_s, _MARK_VARIABLE: mark}
    command = [COMMAND, "explore", *arguments]
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return warm.start(command, env=environment() | variables, **options)


def run_explore(
    *arguments: str, longest_s: float = LONGEST_EXPLORATION_S, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run `explore` to its end, which must come within `longest_s` real seconds.

    `options` are those of `start_explore`.
    """
    with start_explore(*arguments, **options) as process:
        stdout, stderr = process.communicate(timeout=longest_s)
    return subprocess.CompletedProcess(process.args, process.wait(), stdout, stderr)


def explore_report(*arguments: str, **options: Any) -> dict[str, Any]:
    """Run `explore` and return its JSON report without the durations."""
    process = run_explore("--json", "-j", "3", *arguments, **options)
    report: dict[str, Any] = json.loads(process.stdout or "{}")
    assert process.returncode == report.get("exit_code"), process.stderr
    for run_report in (report["clean"], *report["points"]):
        run_report.pop("duration_s")
    return report


def verdicts_by_point(report: dict[str, Any]) -> dict[str, str]:
    """Return the verdict on each point of a JSON report."""
    return {point["trial"]: point["verdict"] for point in report["points"]}


def marked_process_ids(mark: str) -> list[int]:
    """Return the ids of the running processes with a mark in their environment. Linux only."""
    process_ids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                variables = (folder / "environ").read_bytes()
            except OSError:  # because the process has ended
                continue
            if state != "Z" and f"{_MARK_VARIABLE}={mark}".encode() in variables:
                process_ids.append(int(folder.name))
    return process_ids
