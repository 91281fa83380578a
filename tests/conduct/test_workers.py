"""A pool of workers is recognized by a connection that is used again after another one was used."""

from __future__ import annotations

import pytest

from hosting_emulator.conduct.exchange_view import ConnectionUse, ExchangeView
from hosting_emulator.conduct.judges.workers import Workers
from tests.support.judged_world import JudgedWorld


def worker_counts(client: JudgedWorld) -> list[int]:
    """Return the estimate after each request in the log."""
    workers = Workers()
    uses: dict[object, ConnectionUse] = {}
    counts = []
    for entry in client.engine.log.after(0):
        use = uses.setdefault(entry.connection, ConnectionUse(entry.connection))
        counts.append(workers.count(ExchangeView(entry, use)))
    return counts


@pytest.mark.parametrize(
    ("connections", "counts"),
    [
        ([1, 1, 1], [1, 1, 1]),
        ([1, 2, 3, 3], [1, 1, 1, 1]),
        ([1, 2, 1], [1, 1, 2]),
        ([1, 2, 1, 2, 1, 2], [1, 1, 2, 2, 2, 2]),
        ([1, 2, 3, 1], [1, 1, 1, 3]),
        ([1, 2, 1, 3, 1], [1, 1, 2, 2, 3]),
    ],
)
def test_a_pool_has_a_worker_for_each_open_connection(
    connections: list[int], counts: list[int]
) -> None:
    client = JudgedWorld()
    for connection in connections:
        client.connection = connection
        client.dns()
        client.pass_time(1)

    assert worker_counts(client) == counts


def test_a_closed_connection_belongs_to_no_worker() -> None:
    client = JudgedWorld()
    for _ in range(3):
        client.dns()
        client.change_connection()
        client.pass_time(1)
    for connection in (10, 11, 10):
        client.connection = connection
        client.dns()
        client.pass_time(1)

    assert worker_counts(client) == [1, 1, 1, 1, 1, 2]


def test_workers_with_different_credentials_share_no_pool() -> None:
    client = JudgedWorld()
    for connection, user in [(1, "owner"), (2, "reader"), (1, "owner"), (2, "reader")]:
        client.connection = connection
        client.dns(user=user)

    assert worker_counts(client) == [1, 1, 1, 1]
