"""Faults, outcomes and timeline entries are listed in their order, with their counts."""

from __future__ import annotations

import pytest

from hosting_emulator.engine.triggers import triggers_of
from tests.support.in_process import InProcess
from tests.support.stories import scenario_world


@pytest.fixture
def api() -> InProcess:
    return InProcess()


def test_triggers_are_listed_by_category_and_then_in_the_order_in_which_they_were_armed(
    api: InProcess,
):
    for _ in range(2):
        api.add_fault(timeout={}, call="list_deployments", optional=True)
        api.add_outcome(fail={}, call="apply_project_domains")

    listed = [(trigger.id, trigger.type, trigger.optional) for trigger in triggers_of(api.engine)]

    assert listed == [
        ("fault-1", "fault", True),
        ("fault-2", "fault", True),
        ("outcome-1", "outcome", False),
        ("outcome-2", "outcome", False),
    ]


@pytest.mark.parametrize(
    ("options", "effect"),
    [
        ({}, "connection_reset"),
        ({"after_commit": True}, "connection_reset after commit"),
    ],
)
def test_the_effect_of_a_fault_says_whether_it_acts_after_the_commit(
    api: InProcess, options: dict[str, bool], effect: str
):
    api.add_fault(connection_reset={}, call="apply_project_domains", **options)

    (trigger,) = triggers_of(api.engine)

    assert (trigger.kind, trigger.effect) == ("connection_reset", effect)


def test_a_trigger_counts_the_requests_that_it_considered_matched_and_affected(api: InProcess):
    api.add_fault(abort={"code": "rate_limited"}, call="get_dns_authorization", every=2, times=1)
    api.deployments()
    for _ in range(3):
        api.dns()

    (trigger,) = triggers_of(api.engine)

    assert (trigger.considered, trigger.seen, trigger.hits) == (4, 3, 1)
    assert (trigger.spent, trigger.unused, trigger.result) == (True, None, None)


def test_a_fault_on_handshakes_waits_for_a_handshake(api: InProcess):
    api.add_fault(bad_certificate={"reason": "expired"})

    (trigger,) = triggers_of(api.engine)

    assert trigger.waits_for == "a TLS handshake"
    assert trigger.unused == "there was no TLS handshake while the fault was armed"


def test_a_removed_rule_keeps_its_place_among_those_of_its_category(api: InProcess):
    api.add_fault(timeout={}, call="list_deployments")
    api.add_outcome(fail={})
    api.add_fault(latency={"delay_ms": 1}, call="list_deployments")
    api.disarm("fault-1")
    api.disarm("outcome-1")

    listed = api.listed_rules(with_removed=True)

    assert [trigger.id for trigger in listed] == ["fault-1", "fault-2", "outcome-1"]
    assert [trigger.id for trigger in api.listed_rules(with_removed=False)] == ["fault-2"]
    assert (listed[0].spent, listed[0].waits_for) == (True, None)
    assert str(listed[0].unused).startswith("fault-1 was removed before it acted; ")


@pytest.mark.parametrize(
    ("after", "waits_for"),
    [
        ("after_calls: 1", "1 more successful call"),
        ("after_calls: 2", "2 more successful calls"),
        ("after_calls: 2, call: list_deployments", "2 more successful calls of list_deployments"),
    ],
)
def test_a_timeline_entry_says_for_how_many_calls_it_waits(after: str, waits_for: str):
    world = scenario_world(
        f"""
        world: {{extends: default}}
        timeline:
          - {{{after}, intervene: {{set_plan: {{organization: acme, plan: free}}}}}}
        """
    )

    (trigger,) = triggers_of(InProcess(world).engine)

    assert trigger.waits_for == waits_for
    assert trigger.unused == f"the entry is waiting for {waits_for}"
