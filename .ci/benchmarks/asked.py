"""The requests that the benchmark sends to a running emulator: the eight calls and the poll."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from typing import Any

from benchmarks.load import KEY_HEADER, Request
from hosting_emulator.sdk import ControlClient

FLAG = "set_project_powered_by_flag"


def requests(ready: dict[str, Any]) -> Iterator[tuple[str, Request]]:
    """Yield each call with its request, in the contract's order, and the poll at the end."""
    token = {"Authorization": f"Bearer {ready['token']}"}
    json = token | {"Content-Type": "application/json"}
    project = f"/v1/projects/{ready['project_id']}"
    keys = f"/v1/organizations/{ready['organization_id']}/user-api-keys"
    flag, source = '{"enabled":true}', '{"expected_source_generation":1}'
    yield FLAG, Request("PUT", f"{project}/powered-by-flag", json, flag, fresh="flag-")
    yield (
        "initialize_managed_source",
        Request("POST", f"{project}/source:initialize", json, source, fresh="source-"),
    )
    yield "create_user_api_key", Request("POST", keys, json, '{"name":"ci"}', fresh="key-")
    yield "apply_project_domains", Request("PUT", f"{project}/domains", token, fresh="domains-")
    yield "get_dns_authorization", Request("GET", f"{project}/edge-dns", token)
    yield "list_deployments", Request("GET", f"{project}/deployments", token)
    yield "create_dev_access_ticket", Request("POST", f"{project}/dev-access-tickets", token)
    compute = f"{project}/database/compute?environment=prod"
    yield "read_database_compute", Request("GET", compute, token)
    yield "get_operation", Request("GET", _finished_operation(ready), token)


def _finished_operation(ready: dict[str, Any]) -> str:
    with ControlClient(ready["control_url"]) as control:
        operations = control.world("default").export()["tables"]["operations"]
    own = (key for key, row in operations.items() if row["project_id"] == ready["project_id"])
    return f"/v1/operations/{min(own)}"


def answer(ready: dict[str, Any], request: Request) -> dict[str, Any]:
    """Send a request once and return the response, so that a bare handler can return the same bytes."""
    headers = dict(request.headers)
    if request.fresh is not None:
        headers[KEY_HEADER] = f"{request.fresh}first"
    data = None if request.body is None else request.body.encode()
    asked = urllib.request.Request(
        ready["base_url"] + request.path, data, headers, method=request.method
    )
    with urllib.request.urlopen(asked) as found:
        content_type = found.headers["Content-Type"]
        return {"status": found.status, "content_type": content_type, "body": found.read().decode()}
