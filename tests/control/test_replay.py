"""A logged request is sent again while other requests arrive."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.control import resend
from tests.support.in_process import InProcess


async def test_a_replay_shows_its_own_exchange_although_others_came_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
):
    api = InProcess()
    api.dns()
    api.add_fault(latency={"delay_ms": 5}, after_commit=True)

    async def meanwhile(*_: Any) -> None:
        api.deployments()

    monkeypatch.setattr(resend, "wait_for", meanwhile)
    site = SimpleNamespace(tls_port=None, docs_url=lambda _: "http://docs.example")
    context: Any = SimpleNamespace(base_url="http://x.example", site=site, request=None)

    exchange = await resend.resend_request(context, api.engine, "1", resend.Resend())

    assert (exchange.n, exchange.call) == (2, "get_dns_authorization")
