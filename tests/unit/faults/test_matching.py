"""What a fault matches: all that it names, and everything where it names nothing."""

from typing import Any

import pytest

from tests.unit.faults.conftest import Desk


def test_fault_that_names_nothing_matches_everything(desk: Desk):
    desk.arm(timeout={})

    assert desk.acts()
    assert desk.acts(call="get_operation", project=None, who="outsider", method="GET", path="/v1/x")


@pytest.mark.parametrize(
    ("rule", "hit", "miss"),
    [
        ({"call": "list_deployments"}, {}, {"call": "read_database_compute"}),
        ({"project": "shop"}, {}, {"project": "blog"}),
        ({"project": "shop"}, {}, {"project": None}),
        ({"principal": "owner"}, {}, {"who": "reader"}),
        ({"method": "PUT"}, {"method": "PUT"}, {"method": "GET"}),
        ({"path": "/v1/projects/*/domains"}, {"path": "/v1/projects/1/domains"}, {"path": "/v1/x"}),
        ({"path": "/v1/x"}, {"path": "/v1/x"}, {"path": "/v1/x/y"}),
        ({"path": "/v1/*"}, {"path": "/v1/a/b/c"}, {"path": "/v2/a"}),
        ({"path": "/v1/A"}, {"path": "/v1/A"}, {"path": "/v1/a"}),
    ],
)
def test_each_match_alone(
    desk: Desk, rule: dict[str, Any], hit: dict[str, Any], miss: dict[str, Any]
):
    fault = desk.arm(timeout={}, **rule)

    assert desk.acts(**hit)
    assert not desk.acts(**miss)
    assert (desk.fault(fault).seen, desk.fault(fault).hits) == (1, 1)


@pytest.mark.parametrize(
    ("pattern", "sent", "matches"),
    [
        ("1", {"X-Try": ["1"]}, True),
        ("1", {"X-Try": ["12"]}, False),
        ("curl/*", {"X-Try": ["curl/8.0"]}, True),
        ("*", {"X-Try": [""]}, True),
        ("*", {}, False),
        ("b", {"X-Try": ["a", "b"]}, True),
        ("b", {"Other": ["b"]}, False),
    ],
)
def test_header_matches_by_any_of_its_values(
    desk: Desk, pattern: str, sent: dict[str, list[str]], matches: bool
):
    desk.arm(timeout={}, header={"X-Try": pattern})

    assert desk.acts(headers=sent) is matches


def test_all_matches_must_hold(desk: Desk):
    desk.arm(timeout={}, call="list_deployments", project="shop", header={"A": "1", "B": "2"})

    assert desk.acts(headers={"A": ["1"], "B": ["2"]})
    assert not desk.acts(headers={"A": ["1"], "B": ["3"]})
    assert not desk.acts(headers={"A": ["1"]})
    assert not desk.acts(headers={"A": ["1"], "B": ["2"]}, project="blog")


def test_project_and_principal_may_be_given_by_id(desk: Desk):
    desk.arm(timeout={}, project=desk.project("blog"), principal=desk.person("reader"))

    assert desk.acts(project="blog", who="reader")
    assert not desk.acts(project="blog", who="owner")


def test_phases_are_apart(desk: Desk):
    before = desk.arm(connection_reset={})
    after = desk.arm(timeout={}, phase="after_commit")

    assert [fault.id for fault in desk.ask(phase="before_commit").acted] == [before]
    assert [fault.id for fault in desk.ask(phase="after_commit").acted] == [after]
    assert (desk.fault(before).seen, desk.fault(after).seen) == (1, 1)
