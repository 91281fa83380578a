"""Requests per second of each call, next to a bare aiohttp handler that returns the same bytes.

Emulator and yardstick take turns, round after round, so that a machine that slows down slows both.
Before each turn the world is reset: every turn begins with the same state.
"""

from __future__ import annotations

import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.client import ControlClient
from tests.benchmarks.load import KEY_HEADER, Request, rate
from tests.benchmarks.report import Figure
from tests.benchmarks.servers import bare, cores, emulator

#: The bars: a share of what the bare handler reaches.
BARS = {"list_deployments": 0.5, "set_project_powered_by_flag": 0.3}
_ABOUT = {
    "list_deployments": "list_deployments (20 items, JWT)",
    "set_project_powered_by_flag": "set_project_powered_by_flag (fresh key)",
    "initialize_managed_source": "initialize_managed_source (fresh key)",
    "create_user_api_key": "create_user_api_key (fresh key)",
    "apply_project_domains": "apply_project_domains (fresh key)",
}


class Contest:
    """One call, asked of the emulator and of the bare handler in turn."""

    def __init__(self, call: str, request: Request, port: int, bare_port: int) -> None:
        self.call = call
        self._request = request
        self._port = port
        self._bare_port = bare_port
        self._ours: list[float] = []
        self._theirs: list[float] = []

    def round(self, number: int, seconds: float, control: ControlClient) -> None:
        """Measure both once more."""
        request, core = self._request, cores()[1]
        if request.fresh is not None:
            request = replace(request, fresh=f"{request.fresh}{number}-")
        self._theirs.append(rate(self._bare_port, request, seconds, core))
        control.reset("default")
        self._ours.append(rate(self._port, request, seconds, core))

    def figure(self) -> Figure:
        """Return the medians, and the median of the rounds' ratios."""
        ratios = [ours / theirs for ours, theirs in zip(self._ours, self._theirs, strict=True)]
        return Figure(
            what=_ABOUT.get(self.call, self.call),
            ours=f"{median(self._ours):,.0f}/s",
            theirs=f"{median(self._theirs):,.0f}/s bare",
            ratio=median(ratios),
            bar=BARS.get(self.call),
        )


def measure(rounds: int, seconds: float, only: str = "") -> list[Figure]:
    """Return a figure for each call (those whose name holds `only`)."""
    core = cores()[0]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ready = stack.enter_context(emulator(Path(folder), core))
        port = urlsplit(ready["base_url"]).port
        assert port is not None
        contests = []
        for call, request in _requests(ready):
            if only not in call:
                continue
            path = request.path.partition("?")[0]
            order = {"method": request.method, "path": path, **_answer(ready, request)}
            bare_port = stack.enter_context(bare(order, core))
            contests.append(Contest(call, request, port, bare_port))
        with ControlClient(ready["control_url"]) as control:
            for number in range(rounds):
                for contest in contests:
                    contest.round(number, seconds, control)
    return [contest.figure() for contest in contests]


def _requests(ready: dict[str, Any]) -> Iterator[tuple[str, Request]]:
    token = {"Authorization": f"Bearer {ready['token']}"}
    json = token | {"Content-Type": "application/json"}
    project = f"/v1/projects/{ready['project_id']}"
    organization = f"/v1/organizations/{ready['organization_id']}"
    yield "list_deployments", Request("GET", f"{project}/deployments", token)
    yield (
        "set_project_powered_by_flag",
        Request("PUT", f"{project}/powered-by-flag", json, '{"enabled":true}', fresh="flag-"),
    )
    yield (
        "initialize_managed_source",
        Request(
            "POST",
            f"{project}/source:initialize",
            json,
            '{"expected_source_generation":1}',
            fresh="source-",
        ),
    )
    yield (
        "create_user_api_key",
        Request("POST", f"{organization}/user-api-keys", json, '{"name":"ci"}', fresh="key-"),
    )
    yield "apply_project_domains", Request("PUT", f"{project}/domains", token, fresh="domains-")
    yield "get_dns_authorization", Request("GET", f"{project}/edge-dns", token)
    yield "create_dev_access_ticket", Request("POST", f"{project}/dev-access-tickets", token)
    yield (
        "read_database_compute",
        Request("GET", f"{project}/database/compute?environment=prod", token),
    )
    yield "get_operation (a finished one)", Request("GET", _finished_operation(ready), token)


def _finished_operation(ready: dict[str, Any]) -> str:
    with ControlClient(ready["control_url"]) as control:
        operations = control.export_state("default")["tables"]["operations"]
    own = (key for key, row in operations.items() if row["project_id"] == ready["project_id"])
    return f"/v1/operations/{min(own)}"


def _answer(ready: dict[str, Any], request: Request) -> dict[str, Any]:
    """Ask once, so that the bare handler can return the very same bytes."""
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
