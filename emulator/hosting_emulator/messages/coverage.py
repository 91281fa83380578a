"""Messages about coverage: which parts of the contract clients exercised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated

from hosting_emulator.messages.declaration import ControlMessage, doc


class CallCoverage(ControlMessage, frozen=True, kw_only=True):
    """The responses to one call that clients received. Lost responses are not counted."""

    responses: Annotated[int, doc("The number of responses.")]
    statuses: Annotated[dict[str, int], doc("The number of responses, by status.")]
    codes: Annotated[dict[str, int], doc("The number of problems, by code.")]
    roles: Annotated[
        dict[str, int],
        doc(
            "The number of responses, by the caller's role in the project: `owner`, `maintainer` "
            "or `reader`, or `api_key` for a user API key."
        ),
    ]
    replays: Annotated[int, doc("The number of replayed responses.")]


class ContractCoverage(ControlMessage, frozen=True, kw_only=True):
    """The parts of the contract that clients exercised."""

    calls: Annotated[
        dict[str, CallCoverage],
        doc("The coverage of each call that had at least one response, by the call's name."),
    ]
    operation_ends: Annotated[
        dict[str, int],
        doc("The number of responses that showed a finished operation, by the operation's state."),
    ]
    pages: Annotated[int, doc("The number of pages of deployments.")]
    following_pages: Annotated[
        int, doc("The number of pages of deployments that were requested with a cursor.")
    ]


def merge_coverage(parts: Iterable[ContractCoverage]) -> ContractCoverage:
    """Return the combined coverage of several clients, worlds or runs. All counts are added up."""
    calls: dict[str, CallCoverage] = {}
    ends: Counter[str] = Counter()
    pages = 0
    following_pages = 0
    for part in parts:
        for name, call in part.calls.items():
            calls[name] = _sum_of_calls(calls[name], call) if name in calls else call
        ends.update(part.operation_ends)
        pages += part.pages
        following_pages += part.following_pages
    return ContractCoverage(
        calls=calls, operation_ends=dict(ends), pages=pages, following_pages=following_pages
    )


def _sum_of_calls(first: CallCoverage, second: CallCoverage) -> CallCoverage:
    return CallCoverage(
        responses=first.responses + second.responses,
        statuses=_sum_of_counts(first.statuses, second.statuses),
        codes=_sum_of_counts(first.codes, second.codes),
        roles=_sum_of_counts(first.roles, second.roles),
        replays=first.replays + second.replays,
    )


def _sum_of_counts(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    counts = Counter(first)
    counts.update(second)
    return dict(counts)
