"""A page counts as unread if no later request sends its cursor."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.client_requests import (
    NumberedRequest,
    ObservedResponse,
    number_requests,
)
from hosting_emulator_lab.judge.paging import names_whole_list, requests_without_next_page
from tests.lab.judge.samples import exchange


def pages(*rows: tuple[str, str | None]) -> list[str]:
    """Return the names of the requests with an unread page, given each query and `next_cursor`."""
    exchanges = [
        exchange("list_deployments", n=number, query=query)
        for number, (query, _) in enumerate(rows, 1)
    ]
    responses = {
        (0, number): ObservedResponse(
            2, {"items": []} if cursor is None else {"items": [], "next_cursor": cursor}
        )
        for number, (_, cursor) in enumerate(rows, 1)
    }
    requests: tuple[NumberedRequest, ...] = number_requests(exchanges, responses)
    return [request.name for request in requests_without_next_page(requests)]


def test_a_list_that_is_read_to_its_end_has_no_unread_page() -> None:
    assert pages(("", "abc"), ("cursor=abc", "def"), ("cursor=def", None)) == []


def test_a_list_that_is_not_read_on_has_an_unread_page() -> None:
    assert pages(("limit=2", "abc"), ("limit=2&cursor=abc", "def")) == ["list_deployments#2"]
    assert pages(("cursor=abc", "abc")) == ["list_deployments#1"]


def test_a_cursor_that_was_sent_before_does_not_count() -> None:
    assert pages(("cursor=abc", None), ("", "abc")) == ["list_deployments#2"]


def test_a_refusal_and_an_unknown_response_have_no_next_page() -> None:
    exchanges = [
        exchange("list_deployments", status, n=n) for n, status in enumerate((404, 200), 1)
    ]
    refusal = ObservedResponse(2, {"next_cursor": "abc"})

    requests = number_requests(exchanges, {(0, 1): refusal})

    assert requests_without_next_page(requests) == []


def listed(*rows: tuple[str, int, str | None]) -> tuple[NumberedRequest, ...]:
    """Return the requests for pages, given each query, the number of items and the `next_cursor`."""
    exchanges = [
        exchange("list_deployments", n=number, query=query)
        for number, (query, _, _) in enumerate(rows, 1)
    ]
    responses: dict[tuple[int, int], ObservedResponse] = {}
    item_number = 0
    for number, (_, count, cursor) in enumerate(rows, 1):
        items = [{"id": f"D{item_number + index}"} for index in range(count)]
        item_number += count
        page: dict[str, object] = {"items": items}
        if cursor is not None:
            page["next_cursor"] = cursor
        responses[(0, number)] = ObservedResponse(9, page)
    return number_requests(exchanges, responses)


WHOLE_LIST = listed(
    ("limit=5", 5, "a"), ("limit=5&cursor=a", 5, "b"), ("limit=5&cursor=b", 2, None)
)
STOPPED_AT_SHORT_PAGE = listed(("limit=5", 5, "a"), ("limit=5&cursor=a", 3, "b"))
READ_ON = listed(("limit=5", 3, "a"), ("limit=5&cursor=a", 5, "b"))


@pytest.mark.parametrize(
    ("line", "names_list"),
    [
        ("E       assert 8 == 12", True),
        ("got 8 items, want 12.", True),
        ("E       assert 3 == 5", False),
        ("test_list.py:12: AssertionError", False),
        ("1 failed in 0.12s, 12.5 ms", False),
    ],
)
def test_a_line_with_the_number_of_all_items_shows_that_items_are_missing(
    line: str, names_list: bool
) -> None:
    assert names_whole_list(["bye", line], STOPPED_AT_SHORT_PAGE, WHOLE_LIST, [9, 12]) == names_list


@pytest.mark.parametrize(
    ("requests", "usual", "names_list"),
    [
        (STOPPED_AT_SHORT_PAGE, listed(("limit=50", 12, None)), True),
        (STOPPED_AT_SHORT_PAGE, listed(("", 12, None)), True),
        (STOPPED_AT_SHORT_PAGE, listed(("limit=12", 12, None)), False),
        (STOPPED_AT_SHORT_PAGE, listed(("", 12, "a"), ("cursor=a", 3, None)), False),
        (READ_ON, WHOLE_LIST, False),
    ],
    ids=["a limit", "no limit", "the same limit", "the usual size", "read on after a short page"],
)
def test_the_number_of_all_items_may_be_a_limit(
    requests: tuple[NumberedRequest, ...], usual: tuple[NumberedRequest, ...], names_list: bool
) -> None:
    assert names_whole_list(["assert 8 == 12"], requests, usual, [12]) == names_list
