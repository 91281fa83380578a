"""A session of clients, SDK and commands is recorded as a scenario that opens and runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from hosting_emulator_cli.main import cli
from tests.support.http_world import HttpWorld

Run = Callable[..., Result]
REUSED = "status=409 code=idempotency_key_reused"


@pytest.fixture
def run(api: HttpWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command line in the world of this test and in a folder of its own."""
    emulator: HostingEmulator = api.emulator
    address = emulator.control.control_url.removesuffix("/_emulator")
    monkeypatch.setenv("HOSTING_EMULATOR_URL", address)
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", emulator.name)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, prog_name="hosting-emulator")

    return run


def perform_session(api: HttpWorld) -> str:
    """Use faults, outcomes, interventions and calls; return an API key that the SDK created."""
    emulator = api.emulator
    emulator.fault(connection_reset={}, after_commit=True, call="get_dns_authorization", times=1)
    emulator.outcome("stick", phase="verifying", project="shop")
    operation = api.apply_domains(key="deploy").json["id"]
    value = emulator.api_key("owner")
    api.deployments("?limit=2", token=value)
    emulator.clock.advance("1m")
    api.poll(operation)
    emulator.intervene("release_operation", operation=operation)
    emulator.set_assumptions({"default_page_size": 3})
    emulator.clear_faults()
    api.deployments()
    api.initialize(1, key="deploy")
    return value


def test_a_recorded_session_is_a_scenario_that_passes(api: HttpWorld, tmp_path: Path):
    value = perform_session(api)
    file = tmp_path / "session.yaml"

    recorded = api.emulator.record(file, name="session")

    text = file.read_text("utf-8")
    control = api.emulator.control
    report = control.run_scenario(text=text, file="session.yaml")
    assert report.passed
    assert (recorded.name, recorded.text, recorded.left_out) == ("session", text, [])
    assert recorded.steps == len(report.steps) == 12
    assert value not in text
    with HostingEmulator.fresh(control, scenario=file) as fresh:
        assert fresh.clock.now == api.emulator.history[0].at


def test_a_recording_may_span_selected_requests(api: HttpWorld):
    perform_session(api)

    recorded = api.emulator.record(first=3, last=3)

    story = recorded.text.partition("The recording starts here.")
    assert story[0].count("at_least: 200") == 2
    assert story[2].count("expect:") == 1


def test_a_recording_from_a_missing_request_is_refused(api: HttpWorld):
    with pytest.raises(ControlRefused, match="there is nothing at 7: the session has no request"):
        api.emulator.record(first=7)


def test_a_recording_holds_every_request_until_it_is_made(api: HttpWorld):
    for _ in range(30):
        api.dns()

    steps = api.emulator.record().steps
    api.dns()

    assert (steps, api.emulator.record().steps) == (30, 31)


# --- On the command line --------------------------------------------------------------------------


def test_a_session_recorded_on_the_command_line_passes_and_shrinks(api: HttpWorld, run: Run):
    perform_session(api)

    recording = run("scenario", "record", "Bug 12.yaml")
    check = run("scenario", "check", "Bug 12.yaml")
    story = run("scenario", "run", "Bug 12.yaml")
    shrinking = run("scenario", "shrink", "Bug 12.yaml", "--step", REUSED, "--output", "small.yaml")
    second_check = run("scenario", "check", "small.yaml")

    assert (recording.exit_code, recording.stdout) == (0, "")
    assert recording.stderr == "A story with 12 steps was written to Bug 12.yaml.\n"
    assert Path("Bug 12.yaml").read_text("utf-8").startswith("name: bug-12\n")
    assert check.exit_code == story.exit_code == shrinking.exit_code == second_check.exit_code == 0
    assert "2 of 12 steps are left" in shrinking.stderr
    assert Path("small.yaml").read_text("utf-8").count("key: deploy") == 2


def test_scenario_record_reports_requests_that_it_leaves_out(
    api: HttpWorld, run: Run, monkeypatch: pytest.MonkeyPatch
):
    perform_session(api)
    record = HostingEmulator.record

    def record_with_gap(world: HostingEmulator, **options: Any) -> Any:
        return replace(record(world, **options), left_out=["#3 was sent by a browser."])

    monkeypatch.setattr(HostingEmulator, "record", record_with_gap)

    result = run("scenario", "record", "-")

    assert result.stderr.splitlines() == ["Left out: #3 was sent by a browser."]


def test_a_shrinking_that_stops_early_says_so(api: HttpWorld, run: Run):
    perform_session(api)
    run("scenario", "record", "bug.yaml")

    result = run("scenario", "shrink", "bug.yaml", "--step", REUSED, "--max-runs", "2")

    assert result.exit_code == 0
    assert result.stderr.endswith("after 2 runs; the search stopped early: increase --max-runs.\n")


def test_scenario_record_can_shrink_at_once(api: HttpWorld, run: Run):
    perform_session(api)

    result = run("scenario", "record", "-", "--step", REUSED)

    assert result.exit_code == 0
    assert result.stdout.count("call:") == 2
    assert "2 of 12 steps are left" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (("record", "x.yaml", "--first", "9"), "there is nothing at 9: the session has no request"),
        (
            ("record", "x.yaml", "--last", "end"),
            "last must be the number of a request (12) or of a commit",
        ),
        (("shrink", "x.yaml", "--step", "n=1"), "x.yaml: No such file"),
    ],
)
def test_scenario_record_and_shrink_refuse_bad_arguments_in_one_line(
    run: Run, arguments: tuple[str, ...], phrase: str
):
    result = run("scenario", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert phrase in result.stderr
    assert result.stderr.count("\n") == 1
