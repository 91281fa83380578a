"""A fault is shown as it was written, and what is there is described."""

import pytest

from hosting_emulator.faults.documents import RULE_FIELDS, describe_kinds
from hosting_emulator.faults.kinds import fault_kinds
from tests.unit.faults.conftest import Desk


def test_view_reads_as_it_was_written(desk: Desk):
    fault = desk.arm(
        abort={"code": "rate_limited", "retry_after_seconds": 5},
        call="apply_project_domains",
        project=desk.project("shop"),
        principal="member",
        method="PUT",
        path="/v1/*",
        header={"X": "1"},
        times=2,
        skip_first=1,
        every=3,
        probability=0.5,
        from_="1m",
        until="2m",
        phase="after_commit",
    )

    assert desk.view(fault) == {
        "id": "fault-1",
        "order": 0,
        "abort": {"code": "rate_limited", "retry_after_seconds": 5},
        "call": "apply_project_domains",
        "project": "shop",
        "principal": "member",
        "method": "PUT",
        "path": "/v1/*",
        "header": {"X": "1"},
        "times": 2,
        "skip_first": 1,
        "every": 3,
        "probability": 0.5,
        "from": "2026-03-01T12:01:00.000Z",
        "until": "2026-03-01T12:02:00.000Z",
        "phase": "after_commit",
        "armed_at": "2026-03-01T12:00:00.000Z",
        "seen": 0,
        "hits": 0,
        "spent": False,
    }


def test_view_leaves_out_what_was_not_said(desk: Desk):
    assert desk.view(desk.arm(timeout={})).keys() == {
        *("id", "order", "timeout", "phase", "armed_at", "seen", "hits", "spent")
    }


@pytest.mark.parametrize("kind", fault_kinds())
def test_view_can_be_armed_again(desk: Desk, kind: str):
    first = desk.view(desk.arm(**{kind: dict(fault_kinds()[kind].example)}))

    again = desk.view(desk.arm(**{kind: first[kind]}))

    assert again[kind] == first[kind]


def test_every_kind_has_an_example_of_known_options():
    for kind in describe_kinds()["effects"]:
        assert kind["about"]
        assert set(kind["example"]) <= set(kind["options"])


def test_every_field_of_a_rule_is_described():
    found = describe_kinds()

    assert all([*found["matches"].values(), *found["conditions"].values()])
    assert [*found["matches"], *found["conditions"]] == list(RULE_FIELDS)
