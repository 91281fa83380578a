"""Finds the pages of a list that a client did not read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import parse_qsl

from hosting_emulator_lab.judge.client_requests import NumberedRequest

#: The call whose responses are pages of a list.
LIST_CALL = "list_deployments"
#: A whole number that is no part of a time, a duration or the position of a line in a file.
_WHOLE_NUMBER = re.compile(r"(?<![\w.:#-])\d+(?![\w:-]|\.\d)")


def requests_without_next_page(requests: Sequence[NumberedRequest]) -> list[NumberedRequest]:
    """Return the requests whose response has a `next_cursor` that no later request sends.

    The requests must have their responses.
    """
    unread = []
    for index, request in enumerate(requests):
        cursor = _next_cursor(request)
        later_queries = [later.exchange.query for later in requests[index + 1 :]]
        if cursor and not any(cursor in query for query in later_queries):
            unread.append(request)
    return unread


def _next_cursor(request: NumberedRequest) -> str:
    if not request.succeeded or not isinstance(request.response, dict):
        return ""
    return str(request.response.get("next_cursor") or "")


def names_whole_list(
    lines: Iterable[str], requests: Sequence[NumberedRequest], usual: Sequence[NumberedRequest]
) -> bool:
    """Return whether lines contain the number of items in the whole list, which `usual` requests read.

    Such a line, for example `assert 7 == 25`, shows that the client misses items, because it has not
    read the next page. Return False if the number may be a limit, or if the client also reads on
    after a page with fewer items than usual. The requests must have their responses.
    """
    whole_list = {str(item.get("id")) for request in usual for item in _items(request)}
    limits = {len(_items(request)) for request in usual} | _numbers_in_queries(usual)
    if len(whole_list) in limits:
        return False
    unread = requests_without_next_page(requests)
    largest = max(limits, default=0)
    if any(_is_short(request, largest) and request not in unread for request in requests):
        return False
    numbers = {int(number) for line in lines for number in _WHOLE_NUMBER.findall(line)}
    return bool(unread) and len(whole_list) in numbers


def _is_short(request: NumberedRequest, largest: int) -> bool:
    """Return whether a page has fewer items than its limit, or than the largest page, and is not the last."""
    limit = min(_numbers_in_queries([request]), default=largest)
    return bool(_next_cursor(request)) and len(_items(request)) < limit


def _items(request: NumberedRequest) -> list[dict[str, Any]]:
    """Return the items of a page, or an empty list for a request that is not for a page."""
    if request.call != LIST_CALL or not isinstance(request.response, dict):
        return []
    items = request.response.get("items")
    return [item for item in items or () if isinstance(item, dict)]


def _numbers_in_queries(requests: Iterable[NumberedRequest]) -> set[int]:
    """Return the numbers in the queries of requests, such as the largest page size of a request."""
    numbers: set[int] = set()
    for request in requests:
        if request.call == LIST_CALL:
            values = [value for _, value in parse_qsl(request.exchange.query)]
            numbers |= {int(value) for value in values if value.isdecimal() and len(value) < 4}
    return numbers
