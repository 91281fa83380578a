"""Deployments fail after they were ready, are superseded or disappear, also while a client pages."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.checked_world import WAYS_TO_CONTINUE, CheckedWorld, continue_world

ORDERS = ("newest_first", "oldest_first")


def listed(api: CheckedWorld, query: str = "?limit=100") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.deployments(query, project="blog").json["items"]
    return items


def ids(api: CheckedWorld) -> list[str]:
    return [item["id"] for item in listed(api)]


def pages(api: CheckedWorld, limit: int, cursor: str | None = None) -> list[list[str]]:
    """Read all pages from a cursor on, and return the ids of each."""
    found = []
    while True:
        query = f"?limit={limit}" + (f"&cursor={cursor}" if cursor else "")
        page = api.deployments(query, project="blog").json
        found.append([item["id"] for item in page["items"]])
        cursor = page.get("next_cursor")
        if cursor is None:
            return found


# --- removed --------------------------------------------------------------------------------------


def test_a_removed_deployment_is_in_no_page(api: CheckedWorld) -> None:
    before = ids(api)

    api.intervene("remove_deployments", project="blog", deployment=before[4])
    api.intervene("remove_deployments", project="blog", count=2)

    assert ids(api) == [*before[:4], *before[5:-2]]
    assert api.emulator.summary.counts["deployments"] == 45 + 9 + 21 + 7 + 3
    assert api.emulator.projects["blog"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("limit", [1, 3, 5])
def test_pages_stay_full_and_have_no_empty_end(api: CheckedWorld, order: str, limit: int) -> None:
    api.assume(deployment_order=order)
    before = ids(api)
    removed = {before[0], before[3], before[4], before[-1]}
    for deployment in removed:
        api.intervene("remove_deployments", project="blog", deployment=deployment)
    expected = [id_ for id_ in before if id_ not in removed]

    read = pages(api, limit)

    assert [len(page) for page in read[:-1]] == [limit] * (len(read) - 1)
    assert read[-1]
    assert [id_ for page in read for id_ in page] == expected


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("victim", range(12))
def test_a_client_that_pages_sees_every_other_deployment_once(
    api: CheckedWorld, order: str, victim: int
) -> None:
    api.assume(deployment_order=order)
    before = ids(api)
    first = api.deployments("?limit=4", project="blog").json
    api.intervene("remove_deployments", project="blog", deployment=before[victim])

    rest = [id_ for page in pages(api, 4, first["next_cursor"]) for id_ in page]

    read = [item["id"] for item in first["items"]] + rest
    assert read == [id_ for index, id_ in enumerate(before) if index < 4 or index != victim]


@pytest.mark.parametrize("order", ORDERS)
def test_the_cursor_of_a_removed_rest_leads_to_an_empty_last_page(
    api: CheckedWorld, order: str
) -> None:
    api.assume(deployment_order=order)
    before = ids(api)
    cursor = api.deployments("?limit=4", project="blog").json["next_cursor"]
    for deployment in before[4:]:
        api.intervene("remove_deployments", project="blog", deployment=deployment)

    page = api.deployments(f"?limit=4&cursor={cursor}", project="blog").json

    assert page["items"] == []
    assert page.get("next_cursor") is None
    assert ids(api) == before[:4]


@pytest.mark.parametrize("way", WAYS_TO_CONTINUE)
def test_removed_deployments_stay_removed(api: CheckedWorld, way: str) -> None:
    before = ids(api)
    api.intervene("remove_deployments", project="blog", count=3)

    api = continue_world(
        api, way, lambda: api.intervene("remove_deployments", project="blog", count=2)
    )

    assert ids(api) == before[:-3]
    assert [len(page) for page in pages(api, 4)] == [4, 4, 1]


def test_a_new_deployment_is_listed_beside_removed_ones(api: CheckedWorld) -> None:
    before = ids(api)
    api.intervene("remove_deployments", project="blog", deployment=before[0])

    operation = api.initialize(1, project="blog").json

    assert ids(api) == [operation["deployment_id"], *before[1:]]


# --- failed after ready, superseded ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "status"),
    [("fail_ready_deployment", "failed"), ("supersede_deployment", "superseded")],
)
def test_a_ready_deployment_changes_after_its_operation_succeeded(
    api: CheckedWorld, word: str, status: str
) -> None:
    operation = api.initialize(1, project="blog").json
    api.finish(operation["id"])
    api.advance("1m")

    message = api.intervene(word, project="blog", deployment=operation["deployment_id"])

    newest = listed(api)[0]
    assert (newest["id"], newest["status"]) == (operation["deployment_id"], status)
    assert newest["updated_at"] == api.timestamp()
    assert "url" not in newest
    assert api.poll(operation["id"]).json["state"] == "succeeded"
    assert "in the list of deployments" in message


def test_without_an_id_the_latest_ready_deployment_fails(api: CheckedWorld) -> None:
    ready = [item["id"] for item in listed(api) if item["status"] == "ready"]

    api.intervene("fail_ready_deployment", project="blog")
    api.intervene("fail_ready_deployment", project="blog")

    statuses = {item["id"]: item["status"] for item in listed(api)}
    assert [statuses[id_] for id_ in ready[:3]] == ["failed", "failed", "ready"]


def test_a_condition_on_deployments_sees_these_changes(api: CheckedWorld) -> None:
    fault = api.emulator.fault(
        "abort", code="forbidden", call="get_dns_authorization", while_={"deployed": False}
    )
    for item in listed(api):
        if item["status"] == "ready":
            assert api.dns(project="blog").status == 200
            api.intervene("remove_deployments", project="blog", deployment=item["id"])

    assert api.dns(project="blog").status == 403
    assert fault.hits == 1


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "fields", "reason"),
    [
        ("remove_deployments", {"count": 13}, "12 deployments that can be removed"),
        ("remove_deployments", {"deployment": "01", "count": 2}, "not both"),
        ("remove_deployments", {"deployment": "01"}, "blog has no deployment '01'"),
        ("fail_ready_deployment", {"deployment": "01"}, "blog has no deployment '01'"),
        ("supersede_deployment", {"project": "labs"}, "labs has no ready deployment"),
    ],
)
def test_a_change_of_no_deployment_is_refused(
    hosting_emulator: HostingEmulator, word: str, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ControlRefused, match=reason):
        hosting_emulator.intervene(word, **{"project": "blog", **fields})


def test_a_deployment_that_has_not_ended_cannot_be_removed_or_superseded(
    api: CheckedWorld,
) -> None:
    deployment = api.initialize(1, project="blog").json["deployment_id"]

    for word in ("remove_deployments", "supersede_deployment", "fail_ready_deployment"):
        with pytest.raises(ControlRefused, match="is queued"):
            api.intervene(word, project="blog", deployment=deployment)


def test_a_deployment_is_removed_once(api: CheckedWorld) -> None:
    deployment = ids(api)[0]
    api.intervene("remove_deployments", project="blog", deployment=deployment)

    for word in ("remove_deployments", "supersede_deployment"):
        with pytest.raises(ControlRefused, match="was already removed"):
            api.intervene(word, project="blog", deployment=deployment)
