"""The counts of a process: exchanges by call and status, lost responses, replays and commits."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hosting_emulator.engine.tally import Tally
from tests.support.in_process import InProcess


def test_exchanges_are_counted_by_call_and_status() -> None:
    api = InProcess()
    api.dns()
    api.dns()
    api.dns(user="outsider")
    api.send("GET", "/nowhere")
    api.add_fault(connection_reset={}, after_commit=True, call="apply_project_domains", times=1)
    api.apply_domains(key="a")
    api.apply_domains(key="a")

    tally = api.engine.tally
    requests = {key: count.requests for key, count in tally.exchanges.items()}
    assert requests == {
        ("get_dns_authorization", 200): 2,
        ("get_dns_authorization", 404): 1,
        ("", 404): 1,
        ("apply_project_domains", 0): 1,
        ("apply_project_domains", 202): 1,
    }
    assert tally.lost == {"connection_reset": 1}
    assert tally.replays == 1
    assert tally.commits == api.world.commit - 1
    for count in tally.exchanges.values():
        assert sum(count.buckets) == count.requests


@pytest.mark.parametrize(
    ("took_ns", "bucket"),
    [(0, 0), (10_000, 0), (10_001, 1), (1_000_000, 5), (100_000_000, 7), (100_000_001, 8)],
)
def test_the_time_of_an_exchange_is_counted_up_to_the_bound_of_its_bucket(
    took_ns: int, bucket: int
) -> None:
    api = InProcess()
    api.dns()
    tally = Tally()

    tally.add(api.world, replace(api.engine.log.newest(1)[0], took_ns=took_ns))

    count = tally.exchanges["get_dns_authorization", 200]
    assert (count.requests, count.took_ns) == (1, took_ns)
    assert [index for index, number in enumerate(count.buckets) if number] == [bucket]
