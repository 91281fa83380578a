"""A path that no call has suggests the path that the client probably meant."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import CallTable
from hosting_emulator.contract.nearest_path import nearest_call

ID = "01J00000000000000000000000"


@pytest.mark.parametrize(
    ("path", "call"),
    [
        (f"/v1/projects/{ID}/edge-dsn", "get_dns_authorization"),
        (f"/v1/projects/{ID}/dns", "get_dns_authorization"),
        (f"/v1/projects/{ID}/edge-dns/", "get_dns_authorization"),
        (f"/projects/{ID}/edge-dns", "get_dns_authorization"),
        (f"/v2/projects/{ID}/edge-dns", "get_dns_authorization"),
        (f"/v1/v1/projects/{ID}/edge-dns", "get_dns_authorization"),
        (f"/v1/project/{ID}/deployments", "list_deployments"),
        ("/v1/deployments", "list_deployments"),
        ("/v1/projects/shop/powered_by_flag", "set_project_powered_by_flag"),
        (f"/v1/projects/{ID}/flag", "set_project_powered_by_flag"),
        (f"/v1/projects/{ID}/source/initialize", "initialize_managed_source"),
        (f"/v1/projects/{ID}/tickets", "create_dev_access_ticket"),
        (f"/v1/projects/{ID}/database", "read_database_compute"),
        (f"/v1/organizations/{ID}/api-keys", "create_user_api_key"),
        (f"/v1/operation/{ID}", "get_operation"),
    ],
)
def test_a_misspelled_path_suggests_the_call(path: str, call: str):
    nearest = nearest_call(path, CallTable())

    assert nearest is not None
    assert nearest.call_id == call


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/projects", f"/v1/projects/{ID}/members", "/" * 300]
)
def test_another_path_suggests_nothing(path: str):
    assert nearest_call(path, CallTable()) is None


@pytest.mark.parametrize(
    ("operation_path", "path"),
    [
        (
            "/v1/projects/{project_id}/operations/{operation_id}",
            f"/v1/projects/{ID}/operation/{ID}",
        ),
        ("/v1/{operation_id}:poll", None),
    ],
)
def test_an_assumed_path_of_operations_can_be_suggested(operation_path: str, path: str | None):
    calls = CallTable(Assumptions(operation_path=operation_path))

    assert nearest_call("/v1/nothing", calls) is None
    if path is not None:
        nearest = nearest_call(path, calls)
        assert nearest is not None
        assert nearest.call_id == "get_operation"
