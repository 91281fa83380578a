"""A line that names the number of all items shows that a client did not read all pages."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.client_requests import (
    NumberedRequest,
    ObservedResponse,
    number_requests,
)
from hosting_emulator_lab.judge.unread_pages import names_whole_list
from tests.lab.judge.samples import exchange


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
