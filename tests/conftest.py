"""What many tests share: a client that speaks to one world as any of its people.

The server is the plugin's own (`hosting_emulator`): what users get is what the tests run on.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.calls import Calls

#: For the plugin's own tests; only the topmost conftest may name it.
pytest_plugins = ["pytester"]


#: Folders whose files take longest, in the order in which workers shall begin them: what is begun
#: last is short, so that no worker waits long for another.
LONGEST_FIRST = (
    "packaging crash docs plugin browser openapi examples security contract_check hostile".split()
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first."""

    def place(item: pytest.Item) -> int:
        folder = item.nodeid.split("/")[1]
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=place)


@dataclass(frozen=True)
class Response:
    """An answer, read to its end."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Api(Calls[Response]):
    """Calls of one world over real HTTP."""

    def __init__(self, emulator: HostingEmulator) -> None:
        self.emulator = emulator

    def call(  # type: ignore[override]
        self,
        method: str,
        path: str,
        *,
        who: str | None = "owner",
        token: str | None = None,
        key: str | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Response:
        sent = dict(headers or {})
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        elif who is not None:
            sent |= self.emulator.headers(who)
        if key is not None:
            sent["Idempotency-Key"] = key
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(
            self.emulator.base_url + path, data=data, method=method, headers=sent
        )
        try:
            with urllib.request.urlopen(request) as found:
                return Response(found.status, found.headers, found.read())
        except urllib.error.HTTPError as error:
            with error:
                return Response(error.code, error.headers, error.read())

    def project_id(self, alias: str) -> str:
        return self.emulator.projects[alias]

    def organization_id(self, alias: str) -> str:
        return self.emulator.organizations[alias]


@pytest.fixture
def api(hosting_emulator: HostingEmulator) -> Api:
    """Calls of a fresh world whose clock stands still."""
    return Api(hosting_emulator)
