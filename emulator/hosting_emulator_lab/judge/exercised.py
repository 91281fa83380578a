"""What a client's clean run exercised of the contract: calls, statuses, problems, ends and more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hosting_emulator.contract.calls import ALL_CALLS, GET_OPERATION
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator_lab.judge.client_requests import NumberedRequest

#: The states in which an operation ends (contract, Operation.state).
_ENDS = ("succeeded", "failed", "cancelled")
_LIST = "list_deployments"


@dataclass(frozen=True, slots=True)
class Exercised:
    """What requests exercised. Each field holds names in the order of the contract.

    `calls` are the calls with at least one request that succeeded. `statuses` are texts such as
    `create_user_api_key 201`. `codes` are the codes of the problems. `ends` are the states in which
    operations ended while the client looked. `pages` is the number of pages of deployments, and
    `replays` the number of replayed responses.
    """

    calls: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    pages: int = 0
    replays: int = 0

    @property
    def missing_calls(self) -> tuple[str, ...]:
        """The calls of the contract that no request exercised."""
        return tuple(call for call in contract_calls() if call not in self.calls)

    @property
    def missing_ends(self) -> tuple[str, ...]:
        """The ends of operations that the client never saw."""
        return tuple(end for end in _ENDS if end not in self.ends)


def contract_calls() -> list[str]:
    """Return the ids of the contract's eight calls, in their order."""
    return [call_id for call_id in ALL_CALLS if call_id != GET_OPERATION.call_id]


def code_count() -> int:
    """Return the number of the contract's problem codes."""
    return len(PROBLEMS)


def exercised_by(requests: Sequence[NumberedRequest]) -> Exercised:
    """Return what the requests of a clean run, with their responses, exercised."""
    exchanges = [request.exchange for request in requests]
    succeeded = {request.call for request in requests if request.succeeded}
    statuses = {(request.call, request.exchange.status) for request in requests}
    codes = {exchange.code for exchange in exchanges}
    return Exercised(
        calls=tuple(call for call in contract_calls() if call in succeeded),
        statuses=tuple(f"{call} {status}" for call, status in sorted(statuses)),
        codes=tuple(code for code in PROBLEMS if code in codes),
        ends=_ends(requests),
        pages=sum(request.call == _LIST and request.succeeded for request in requests),
        replays=sum(bool(exchange.replayed) for exchange in exchanges),
    )


def _ends(requests: Iterable[NumberedRequest]) -> tuple[str, ...]:
    states = {
        request.response.get("state")
        for request in requests
        if ALL_CALLS[request.call].response == "Operation" and isinstance(request.response, dict)
    }
    return tuple(end for end in _ENDS if end in states)
