"""The output and exit code of `requests replay`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.main import cli
from tests.support.http_world import HttpWorld

Run = Callable[..., Result]


@pytest.fixture
def run(api: HttpWorld, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in the world of this test."""
    emulator: HostingEmulator = api.emulator
    monkeypatch.setenv(
        "HOSTING_EMULATOR_URL", emulator.control.control_url.removesuffix("/_emulator")
    )
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", emulator.name)

    def run(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(cli, arguments, input=stdin, prog_name="hosting-emulator")

    return run


def test_a_recording_is_written_and_replayed(api: HttpWorld, run: Run, tmp_path: Path):
    api.apply_domains(key="deploy")
    api.dns()
    api.emulator.clock.advance("1m")
    api.initialize(1, key="deploy")
    file = str(tmp_path / "recording.har")

    export = run("requests", "har", "--output", file)
    replay = run("requests", "replay", file)

    assert export.exit_code == 0
    assert replay.exit_code == 0
    assert "3 the same, 0 different" in replay.stdout


def test_requests_replay_lists_differences_and_exits_with_1(
    api: HttpWorld, run: Run, tmp_path: Path
):
    api.apply_domains()
    api.dns(user="reader")
    file = str(tmp_path / "recording.har")
    run("requests", "har", "--output", file)

    text = run("requests", "replay", file, "--assume", "accepted_status=200")
    document = run("requests", "replay", file, "--assume", "accepted_status=200", "--json")

    assert text.exit_code == 1
    assert document.exit_code == 1
    assert "#1  differs  200  PUT" in text.stdout
    assert "status: was 202, now 200" in text.stdout
    assert "1 the same, 1 different" in text.stdout
    report = json.loads(document.stdout)
    assert [report[name] for name in ("sent", "differ", "skipped")] == [2, 1, 0]
    assert report["requests"][0] == {
        "n": 1,
        "method": "PUT",
        "path": api.project_path("domains"),
        "recorded_status": 202,
        "status": 200,
        "same": False,
        "skipped": None,
        "differences": [{"at": "status", "recorded": 202, "replayed": 200}],
    }
    assert report["requests"][1]["same"] is True


def test_a_replay_in_which_no_request_can_be_sent_exits_with_2(
    api: HttpWorld, run: Run, tmp_path: Path
):
    api.dns()
    file = tmp_path / "recording.har"
    run("requests", "har", "--output", str(file))
    archive = json.loads(file.read_text(encoding="utf-8"))
    for entry in archive["log"]["entries"]:
        entry["request"]["headers"].append({"name": "X-Secret", "value": "<redacted>"})
    file.write_text(json.dumps(archive), encoding="utf-8")

    result = run("requests", "replay", str(file))

    assert result.exit_code == 2
    assert "#1  skipped  GET" in result.stdout
    assert result.stderr == (
        "Error: no request of the recording could be sent, so nothing was compared\n"
    )


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["nowhere.har"], "cannot read nowhere.har"),
        (["-"], "Error: stdin: "),
        (["-", "--world", "default", "--seed", "x"], "leave out --fresh, --scenario"),
        (["99"], "`requests resend 99`"),
        (["99", "--seed", "x"], "`requests resend 99`"),
        (["-", "--same-key"], "No such option '--same-key'"),
    ],
)
def test_requests_replay_refuses_bad_arguments_in_one_line(
    run: Run, arguments: list[str], phrase: str
):
    result = run("requests", "replay", *arguments, stdin="{}")

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert phrase in result.stderr


@pytest.mark.parametrize("option", ["--user", "--scenario"])
def test_a_refusal_of_a_temporary_world_names_no_other_world(
    api: HttpWorld, run: Run, tmp_path: Path, option: str
):
    api.dns()
    file = str(tmp_path / "recording.har")
    run("requests", "har", "--output", file)

    result = run("requests", "replay", file, option, "nobody-here")

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "nobody-here" in result.stderr
    assert "(world " not in result.stderr


def test_requests_resend_names_a_request_that_is_not_in_the_log(run: Run):
    result = run("requests", "resend", "99")

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "'99'" in result.stderr
