"""`contract` prints the defaults without an emulator, or the values of a chosen emulator."""

import json
from pathlib import Path

import pytest

from hosting_emulator.contract.problems import PROBLEMS
from tests.support.control_samples import ASSUMPTIONS
from tests.support.fake_control import FakeControl


def test_contract_problems_needs_no_emulator(run):
    lines = run("contract", "problems").stdout.splitlines()

    assert lines[0].split() == ["CODE", "STATUS", "RETRYABLE", "FROM", "CONTRACT", "TITLE"]
    assert [line.split()[0] for line in lines[1:]] == list(PROBLEMS)
    missing = next(line for line in lines if line.startswith("resource_not_found"))
    assert missing.split()[1:5] == ["404", "no", "retryable,", "status"]


def test_contract_problems_prints_whole_rows_as_json(run):
    rows = json.loads(run("contract", "problems", "--json").stdout)

    assert len(rows) == 57
    reused = next(row for row in rows if row["code"] == "idempotency_key_reused")
    assert reused["status"] == 409
    assert reused["specified"] == ["retryable", "status", "suggested_action"]
    assert all(row["meaning"] and row["when"] and row["advice"] for row in rows)


def test_contract_assumptions_needs_no_emulator(run):
    result = run("contract", "assumptions")

    assert result.exit_code == 0
    assert result.stdout.startswith("NAME ")
    assert "accepted_status" in result.stdout


def test_contract_openapi_needs_no_emulator(run):
    document = json.loads(run("contract", "openapi").stdout)

    assert document["openapi"].startswith("3.1")


def test_contract_openapi_writes_a_file(run, tmp_path: Path):
    path = tmp_path / "openapi.json"

    result = run("contract", "openapi", "--output", str(path))

    assert (result.stdout, result.stderr) == ("", f"The document was written to {path}.\n")
    assert json.loads(path.read_text(encoding="utf-8"))["openapi"].startswith("3.1")


def test_contract_problems_ignores_the_variable_of_the_address(ask, control: FakeControl):
    assert ask("contract", "problems").exit_code == 0
    assert control.requests == []


@pytest.mark.parametrize("world", ["default", "shop"])
def test_contract_openapi_asks_the_emulator_of_the_option_url(
    run, control: FakeControl, world: str
):
    control.on(f"GET /worlds/{world}/openapi.json", {"openapi": "3.1.0", "of": world})

    result = run("contract", "openapi", "--url", control.url, "--world", world)

    assert json.loads(result.stdout)["of"] == world


def test_contract_problems_asks_the_emulator_of_the_option_url(run, control: FakeControl):
    control.on("GET /contract/problems", {"items": []})

    assert json.loads(run("contract", "problems", "--json", "--url", control.url).stdout) == []


@pytest.mark.parametrize("world", ["default", "shop"])
def test_contract_assumptions_asks_the_world_of_the_options(run, control: FakeControl, world: str):
    control.on(f"GET /worlds/{world}/assumptions", {"items": ASSUMPTIONS})

    result = run("contract", "assumptions", "--url", control.url, "--world", world)

    assert result.stdout.splitlines()[1].split()[:4] == [
        "accepted_status",
        "200",
        "(default:",
        "202)",
    ]
