"""Runs in which the service accepts a request that it refused in the clean run.

A test suite may break a rule of conduct on purpose, because it tests the refusal. Such a suite fails
when the request is accepted. A client that breaks the rule by mistake does not fail, because it
wanted the request to be accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from hosting_emulator.contract.calls import ALL_CALLS, REDEEM_TICKET
from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.client_requests import (
    NumberedRequest,
    ObservedExchange,
    Place,
    place_of,
)
from hosting_emulator_lab.judge.fault_points import check_calls
from hosting_emulator_lab.run_conditions import USUAL_CONDITIONS, RunConditions

_EXAMPLE = f"accept/{REDEEM_TICKET}#1"


@dataclass(frozen=True, slots=True)
class AcceptedTrial:
    """A run in which one request to a call is accepted.

    `number` is its position among all requests to its call, from 1. As text, such a trial reads
    `accept/CALL#N`. The call may also be `redeem_ticket`.
    """

    call: str
    number: int

    def __str__(self) -> str:
        return f"accept/{self.call}#{self.number}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a trial. Raises ValueError with a correct example or the nearest name."""
        call, _, number = text.partition("/")[2].partition("#")
        if not number.isdecimal() or int(number) < 1:
            raise ValueError(f"{text!r} is not a trial: write accept/CALL#N, such as {_EXAMPLE}")
        if call != REDEEM_TICKET:
            check_calls([call])
        return cls(call, int(number))

    @property
    def request(self) -> str:
        """The name of the request, such as `redeem_ticket#1`."""
        return f"{self.call}#{self.number}"

    @property
    def conditions(self) -> RunConditions:
        """The conditions of the run, which are the same as for the first clean run."""
        return USUAL_CONDITIONS

    def fault(self, requests: Sequence[NumberedRequest]) -> JsonObject:
        """Return the fault that accepts the request. `requests` are the requests of the clean run.

        The response is that of the clean run's first success of the call, if there is one, so that
        the client can read it.
        """
        status = 200
        content: Any = "" if self.call == REDEEM_TICKET else {}
        for request in requests:
            if request.call == self.call and request.succeeded:
                status = request.exchange.status
                content = request.response
                break
        fault: JsonObject = {
            "respond": {"status": status, "content": content},
            "call": self.call,
            "skip_first": self.number - 1,
            "times": 1,
        }
        if self.call in ALL_CALLS:
            # The request may have been refused because its token is invalid.
            fault["credentials"] = "any"
        return fault


def refused_request(exchanges: Sequence[ObservedExchange], place: Place) -> AcceptedTrial | None:
    """Return the trial that accepts the request at a place in a run.

    `exchanges` are all exchanges of the run in the order of their arrival. Returns None if the request
    was not refused, or if no fault can meet it.
    """
    counts: Counter[str] = Counter()
    for exchange in exchanges:
        call = exchange.call
        if call is None or (call not in ALL_CALLS and call != REDEEM_TICKET):
            continue
        counts[call] += 1
        if place_of(exchange) == place and exchange.status >= 400:
            return AcceptedTrial(call, counts[call])
    return None
