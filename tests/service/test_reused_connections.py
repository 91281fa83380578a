"""Faults that only a new or only a reused connection meets, as clients see it at their sockets."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.support.checked_world import CheckedWorld
from tests.support.connection_outcomes import SocketClient
from tests.support.dev_origins import issue
from tests.support.http_world import HttpWorld
from tests.support.judged_world import JudgedWorld
from tests.support.wire import wire

# --- Over HTTP -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "statuses"), [("new", [503, 200, 200]), ("reused", [200, 503, 503])]
)
def test_a_fault_matches_by_the_use_of_the_connection(
    hosting_emulator: HostingEmulator, use: Any, statuses: list[int]
):
    client = SocketClient(HttpWorld(hosting_emulator))
    hosting_emulator.fault("abort", code="service_unavailable", connection=use)

    with wire(hosting_emulator.base_url) as connection:
        path = client.api.project_path("edge-dns")
        outcomes = [client.send_on(connection, "GET", path) for _ in range(3)]

    assert [outcome.response.status for outcome in outcomes] == statuses


def test_a_request_to_the_control_api_makes_its_connection_a_reused_one(
    hosting_emulator: HostingEmulator,
):
    client = SocketClient(HttpWorld(hosting_emulator))
    hosting_emulator.fault("abort", code="service_unavailable", connection="reused")

    with wire(hosting_emulator.base_url) as connection:
        client.send_on(connection, "GET", "/_emulator/health")
        outcome = client.send_on(connection, "GET", client.api.project_path("edge-dns"))

    assert outcome.response.status == 503


def test_a_redemption_matches_by_the_use_of_its_connection(api: CheckedWorld):
    api.emulator.fault(
        "abort", code="service_unavailable", call="redeem_ticket", connection="reused"
    )

    statuses = []
    with wire(api.emulator.base_url.partition("/worlds/")[0]) as connection:
        for _ in range(2):
            url = urlsplit(issue(api)["redeem_url"])
            connection.host = url.netloc
            connection.send_request("GET", f"{url.path}?{url.query}")
            statuses.append(connection.read_response("GET").status)

    assert statuses == [303, 503]


def test_a_second_delivery_has_the_connection_of_its_request(hosting_emulator: HostingEmulator):
    client = SocketClient(HttpWorld(hosting_emulator))
    hosting_emulator.fault("deliver_twice", response="second")
    fault = hosting_emulator.fault("abort", code="service_unavailable", connection="reused")

    with wire(hosting_emulator.base_url) as connection:
        path = client.api.project_path("edge-dns")
        outcomes = [client.send_on(connection, "GET", path) for _ in range(2)]

    assert [outcome.response.status for outcome in outcomes] == [200, 503]
    assert (fault.seen, fault.hits) == (1, 1)


def test_an_unused_fault_names_the_use_of_the_nearest_connection(hosting_emulator: HostingEmulator):
    fault = hosting_emulator.fault("timeout", connection="reused", optional=True)

    with wire(hosting_emulator.base_url) as connection:
        client = SocketClient(HttpWorld(hosting_emulator))
        client.send_on(connection, "GET", client.api.project_path("edge-dns"))

    assert "connection (new instead of reused)" in str(fault.unused)


# --- Conduct -----------------------------------------------------------------------------------------


def test_conduct_does_not_blame_a_client_that_retries_at_once_on_a_new_connection():
    client = JudgedWorld()
    client.fault(connection_reset={}, connection="reused", times=1)
    client.dns()

    assert client.set_flag(False, key="k").status == 0
    assert client.set_flag(False, key="k").status == 200

    assert client.broken_rules(final=True) == []
