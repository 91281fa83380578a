"""`judge` runs a command, names its mistakes, and says when it could not be judged."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from tests.lab.judge.explore_process import shell_script, small_client
from tests.support import warm
from tests.support.exec_process import environment
from tests.support.warm import COMMAND

LONGEST_JUDGMENT_S = 120.0
#: How long the small client waits for a response, in seconds.
TIMEOUT_S = "1.6"

#: Shows the flag, with an Idempotency-Key that a test chooses.
CLIENT_WITH_KEY = """
import os, time, urllib.request
url = f"{{os.environ['HOSTING_BASE_URL']}}/v1/projects/{{os.environ['HOSTING_PROJECT_ID']}}/powered-by-flag"
headers = {{
    "Authorization": f"Bearer {{os.environ['HOSTING_TOKEN']}}",
    "Content-Type": "application/json",
    "Idempotency-Key": f"{key}",
}}
request = urllib.request.Request(url, b'{{"enabled": true}}', headers, method="PUT")
urllib.request.urlopen(request, timeout=10).read()
"""

#: Shows and hides the flag with the same Idempotency-Key, and can check that the key is refused.
CLIENT_THAT_REUSES_ITS_KEY = """
import os, sys, urllib.error, urllib.request
url = f"{os.environ['HOSTING_BASE_URL']}/v1/projects/{os.environ['HOSTING_PROJECT_ID']}/powered-by-flag"
headers = {
    "Authorization": f"Bearer {os.environ['HOSTING_TOKEN']}",
    "Content-Type": "application/json",
    "Idempotency-Key": "one-key-for-all",
}
statuses = []
for body in (b'{"enabled": true}', b'{"enabled": false}'):
    request = urllib.request.Request(url, body, headers, method="PUT")
    try:
        statuses.append(urllib.request.urlopen(request, timeout=10).status)
    except urllib.error.HTTPError as error:
        statuses.append(error.code)
if "--expect-refusal" in sys.argv:
    assert statuses == [200, 409], statuses
"""


def start(*arguments: str) -> Any:
    """Start `judge` and return its process."""
    return warm.start(
        [COMMAND, "judge", *arguments],
        env=environment() | {"SMALL_CLIENT_TIMEOUT_S": TIMEOUT_S},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def judge(*arguments: str) -> tuple[int, str, str]:
    """Run `judge` to its end, and return its exit code and what it printed."""
    with start(*arguments) as process:
        stdout, stderr = process.communicate(timeout=LONGEST_JUDGMENT_S)
    return process.wait(), stdout, stderr


@pytest.mark.slow
def test_a_careful_client_survives_every_trial(tmp_path: Path) -> None:
    reports = ("--junit", str(tmp_path / "j.xml"), "--html", str(tmp_path / "h.html"))
    code, stdout, _ = judge("--budget", "2m", "--json", *reports, *small_client("waiting", 1))
    document = json.loads(stdout)
    assert (code, document["causes"], document["not_tried"]) == (0, [], [])
    assert list(document["coverage"]["calls"]) == ["set_project_powered_by_flag"]
    assert int(Xml.parse(tmp_path / "j.xml").getroot().get("failures", "")) == 0
    assert "survived" in (tmp_path / "h.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_client_with_one_mistake_gets_one_cause_and_a_line_that_repeats_it() -> None:
    code, stdout, stderr = judge("--budget", "2m", "--json", *small_client("doubling", 1))
    document = json.loads(stdout)
    [cause] = document["causes"]
    assert (code, cause["id"]) == (1, "new-key-after-uncertainty")
    assert "[new-key-after-uncertainty] in " in stderr

    trial = cause["symptoms"][0]["trial"]
    code, _, stderr = judge("--trial", trial, *small_client("doubling", 1))
    assert code == 1
    assert "new-key-after-uncertainty" in stderr


def test_a_trial_shows_what_the_command_prints() -> None:
    code, stdout, stderr = judge("--trial", "clean", *shell_script("echo I was here"))
    assert (code, stdout) == (0, "I was here\n")
    assert stderr == "clean  exit code 0\n"


@pytest.mark.parametrize(
    ("key", "exit_code"), [("flag-{os.getpid()}", 1), ("flag-{os.getpid()}-{time.time_ns()}", 0)]
)
def test_a_key_must_not_be_the_id_of_the_process(key: str, exit_code: int, tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(CLIENT_WITH_KEY.format(key=key), encoding="utf-8")
    code, _, stderr = judge("--trial", "clean", "--", sys.executable, str(script))
    assert code == exit_code
    assert ("[key-of-process-id]" in stderr) == bool(exit_code)


@pytest.mark.parametrize(
    ("expects_refusal", "severity", "exit_code"), [(True, "note", 0), (False, "error", 1)]
)
def test_a_reused_key_is_only_a_note_if_the_command_tests_the_refusal(
    tmp_path: Path, expects_refusal: bool, severity: str, exit_code: int
) -> None:
    script = tmp_path / "client.py"
    script.write_text(CLIENT_THAT_REUSES_ITS_KEY, encoding="utf-8")
    command = [sys.executable, str(script), *["--expect-refusal"] * expects_refusal]
    code, _, stderr = judge("--trial", "clean", "--", *command)
    assert code == exit_code
    assert f"{severity}: An Idempotency-Key reused for a different request" in stderr


def test_a_command_that_sends_nothing_is_not_judged() -> None:
    code, stdout, _ = judge(*shell_script("true"))
    assert code == 2
    assert "could not be judged" in stdout
    assert "sends no request" in stdout


def test_a_command_that_fails_on_a_good_day_is_not_judged() -> None:
    code, stdout, stderr = judge(*shell_script("echo no luck; exit 3"))
    assert (code, stdout) == (2, "")
    assert "| no luck" in stderr
    assert "ended with 3 even without failures" in stderr


def test_a_server_is_not_judged_and_the_error_says_how_to_wrap_it() -> None:
    code, _, stderr = judge("--budget", "1s", *shell_script("sleep 600"))
    assert code == 2
    # The exit code must be the check's, so nothing follows the check.
    assert "hosting-emulator judge -- sh -c './server & ./check'. If" in stderr


def test_a_point_that_the_command_does_not_reach_is_refused() -> None:
    trial = "create_user_api_key#1/timeout/before_commit"
    code, _, stderr = judge("--trial", trial, *shell_script("true"))
    assert code == 2
    assert "the clean run has no request create_user_api_key#1" in stderr


@pytest.mark.slow
def test_an_interrupted_judgment_reports_what_there_is() -> None:
    with start("--budget", "5m", *small_client("doubling", 3)) as process:
        for line in process.stderr:
            if "new-key-after-uncertainty" in line:
                break
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=LONGEST_JUDGMENT_S)
    assert process.wait() == 130
    assert "new-key-after-uncertainty" in stdout
    assert "interrupted" in stdout
