"""Finds out whether a client left pages of a list unread that it reads in the clean run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import parse_qsl

from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.paging import LIST_CALL, next_cursor, requests_without_next_page
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd

#: A whole number that is no part of a time, a duration or the position of a line in a file.
_WHOLE_NUMBER = re.compile(r"(?<![\w.:#-])\d+(?![\w:-]|\.\d)")


def stopped_at_page(end: RunEnd, observation: Observation, clean: CleanRun) -> str:
    """Return the name of the request after whose page the client stopped, but not in the clean run.

    Return an empty text if the client prints a line with other words than in the clean run, because
    it may say that there are more pages.
    """
    if requests_without_next_page(clean.observation.requests):
        return ""
    if end.prints_new_words(clean.end):
        return ""
    unread = requests_without_next_page(observation.requests)
    return unread[0].name if unread else ""


def misses_items(end: RunEnd, observation: Observation, clean: CleanRun) -> bool:
    """Return whether a new line of the output names the number of items in the whole list.

    The client has then not read all pages of the list, and noticed that items are missing.
    """
    usual_lines = set(clean.end.printed_lines or ())
    new_lines = [line for line in end.printed_lines or () if line not in usual_lines]
    # The rows of deployments begin with their project.
    list_sizes: Counter[str] = Counter()
    for row, count in clean.observation.state.get("deployment", Counter()).items():
        list_sizes[row.partition(" ")[0]] += count
    usual_requests = clean.observation.requests
    return names_whole_list(new_lines, observation.requests, usual_requests, list_sizes.values())


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
            if next_cursor(request):
                limits.add(_item_count(request))
    return limits


def _is_short(request: NumberedRequest, largest: int) -> bool:
    """Return whether a page that is not the last has fewer items than its limit.

    If the request has no limit, `largest` counts as the limit.
    """
    limit = min(_numbers_in_query(request), default=largest)
    return bool(next_cursor(request)) and _item_count(request) < limit


def _item_count(request: NumberedRequest) -> int:
    return len(request.response.get("items") or ())


def _numbers_in_query(request: NumberedRequest) -> set[int]:
    """Return the numbers in the query of a request, such as the maximum page size."""
    values = [value for _, value in parse_qsl(request.exchange.query)]
    return {int(value) for value in values if value.isdecimal() and len(value) < 4}
