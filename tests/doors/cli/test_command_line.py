"""`fault`, `intervene` and `scenario` with a running emulator."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.main import cli
from hosting_emulator_scenarios import FOLDER
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.http_world import HttpWorld

Run = Callable[..., Result]


@pytest.fixture
def api(hosting_emulator: HostingEmulator) -> HttpWorld:
    return HttpWorld(hosting_emulator)


@pytest.fixture
def url(hosting_emulator_server: BackgroundEmulator) -> str:
    """The address of the emulator."""
    return hosting_emulator_server.ready.base_url


@pytest.fixture
def run(url: str, hosting_emulator: HostingEmulator, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in the world of this test."""
    monkeypatch.setenv("HOSTING_EMULATOR_URL", url)
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", hosting_emulator.name)

    def run(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(cli, arguments, input=stdin, prog_name="hosting-emulator")

    return run


def test_a_fault_can_be_added_listed_and_cleared_on_the_command_line(run: Run, api: HttpWorld):
    line = "fault add abort code=service_unavailable --call apply_project_domains --times 1"
    added = run(*line.split(), "--after-commit")
    assert (added.exit_code, added.stdout) == (0, "fault-1\n")

    lost = api.apply_domains(key="k")
    retried = api.apply_domains(key="k")
    assert (lost.status, retried.status) == (503, 202)

    listed = run("fault", "list").stdout.splitlines()
    assert listed[1].split()[-5:] == ["yes", "2", "2", "1", "yes"]
    assert run("fault", "remove", "fault-1").exit_code == 0
    run("fault", "add", "--json-fault", '{"timeout": {}, "until": "10m"}')
    assert run("fault", "clear").stderr == "Removed 1 fault.\n"
    assert json.loads(run("fault", "list", "--json").stdout) == []


def test_a_refused_fault_is_one_line_with_advice(run: Run):
    result = run("fault", "add", "abort", "code=rate_limit")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "rate_limited?" in result.stderr
    assert result.stderr.count("\n") == 1


def test_commands_without_an_emulator_print_the_lists_of_the_emulator(run: Run, url: str):
    for line in ("fault kinds", "intervene kinds", "scenario list"):
        local = run(*line.split(), "--json").stdout
        remote = run(*line.split(), "--json", "--url", url).stdout

        assert json.loads(remote) == json.loads(local)


def test_interventions_are_carried_out_by_the_command(run: Run, api: HttpWorld):
    operation = api.initialize().json["id"]

    stuck = run("intervene", "stick_operation", "project=shop")
    assert stuck.stderr.startswith(f"Operation {operation} ")
    assert stuck.stderr.count("\n") == 1
    run("intervene", "set_permissions", "organization=acme", 'permissions=["dns.read"]')
    assert api.create_key().json["key"]["permissions"] == ["dns.read"]
    refused = run("intervene", "stick_operation", "project=shop")
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"Error: operation {operation} ")
    assert refused.stderr.count("\n") == 1


def test_a_scenario_can_be_shown_edited_checked_loaded_and_run(
    run: Run, api: HttpWorld, tmp_path: Path
):
    path = tmp_path / "mine.yaml"
    run("scenario", "show", "stuck-operation", "--output", str(path))
    text = path.read_text(encoding="utf-8")
    assert text == (FOLDER / "stuck-operation.yaml").read_text(encoding="utf-8")

    assert run("scenario", "check", str(path)).exit_code == 0
    assert run("scenario", "load", str(path)).exit_code == 0
    assert run("scenario", "run", str(path)).exit_code == 0
    in_world = run("scenario", "run", "stuck-operation", "--world", api.emulator.name, "--json")
    [report] = json.loads(in_world.stdout)
    assert report["passed"]

    path.write_text(text + "  - cal: list_deployments\n", encoding="utf-8")
    line = len(text.splitlines()) + 1
    for command in ("check", "run"):
        refused = run("scenario", command, str(path))
        assert refused.exit_code == 2
        assert refused.stdout.startswith(f"ERROR {path}:{line}:")
    loaded = run("scenario", "load", str(path))
    assert (loaded.exit_code, loaded.stdout) == (2, "")
    assert f"{path}:{line}:" in loaded.stderr


def test_an_unknown_scenario_gets_a_similar_name_as_a_suggestion(run: Run):
    for command in ("load", "run"):
        result = run("scenario", command, "stuck-operatio")

        assert result.exit_code == 2
        assert "stuck-operation?" in result.output


def test_scenario_check_and_scenario_run_print_the_same_report(run: Run):
    reports = [
        json.loads(run("scenario", command, "lost-response-flag", "--json").stdout)
        for command in ("check", "run")
    ]

    assert [step["passed"] for step in reports[0][0]["steps"]] == [
        step["passed"] for step in reports[1][0]["steps"]
    ]


def test_scenario_schema_prints_the_schema_of_the_emulator(run: Run, url: str):
    assert run("scenario", "schema").stdout == run("scenario", "schema", "--url", url).stdout


# --- Alternatives that contradict the contract ----------------------------------------------------


def test_the_list_of_assumptions_marks_what_contradicts_the_contract(run: Run) -> None:
    text = run("contract", "assumptions").stdout
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}

    marked = {name for name, line in lines.items() if "contradicts the contract" in line}
    assert marked == {
        "last_page_cursor",
        "idempotency_retention",
        "listed_statuses",
    }
    rows = json.loads(run("contract", "assumptions", "--json").stdout)
    assert {row["name"] for row in rows if row["outside_the_letter"]} == marked


def test_creating_a_world_outside_the_contract_prints_a_warning(run: Run) -> None:
    created = run("world", "create", "--assume", "idempotency_retention=24h", "--json")

    assert created.exit_code == 0
    assert "idempotency_retention=24h " in created.stderr
    summary = json.loads(created.stdout)
    assert len(summary["warnings"]) == 1
    run("world", "delete", summary["name"])

    created_within = run("world", "create", "--assume", "accepted_status=200")
    assert "accepted_status" not in created_within.stderr
    run("world", "delete", created_within.stdout.strip())


@pytest.mark.parametrize("command", ["run", "check", "load"])
def test_a_scenario_outside_the_contract_prints_a_warning(
    run: Run, tmp_path: Path, command: str
) -> None:
    path = tmp_path / "outside.yaml"
    path.write_text(
        "name: outside\ndescription: A limit has its own status.\nassumptions: {listed_statuses: open}\n"
    )

    result = run("scenario", command, str(path))

    assert result.exit_code == 0
    assert "listed_statuses=open " in result.stderr
