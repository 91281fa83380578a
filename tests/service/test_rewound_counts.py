"""The counts of faults, outcomes and the rate limit after a rewind, in a fork and in a recording."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ruamel.yaml import YAML

from hosting_emulator.sdk import HostingEmulator
from tests.support.http_world import HttpWorld


def newest(world: HostingEmulator) -> int:
    """Return the newest commit that the history lists."""
    return int(world.history[-1].commit)


def rewound(world: HostingEmulator) -> HostingEmulator:
    world.rewind(newest(world))
    return world


def forked(world: HostingEmulator) -> HostingEmulator:
    return world.fork(commit=newest(world))


def restored(world: HostingEmulator) -> HostingEmulator:
    snapshot = world.snapshot()
    world.intervene("set_credits", organization="acme", credits=7)
    world.restore(snapshot)
    return world


def imported(world: HostingEmulator) -> HostingEmulator:
    world.import_state(world.export(with_seed=True))
    return world


each_way = pytest.mark.parametrize("way", [rewound, forked, restored, imported])
Way = Callable[[HostingEmulator], HostingEmulator]


@each_way
@pytest.mark.parametrize("after_commit", [False, True])
def test_a_used_up_fault_stays_used_up(api: HttpWorld, way: Way, after_commit: bool) -> None:
    api.emulator.fault(
        "abort",
        code="service_unavailable",
        call="get_dns_authorization",
        times=2,
        after_commit=after_commit,
    )
    assert [api.dns().status, api.dns().status] == [503, 503]

    world = way(api.emulator)

    fault = world.faults[0]
    assert (fault.seen, fault.hits, fault.spent) == (2, 2, True)
    assert HttpWorld(world).dns().status == 200


@each_way
def test_a_copied_fault_continues_its_count(api: HttpWorld, way: Way) -> None:
    api.emulator.fault("abort", code="service_unavailable", skip_first=1, every=2)
    statuses = [api.dns().status for _ in range(3)]

    copy = HttpWorld(way(api.emulator))

    statuses += [copy.dns().status for _ in range(3)]
    assert statuses == [200, 200, 503, 200, 503, 200]


@each_way
def test_a_copied_fault_continues_its_random_sequence(api: HttpWorld, way: Way) -> None:
    api.emulator.fault("abort", code="service_unavailable", probability=0.5)
    alone = HttpWorld(api.emulator.fork())
    expected = [alone.dns().status for _ in range(16)]
    assert {200, 503} <= set(expected)

    first = [api.dns().status for _ in range(8)]
    copy = HttpWorld(way(api.emulator))

    assert first + [copy.dns().status for _ in range(8)] == expected


@each_way
def test_a_copied_rate_limit_keeps_its_count(api: HttpWorld, way: Way) -> None:
    api.emulator.set_assumptions({"rate_limit": "3/60s"})
    assert [api.dns().status for _ in range(2)] == [200, 200]

    copy = HttpWorld(way(api.emulator))

    assert [copy.dns().status for _ in range(2)] == [200, 429]


@each_way
def test_an_outcome_stays_used_up(api: HttpWorld, way: Way) -> None:
    api.emulator.outcome("fail", phase="queued", times=1)
    api.apply_domains()
    api.advance("1h")

    world = way(api.emulator)

    assert world.outcomes[0].spent
    operation = HttpWorld(world).apply_domains(key="another").json["id"]
    world.clock.advance("1h")
    assert HttpWorld(world).poll(operation).json["state"] == "succeeded"


def test_an_earlier_commit_has_the_counts_of_its_time(api: HttpWorld) -> None:
    api.emulator.fault("abort", code="service_unavailable", times=1)
    armed = newest(api.emulator)
    assert api.dns().status == 503
    api.set_flag(True)

    api.emulator.rewind(armed)

    assert api.emulator.faults[0].hits == 0
    assert api.dns().status == 503


def test_a_rewind_never_ends_in_the_middle_of_a_request(api: HttpWorld) -> None:
    """A fault that acts after the commit counts later than the commit of its request."""
    api.emulator.fault("abort", code="service_unavailable", times=1, after_commit=True)
    assert api.apply_domains().status == 503
    lost = newest(api.emulator)
    api.set_flag(False)

    api.emulator.rewind(lost)

    assert api.emulator.faults[0].hits == 1
    api.emulator.record()  # it would refuse a world in the middle of a request


# --- recordings ---------------------------------------------------------------------------------------


def recorded_calls(api: HttpWorld) -> list[str]:
    """Return the calls that a recording of the world makes; its story has passed."""
    recording = YAML(typ="safe").load(api.emulator.record().text)
    return [step["call"] for step in recording["story"] if "call" in step]


def counting_fault(world: HostingEmulator) -> None:
    world.fault("latency", delay_ms=0)


def rate_limit(world: HostingEmulator) -> None:
    world.set_assumptions({"rate_limit": "100/60s"})


def nothing(world: HostingEmulator) -> None:
    """Count nothing, for comparison with the others."""


@pytest.mark.parametrize("counting", [nothing, counting_fault, rate_limit])
def test_a_recording_has_the_reads_before_a_change_that_was_rewound(
    api: HttpWorld, counting: Callable[[HostingEmulator], None]
) -> None:
    counting(api.emulator)
    before = newest(api.emulator)
    assert api.dns().status == 200
    assert api.deployments().status == 200
    assert api.set_flag(False).status == 200
    assert api.compute().status == 200

    api.emulator.rewind(before)
    assert api.dns().status == 200

    assert recorded_calls(api) == [
        "get_dns_authorization",
        "list_deployments",
        "get_dns_authorization",
    ]


def test_a_recording_leaves_out_what_it_cannot_repeat_and_says_so(api: HttpWorld) -> None:
    """The fault acts on the same request twice, because the first time was rewound."""
    api.emulator.fault("abort", code="service_unavailable", times=1, call="get_dns_authorization")
    before = newest(api.emulator)
    assert api.dns().status == 503
    api.set_flag(False)
    api.emulator.rewind(before)
    assert api.dns().status == 503

    recording = api.emulator.record()

    assert recording.text.count("call: get_dns_authorization") == 2  # the fault's, and the read
    assert any("rewound" in sentence for sentence in recording.left_out)
