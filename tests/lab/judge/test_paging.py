"""A page counts as unread if no later request sends its cursor."""

from __future__ import annotations

from hosting_emulator_lab.judge.client_requests import (
    NumberedRequest,
    ObservedResponse,
    number_requests,
)
from hosting_emulator_lab.judge.paging import requests_without_next_page
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
