"""Call 6: page through a project's deployments."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.checked_world import CheckedCalls
from tests.support.in_process import InProcess, fresh_world
from tests.support.response_checks import expect_problem, read_timestamp


def walk(world: CheckedCalls, size: int, project: str = "shop") -> list[list[dict[str, Any]]]:
    """Follow next_cursor to its end."""
    pages = []
    cursor = ""
    while True:
        response = world.deployments(f"?limit={size}{cursor}", project=project)
        pages.append(response.json["items"])
        following = response.json.get("next_cursor")
        if following is None:
            return pages
        assert re.fullmatch("[A-Za-z0-9_-]+", following)
        cursor = f"&cursor={following}"


@pytest.mark.over_http
def test_a_page_has_twenty_items_newest_first(world: CheckedCalls) -> None:
    page = world.deployments().json

    creation_times = [read_timestamp(item["created_at"]) for item in page["items"]]
    assert page.keys() == {"items", "next_cursor"}
    assert len(creation_times) == 20
    assert creation_times == sorted(creation_times, reverse=True)


@pytest.mark.over_http
@pytest.mark.parametrize("size", [1, 7, 15, 31, 32, 33, 44, 45, 46, 100])
def test_every_deployment_comes_exactly_once(world: CheckedCalls, size: int) -> None:
    # given a project with 45 deployments
    pages = walk(world, size)

    ids = [item["id"] for page in pages for item in page]
    assert ids == [item["id"] for item in world.deployments("?limit=100").json["items"]]
    assert len(set(ids)) == len(ids) == 45
    assert [len(page) for page in pages[:-1]] == [size] * (len(pages) - 1)
    assert 1 <= len(pages[-1]) <= size


def test_an_empty_project_has_one_empty_page(world: CheckedCalls) -> None:
    assert world.deployments(project="labs").json == {"items": []}


def test_a_new_deployment_does_not_shift_the_next_page(world: CheckedCalls) -> None:
    everything = [item["id"] for item in world.deployments("?limit=100").json["items"]]
    first = world.deployments("?limit=10").json

    world.initialize(1)
    second = world.deployments(f"?limit=10&cursor={first['next_cursor']}").json

    assert [item["id"] for item in second["items"]] == everything[10:20]


def test_a_cursor_can_be_used_again_with_another_size(world: CheckedCalls) -> None:
    everything = [item["id"] for item in world.deployments("?limit=100").json["items"]]
    cursor = world.deployments("?limit=5").json["next_cursor"]

    for size in (3, 40, 3):
        page = world.deployments(f"?cursor={cursor}&limit={size}").json
        assert [item["id"] for item in page["items"]] == everything[5 : 5 + size]


def test_each_deployment_names_an_operation_that_can_be_polled(world: CheckedCalls) -> None:
    results = {"ready": "succeeded", "failed": "failed", "cancelled": "cancelled"}
    for item in world.deployments("?limit=15").json["items"]:
        operation = world.poll(item["operation_id"]).json

        assert operation["deployment_id"] == item["id"]
        assert operation["state"] == results[item["status"]]
        assert ("error" in operation) == (item["status"] == "failed")
        assert ("url" in item) == (item["status"] == "ready")


def test_a_page_shows_the_current_state_of_a_deployment(world: CheckedCalls) -> None:
    operation = world.initialize(1).json
    before = world.deployments("?limit=2").json["items"]

    world.finish(operation["id"])
    after = world.deployments("?limit=2").json["items"]

    assert [item["id"] for item in before] == [item["id"] for item in after]
    assert [before[0]["status"], after[0]["status"]] == ["queued", "ready"]
    assert before[1] == after[1]


@pytest.mark.over_http
@pytest.mark.parametrize(
    "size", ["0", "101", "-1", "1.5", "1e1", "abc", "", "%2B5", "05", "%20 5", "٣", "1000", "true"]
)
def test_a_page_size_is_an_integer_from_1_to_100(world: CheckedCalls, size: str) -> None:
    response = world.deployments("?limit=" + size.replace(" ", "").replace("٣", "%D9%A3"))

    assert "limit" in expect_problem(response, 400, "invalid_request")["detail"]


@pytest.mark.parametrize("size", [1, 100])
def test_a_page_size_of_1_or_100_is_accepted(world: CheckedCalls, size: int) -> None:
    assert len(world.deployments(f"?limit={size}").json["items"]) == min(size, 45)


def spoiled(cursor: str) -> dict[str, str]:
    flipped = "B" if cursor[-1] != "B" else "C"
    return {
        "empty": "",
        "short": "x",
        "changed at its end": cursor[:-1] + flipped,
        "changed at its start": ("B" if cursor[0] != "B" else "C") + cursor[1:],
        "cut": cursor[:-4],
        "padded": cursor + "==",
        "longer": cursor + "AAAA",
        "no cursor's alphabet": cursor[:-1] + "!",
        "very long": "A" * 5000,
        "a number": "20",
    }


@pytest.mark.over_http
@pytest.mark.parametrize("change", spoiled("AAAAAAAAAAAAAAAA"))
def test_a_cursor_that_no_page_returned_is_refused(world: CheckedCalls, change: str) -> None:
    cursor = spoiled(world.deployments("?limit=5").json["next_cursor"])[change]

    response = world.deployments(f"?cursor={cursor}")

    assert "cursor" in expect_problem(response, 400, "invalid_request")["detail"]


def test_a_cursor_of_another_project_is_refused(world: CheckedCalls) -> None:
    cursor = world.deployments("?limit=5", project="docs").json["next_cursor"]

    expect_problem(world.deployments(f"?cursor={cursor}", project="shop"), 400, "invalid_request")


def test_a_cursor_of_a_world_with_another_seed_is_refused_although_the_deployments_are_equal() -> (
    None
):
    worlds = [InProcess(replace(fresh_world(), seed=seed)) for seed in ("one", "two")]
    pages = [world.deployments("?limit=5").json for world in worlds]

    assert pages[0]["items"] == pages[1]["items"]
    for world, page, other_page in zip(worlds, pages, reversed(pages), strict=True):
        assert world.deployments(f"?cursor={page['next_cursor']}").status == 200
        refused = world.deployments(f"?cursor={other_page['next_cursor']}")
        expect_problem(refused, 400, "invalid_request")


@pytest.mark.over_http
@pytest.mark.parametrize("query", ["?limit=5&limit=5", "?limit=5&limit=6", "?cursor=a&cursor=a"])
def test_a_repeated_parameter_is_refused(world: CheckedCalls, query: str) -> None:
    expect_problem(world.deployments(query), 400, "invalid_request")


@pytest.mark.over_http
@pytest.mark.parametrize("query", ["?page=2", "?limit=20&utm=x", "?Limit=3", "?", "?limit=20&"])
def test_unknown_parameters_are_ignored(world: CheckedCalls, query: str) -> None:
    assert world.deployments(query).body == world.deployments().body
