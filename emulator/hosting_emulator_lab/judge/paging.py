"""The call that returns pages of a list, and how its pages follow each other."""

from __future__ import annotations

from collections.abc import Sequence

from hosting_emulator_lab.judge.client_requests import NumberedRequest

#: The call whose responses are pages of a list.
LIST_CALL = "list_deployments"


def requests_without_next_page(requests: Sequence[NumberedRequest]) -> list[NumberedRequest]:
    """Return the requests whose response has a `next_cursor` that no later request sends.

    The requests must have their responses.
    """
    unread = []
    for index, request in enumerate(requests):
        cursor = next_cursor(request)
        later_queries = [later.exchange.query for later in requests[index + 1 :]]
        if cursor and not any(cursor in query for query in later_queries):
            unread.append(request)
    return unread


def next_cursor(request: NumberedRequest) -> str:
    """Return the cursor of the next page, or an empty string if there is none or it is unknown."""
    if not request.succeeded or not isinstance(request.response, dict):
        return ""
    return str(request.response.get("next_cursor") or "")
