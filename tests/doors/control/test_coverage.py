"""An observation counts what its clients exercise of the contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hosting_emulator.sdk import HostingEmulator, WorldsObservation
from tests.support.http_world import HttpWorld


@pytest.fixture
def observation(api: HttpWorld) -> Iterator[WorldsObservation]:
    with api.emulator.control.observe([api.emulator.name]) as observation:
        yield observation


def test_statuses_codes_replays_and_ends_are_counted(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    operation = api.apply_domains(key="one").json
    api.apply_domains(key="one")
    api.apply_domains(key=None)
    api.emulator.clock.until(operation["id"])
    api.poll(operation["id"])

    counted = observation.report().coverage

    domains = counted.calls["apply_project_domains"]
    assert domains.statuses == {"202": 2, "400": 1}
    assert domains.codes == {"invalid_request": 1}
    assert domains.replays == 1
    assert domains.roles == {"owner": 3}
    assert counted.operation_ends == {"succeeded": 1}


def test_the_counts_of_a_replaced_observation_continue(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    control = api.emulator.control
    api.dns()
    with HostingEmulator.fresh(control) as other_world:
        first = control.observe([api.emulator.name, other_world.name], replaces=observation)
        HttpWorld(other_world).dns()
    second = control.observe([api.emulator.name], replaces=first)
    api.dns()

    report = second.report()
    second.close()

    assert report.coverage.calls["get_dns_authorization"].responses == 3
    assert report.requests == 1


def test_a_lost_response_is_not_counted(api: HttpWorld, observation: WorldsObservation) -> None:
    with (
        api.emulator.fault("connection_reset", after_commit=True),
        pytest.raises(ConnectionError),
    ):
        api.dns()

    assert observation.report().coverage.calls == {}
