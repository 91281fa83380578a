"""A replay recognizes the calls of the contract by method and path."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import CallTable
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.replay.har_archive import call_of

ULID = "01JGFJJZ00TGEYDG0VT5J9EZXF"


def address(path: str) -> str:
    for name in ("project_id", "organization_id", "operation_id"):
        path = path.replace(f"{{{name}}}", ULID)
    return path


def test_a_replay_recognizes_every_call_of_the_contract():
    specs = CallTable(DEFAULTS).specs

    assert {spec.call_id for spec in specs} == ALL_CALLS.keys()
    assert [call_of(spec.method, address(spec.path) + "?a=b") for spec in specs] == [
        spec.call_id for spec in specs
    ]


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("DELETE", f"/v1/projects/{ULID}/domains"),
        ("GET", f"/v1/projects/{ULID}"),
        ("GET", f"/v1/projects/{ULID}/deployments/more"),
        ("GET", f"/v1/projects/{ULID}/a/deployments"),
        ("POST", f"/v1/operations/{ULID}"),
        ("GET", "/v1/operations/"),
    ],
)
def test_a_replay_recognizes_no_call_outside_the_contract(method: str, target: str):
    assert call_of(method, target) is None


def test_a_replay_recognizes_a_poll_below_its_project():
    assert call_of("GET", f"/v1/projects/{ULID}/operations/{ULID}") == "get_operation"


def test_a_replay_recognizes_a_call_with_an_escaped_colon():
    assert (
        call_of("POST", f"/v1/projects/{ULID}/source%3Ainitialize") == "initialize_managed_source"
    )
