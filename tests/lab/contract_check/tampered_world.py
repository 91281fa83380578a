"""A world in this process whose requests and responses are tampered with on their way."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import formatdate
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator_lab.contract_check import ALLOWED, CheckOptions, Report, check
from hosting_emulator_lab.contract_check.address import Address
from hosting_emulator_lab.contract_check.response import ServerResponse
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering
from tests.support.in_process import InProcess, Machine, fresh_world

#: How long an exchange takes, in ms of the machine's clock.
_TAKES_MS = 7
_ADDRESS = "http://emulator.example"


class TamperedWorld(InProcess):
    """A world behind a tampering. Time passes with each request and when the check waits."""

    def __init__(self, tampering: Tampering | None = None, world: Any = None) -> None:
        machine = Machine()
        super().__init__(world or fresh_world(mode="real", machine=machine), machine=machine)
        self.tampering = tampering or Tampering()

    def pause(self, seconds: float) -> None:
        self.machine.at_ms += int(seconds * 1000)

    def connect(self, url: str, **_: Any) -> Address:
        return _TamperedAddress(self, urlsplit(url).netloc)

    def serve(self, exchange: Exchange) -> None:
        """Pass the exchange on to the world and back."""
        self.machine.at_ms += _TAKES_MS
        self.tampering.before(exchange)
        host = exchange.request_headers["Host"]
        response = self.send(
            exchange.method,
            exchange.path,
            list(exchange.request_headers.items()),
            exchange.request_body,
            host=host if host.startswith("dev-") else "",
            docs_url=f"{_ADDRESS}/_emulator/docs",
        )
        exchange.status = response.status
        exchange.body = response.body
        date = formatdate(self.machine.at_ms / 1000, usegmt=True)
        exchange.headers = {"Date": date, **response.headers}
        self.tampering.after(exchange)

    def options(self, **overrides: Any) -> CheckOptions:
        defaults: dict[str, Any] = {
            "base_url": _ADDRESS,
            "token": self.token("owner"),
            "maintainer_token": self.token("member"),
            "reader_token": self.token("reader"),
            "outsider_token": self.token("outsider"),
            "no_organization_token": self.token("no-organization"),
            "project_id": self.project_id(),
            "organization_id": self.organization_id(),
            "allow": frozenset(ALLOWED),
            "pause": self.pause,
            "patience_s": 1_000.0,
            "run_id": "test",
            "connect": self.connect,
        }
        return CheckOptions(**{**defaults, **overrides})

    def checked(self, **overrides: Any) -> Report:
        return check(self.options(**overrides))


class _TamperedAddress(Address):
    def __init__(self, served: TamperedWorld, host: str) -> None:
        self._served = served
        self._host = host

    def exchange(
        self, title: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> ServerResponse:
        request_headers = {"Host": self._host, **headers}
        exchange = Exchange(method, path, request_headers, body or b"")
        self._served.serve(exchange)
        if exchange.hangs:
            return ServerResponse(title, broken="no response within 10 s")
        return ServerResponse(
            title, exchange.status, tuple(exchange.headers.items()), exchange.body
        )
