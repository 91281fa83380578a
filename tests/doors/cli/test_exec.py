"""`exec` runs a command with an emulator, and ends with the exit code of the command."""

from __future__ import annotations

import ast
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.emulator_process import emulator
from tests.support.exec_process import run
from tests.support.warm import COMMAND, programs

VARIABLES = ("BASE_URL", "DEV_BASE_URL", "TOKEN", "ORGANIZATION_ID", "PROJECT_ID", "CONTROL_URL")


def python(code: str, *, program: str = "") -> tuple[str, ...]:
    return ("--", program or warm_python(), "-c", code)


def warm_python() -> str:
    return str(programs() / "python")


def sh(code: str) -> tuple[str, ...]:
    return ("--", "sh", "-c", code)


def environment_in(*arguments: str, **options: Any) -> dict[str, str]:
    """Run a command and return its environment variables that begin with HOSTING_ or API_."""
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    result = run("--quiet", *arguments, *python(code), **options)
    assert (result.returncode, result.stderr) == (0, "")
    environment = json.loads(result.stdout)
    return {
        name: value for name, value in environment.items() if name.startswith(("HOSTING_", "API_"))
    }


# --- how it ends ----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 42, 255])
def test_the_exit_code_is_that_of_the_command(code: int):
    result = run("--quiet", *sh(f"exit {code}"))

    assert (result.returncode, result.stdout, result.stderr) == (code, "", "")


def test_the_exit_code_names_the_signal_that_ended_the_command():
    assert run(*sh("kill -TERM $$")).returncode == 128 + 15


def test_exec_refuses_a_command_that_does_not_exist():
    result = run("--", "no-such-command", "--report")

    assert (result.returncode, result.stdout) == (127, "")
    assert result.stderr == "Error: no-such-command: command not found\n"


def test_exec_refuses_a_file_that_cannot_be_executed(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.touch()

    result = run("--", str(path))

    assert (result.returncode, result.stderr) == (126, f"Error: {path}: permission denied\n")


def test_exec_refuses_a_script_whose_interpreter_does_not_exist(tmp_path: Path):
    path = tmp_path / "script"
    path.write_text("#!/no/such/interpreter\n")
    path.chmod(0o700)

    result = run("--", str(path))

    reason = "its interpreter was not found; check the first line of the file"
    assert (result.returncode, result.stderr) == (126, f"Error: {path}: {reason}\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--user", "nobody"], "'nobody'"),
        (["--scenario", "stuck-operatio"], "stuck-operation?"),
        (["--import", "no-such.json"], "no-such.json"),
        (
            ["--failed-world", "no/such/folder.json"],
            "cannot write no/such/folder.json: no such directory",
        ),
    ],
)
def test_the_command_does_not_run_if_no_emulator_starts(
    arguments: list[str], words: str, tmp_path: Path
):
    result = run(*arguments, *sh("echo ran"), cwd=tmp_path)

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


# --- what the command finds -----------------------------------------------------------------------


def test_the_command_finds_the_emulator_by_its_environment():
    code = (
        "import os, urllib.request as u\n"
        "def get(url, **headers):\n"
        "    return u.urlopen(u.Request(url, headers=headers)).read().decode()\n"
        "at = os.environ['HOSTING_BASE_URL'] + '/v1/projects/' + os.environ['HOSTING_PROJECT_ID']\n"
        "print(get(at + '/edge-dns', Authorization='Bearer ' + os.environ['HOSTING_TOKEN']))\n"
        "print(get(os.environ['HOSTING_CONTROL_URL'] + '/health'))\n"
    )

    result = run(*python(code))

    assert (result.returncode, result.stderr) == (0, "")
    assert '"status":"authorized"' in result.stdout
    assert '"status":"ok"' in result.stdout.replace(" ", "")


def test_exec_sets_the_variables_that_env_prints():
    environment = environment_in()
    command = f"{shlex.quote(COMMAND)} env --json"
    printed = json.loads(run(*sh(command)).stdout)

    assert {f"HOSTING_{name}" for name in VARIABLES} <= set(environment)
    of_exec = {
        "HOSTING_CONTROL_URL",
        "HOSTING_ISSUER_URL",
        "HOSTING_EMULATOR_EXEC_URL",
        "HOSTING_EMULATOR_EXEC_CONDUCT",
    }
    assert set(environment) == {*printed, *of_exec}
    assert environment["HOSTING_EMULATOR_EXEC_URL"] == environment["HOSTING_EMULATOR_URL"]
    assert environment["HOSTING_ISSUER_URL"].startswith(environment["HOSTING_EMULATOR_URL"])


def test_commands_inside_exec_reach_its_emulator_despite_outer_settings():
    outer = {"HOSTING_EMULATOR_URL": "http://127.0.0.1:9", "HOSTING_EMULATOR_WORLD": "other"}
    outer["HOSTING_EMULATOR_CONTROL_TOKEN"] = "outer"

    result = run(
        "--clock",
        "frozen",
        "--at",
        "2030-01-31T09:30:00Z",
        *sh(f"{shlex.quote(COMMAND)} clock advance 365d"),
        env=os.environ | outer,
    )

    assert result.returncode == 0, result.stderr
    assert "2031-01-31T09:30:00.000Z" in result.stdout


def test_a_token_outlives_what_tests_do_to_time():
    code = (
        'curl() { "$PYTHON" -c "import os, sys, urllib.request as u; print(u.urlopen(u.Request('
        "sys.argv[1], headers={'Authorization': 'Bearer ' + os.environ['HOSTING_TOKEN']})).status)"
        '" "$1"; }\n'
        f"{shlex.quote(COMMAND)} clock advance 3000d >/dev/null\n"
        'curl "$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/deployments"\n'
    )

    result = run("--clock", "frozen", *sh(code), env=os.environ | {"PYTHON": warm_python()})

    assert (result.returncode, result.stdout, result.stderr) == (0, "200\n", "")


def test_variables_of_the_command_can_be_renamed():
    environment = environment_in(
        "--export",
        "HOSTING_BASE_URL=API_URL",
        "--export",
        "HOSTING_TOKEN=API_TOKEN",
        "--export",
        "HOSTING_TOKEN=API_KEY",
    )

    assert environment["API_URL"].startswith("http://127.0.0.1:")
    assert environment["API_TOKEN"] == environment["API_KEY"]
    assert not {"HOSTING_BASE_URL", "HOSTING_TOKEN"} & set(environment)


def test_somebody_elses_token_names_their_organization_and_project():
    owner = environment_in()
    outsider = environment_in("--user", "outsider")

    for name in ("ORGANIZATION_ID", "PROJECT_ID"):
        assert owner[f"HOSTING_{name}"] != outsider[f"HOSTING_{name}"]


def test_the_command_gets_the_https_url_with_its_authority():
    code = (
        "import os, ssl, urllib.request as u\n"
        "trusting = ssl.create_default_context(cafile=os.environ['HOSTING_CA_FILE'])\n"
        "at = os.environ['HOSTING_TLS_URL'] + '/_emulator/health'\n"
        "print(u.urlopen(at, context=trusting).status)\n"
    )

    result = run("--quiet", "--tls-port", "0", *python(code))

    assert (result.returncode, result.stdout, result.stderr) == (0, "200\n", "")


@pytest.mark.parametrize("dashes", [["--"], []], ids=["with --", "without"])
def test_arguments_reach_the_command_unchanged(dashes: list[str]):
    arguments = ["two words", "--", "--quiet", "-h", "", "*", "ä", "\udcff"]
    code = "import sys; print(ascii(sys.argv[1:]))"

    result = run(*dashes, sys.executable, "-c", code, *arguments)

    assert (result.returncode, result.stdout) == (0, f"{arguments!a}\n")


def test_the_environment_reaches_the_command_byte_for_byte():
    code = "import os; print(os.environb[b'ODD'])"

    result = run(*python(code, program=sys.executable), env={**os.environ, "ODD": "\udcff\n="})

    assert result.stdout == "b'\\xff\\n='\n"


def test_the_command_uses_the_standard_streams_of_the_user():
    result = run("--quiet", *sh("cat; echo words >&2"), input="typed\n")

    assert (result.stdout, result.stderr) == ("typed\n", "words\n")


def test_the_command_gets_the_descriptors_that_were_handed_in_and_no_other():
    code = "import os, sys; os.write(int(sys.argv[1]), b'through'); print(os.listdir('/dev/fd'))"
    reading, writing = os.pipe()
    try:
        result = run(*python(code, program=sys.executable), str(writing), pass_fds=(writing,))
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == b"through"

    listed = set(ast.literal_eval(result.stdout))
    # Listing the descriptors opens one more.
    assert {"0", "1", "2", str(writing)} <= listed
    assert len(listed) == 5


# --- what is told of it ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "is_reported"),
    [
        ([], 0, False),
        ([], 3, True),
        (["--report", "always"], 0, True),
        (["--report", "never"], 3, False),
        (["--quiet"], 3, False),
        (["--quiet", "--report", "failed"], 3, True),
    ],
)
def test_a_report_goes_to_stderr(arguments: list[str], code: int, is_reported: bool):
    ask = (
        "import os, sys, urllib.request as u, urllib.error\n"
        "at = os.environ['HOSTING_BASE_URL'] + '/v1/projects/x/edge-dns'\n"
        "try:\n    u.urlopen(at)\nexcept urllib.error.HTTPError as error:\n    error.close()\n"
        f"sys.exit({code})"
    )

    result = run(*arguments, *python(ask))

    assert (result.returncode, result.stdout) == (code, "")
    assert ("get_dns_authorization" in result.stderr) == is_reported
    assert bool(result.stderr) == is_reported
    assert "\x1b" not in result.stderr


def test_a_report_names_no_command_for_the_emulator_that_has_ended():
    ask = (
        "import os, sys, urllib.request as u\n"
        "at = '{HOSTING_BASE_URL}/v1/projects/{HOSTING_PROJECT_ID}/domains'.format(**os.environ)\n"
        "headers = {'Authorization': 'Bearer ' + os.environ['HOSTING_TOKEN'], 'Idempotency-Key': 'k'}\n"
        "u.urlopen(u.Request(at, method='PUT', headers=headers)).close()\n"
        "sys.exit(1)"
    )

    result = run("--clock", "frozen", *python(ask))

    assert "1 operation not ended" in result.stderr
    assert "hosting-emulator" not in result.stderr


def test_the_exit_code_is_that_of_the_command_if_nobody_reads_the_report():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = run(*sh("exit 3"), stderr=writing)
    finally:
        os.close(writing)

    assert result.returncode == 3


def test_the_world_of_a_failed_command_is_saved_and_can_be_opened(tmp_path: Path):
    path = tmp_path / "it failed.json"
    change = f"{shlex.quote(COMMAND)} clock advance 100d >/dev/null; exit 1"
    show_clock = f"{shlex.quote(COMMAND)} clock show"

    result = run("--clock", "frozen", "--failed-world", str(path), *sh(change))

    assert result.returncode == 1
    assert result.stderr.endswith(
        "The world was saved. To open it, run: "
        f"hosting-emulator start --ephemeral --import {shlex.quote(str(path))}\n"
    )
    assert path.stat().st_mode & 0o777 == 0o600
    assert "2026-04-11T00:00:00.000Z" in run("--import", str(path), *sh(show_clock)).stdout
    with emulator("--ephemeral", "--import", str(path)) as process:
        assert process.client().control("GET", "worlds/default/clock")["now"].startswith("2026-04")


def test_the_world_of_a_successful_command_is_not_saved(tmp_path: Path):
    run("--failed-world", str(tmp_path / "kept.json"), *sh("exit 0"))

    assert list(tmp_path.iterdir()) == []


def test_clock_and_assumptions_of_exec_override_those_of_the_scenario():
    show = f"{shlex.quote(COMMAND)} clock show; {shlex.quote(COMMAND)} world list --json"

    result = run(
        "--scenario",
        "stuck-operation",
        "--clock",
        "skip",
        "--assume",
        "accepted_status=200",
        *sh(show),
    )

    assert "skip" in result.stdout.splitlines()[0]
    [world] = json.loads(result.stdout[result.stdout.index("[") :])
    assert world["assumptions"] == {"accepted_status": 200}


def test_notes_of_conduct_are_shown_and_fail_nothing():
    begin = (
        "import os, urllib.request as u\n"
        "at = os.environ['HOSTING_BASE_URL'] + '/v1/projects/' + os.environ['HOSTING_PROJECT_ID']\n"
        "sent = {'Authorization': 'Bearer ' + os.environ['HOSTING_TOKEN'], 'Idempotency-Key': 'a'}\n"
        "u.urlopen(u.Request(at + '/domains', headers=sent, method='PUT'))\n"
    )

    result = run("--conduct", "error", *python(begin))

    assert result.returncode == 0
    assert "[operation-not-followed]" in result.stderr
