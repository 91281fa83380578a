"""Finds the pages of a list that a client did not read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
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
    lines: Iterable[str],
    requests: Sequence[NumberedRequest],
    usual: Sequence[NumberedRequest],
    list_sizes: Collection[int],
) -> bool:
    """Return whether lines contain one of `list_sizes`, the possible numbers of items in the whole list.

    Such a line, for example `assert 7 == 25`, shows that the client noticed that items are missing,
    because it has not read the next page. Return False if the number may be a limit of the `usual`
    requests, or if the client has read on after a short page. The requests must have their responses.
    """
    limits = _limits(usual)
    largest = max(limits, default=0)
    unread = requests_without_next_page(requests)
    if any(_is_short(request, largest) and request not in unread for request in requests):
        return False
    numbers = {int(number) for line in lines for number in _WHOLE_NUMBER.findall(line)}
    return any(size in numbers and size not in limits for size in list_sizes)


def _limits(requests: Iterable[NumberedRequest]) -> set[int]:
    """Return the limits in the queries of requests, and the sizes of pages that are not the last."""
    limits: set[int] = set()
    for request in requests:
        if request.call == LIST_CALL:
            limits |= _numbers_in_query(request)
            if _next_cursor(request):
                limits.add(_item_count(request))
    return limits


def _is_short(request: NumberedRequest, largest: int) -> bool:
    """Return whether a page that is not the last has fewer items than its limit.

    If the request has no limit, `largest` counts as the limit.
    """
    limit = min(_numbers_in_query(request), default=largest)
    return bool(_next_cursor(request)) and _item_count(request) < limit


def _item_count(request: NumberedRequest) -> int:
    return len(request.response.get("items") or ())


def _numbers_in_query(request: NumberedRequest) -> set[int]:
    """Return the numbers in the query of a request, such as the maximum page size."""
    values = [value for _, value in parse_qsl(request.exchange.query)]
    return {int(value) for value in values if value.isdecimal() and len(value) < 4}
