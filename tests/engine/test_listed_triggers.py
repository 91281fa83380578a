"""Faults, outcomes and timeline entries are listed in their order, with their counts."""

from __future__ import annotations

import pytest

from hosting_emulator.engine.triggers import triggers_of
from tests.support.in_process import InProcess


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
