"""The requests of a run, numbered for each call: `create_user_api_key#1` names the same request in each run.

Faults count requests in the same way, so a fault can be armed for a request that an earlier run
made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.messages import GAVE_UP_NOTE
from hosting_emulator.sdk import Exchange

#: Matches the explanation that a fault acted, except for `latency`, after which other faults can
#: still act.
_ACTED = re.compile(r"\S+ \((?!latency,)\w+, (before_commit|after_commit)\) acted\b")

#: Identifies a request of an observation: the index of its chapter, and its number in that chapter.
Place: TypeAlias = tuple[int, int]


class ObservedResponse(NamedTuple):
    """A response of a run: the length of its body, the body's content, and the headers.

    If the log cuts a long body, `content` is the beginning of its text, and `known_content` is the part
    of the content that is known, or None if nothing is known.
    """

    body_bytes: int = 0
    content: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    known_content: Any = None


class ObservedExchange(Exchange, frozen=True, kw_only=True):
    """An exchange of a run. `chapter` is the index of its chapter in the observation.

    `is_in_own_world` says whether the request reached the world in which the run began. A test may
    create more worlds.
    """

    chapter: int = 0
    is_in_own_world: bool = True

    @property
    def is_received(self) -> bool:
        """Whether the client received the whole response."""
        return self.lost is None and GAVE_UP_NOTE not in self.why


@dataclass(frozen=True, slots=True)
class NumberedRequest:
    """A request that a fault can meet.

    `number` is its position among the requests to its call, from 1. `number_after_commit` is its
    number as counted by a fault that acts after the commit. Such a fault can meet the request only
    if it `succeeded`. `position` is its position among the requests to all calls, from 1.

    `operations_before` is the number of operations that earlier requests to its call began.
    `project_is_busy` means that an earlier request began an operation of the same project.

    `response_bytes` is the length of the response's body, and `response` is the body's content. If
    the log cuts the body, `response` is the beginning of its text, and `known_response` is the part of
    the content that is known. Otherwise, both are the same. `response_headers` are the response's
    headers.
    """

    exchange: ObservedExchange
    call: str
    number: int
    number_after_commit: int
    succeeded: bool
    position: int
    operations_before: int
    project_is_busy: bool
    response_bytes: int
    response: Any
    response_headers: tuple[tuple[str, str], ...]
    known_response: Any

    @property
    def name(self) -> str:
        """The request's name, such as `create_user_api_key#1`."""
        return f"{self.call}#{self.number}"

    @property
    def key(self) -> str | None:
        """The request's Idempotency-Key, or None if its call needs none."""
        return self.exchange.idempotency_key if ALL_CALLS[self.call].idempotent else None

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing."""
        return ALL_CALLS[self.call].method == "GET"

    @property
    def meets_own_fault(self) -> bool:
        """Whether a fault that the command itself injected, such as a test's fault, met the request."""
        return is_met_by_fault(self.exchange)

    @property
    def begins_operation(self) -> bool:
        """Whether the request began an operation."""
        call = ALL_CALLS[self.call]
        return self.succeeded and call.idempotent and call.response == "Operation"


def place_of(exchange: ObservedExchange) -> Place:
    """Return the chapter and the number of an exchange."""
    return exchange.chapter, exchange.n


def number_requests(
    exchanges: Iterable[ObservedExchange],
    responses: Mapping[Place, ObservedResponse] | None = None,
) -> tuple[NumberedRequest, ...]:
    """Number the requests of a run, whose exchanges are in the order of their arrival.

    `responses` contains the responses, as far as they are known. Requests that
    no fault can meet are left out: requests to no call, requests without a valid caller, and requests
    that a fault of the world met before the commit.
    """
    counts: Counter[str] = Counter()
    counts_after_commit: Counter[str] = Counter()
    operation_counts: Counter[str] = Counter()
    busy_projects: set[tuple[int, str | None]] = set()
    requests: list[NumberedRequest] = []
    for exchange in exchanges:
        call = exchange.call
        if call is None or call not in ALL_CALLS or exchange.user_id is None:
            continue
        phases = _phases_of_faults(exchange)
        if "before_commit" in phases:
            continue
        counts[call] += 1
        if not phases:
            counts_after_commit[call] += 1
        project = (exchange.chapter, exchange.project)
        response = (responses or {}).get(place_of(exchange), ObservedResponse())
        request = NumberedRequest(
            exchange,
            call,
            counts[call],
            counts_after_commit[call],
            succeeded=200 <= exchange.status < 400 and not phases,
            position=len(requests) + 1,
            operations_before=operation_counts[call],
            project_is_busy=project in busy_projects,
            response_bytes=response.body_bytes,
            response=response.content,
            response_headers=response.headers,
            known_response=response.known_content or response.content,
        )
        requests.append(request)
        if request.succeeded and not exchange.replayed:
            operation_counts[call] += 1
        if request.begins_operation:
            busy_projects.add(project)
    return tuple(requests)


def is_met_by_fault(exchange: ObservedExchange) -> bool:
    """Return whether a fault of the world acted on a request."""
    return bool(_phases_of_faults(exchange))


def _phases_of_faults(exchange: ObservedExchange) -> set[str]:
    """Return the phases in which faults of the world acted on a request."""
    matches = (_ACTED.match(explanation) for explanation in exchange.why)
    return {match[1] for match in matches if match is not None}
