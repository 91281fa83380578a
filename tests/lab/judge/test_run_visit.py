"""The visit of a run reads what the run did from the request logs of its worlds."""

from __future__ import annotations

from hosting_emulator_lab.judge.run_visit import RunVisit
from tests.support.http_world import HttpWorld


def test_a_visit_contains_the_requests_of_its_run_in_the_order_of_their_arrival(
    api: HttpWorld,
) -> None:
    world = api.emulator
    api.deployments()
    visit = RunVisit()
    visit.scope = [world.name]

    visit.begin(world)
    api.ticket()
    api.dns(user="reader")
    visit.end(world)

    assert [(exchange.call, exchange.status) for exchange in visit.exchanges] == [
        ("create_dev_access_ticket", 201),
        ("get_dns_authorization", 200),
    ]
    assert visit.requests_by_world == {world.name: 2}
