"""Finds requests that the service refuses as invalid in a trial, although it accepts those of the clean run.

A client may build such a request from what it kept of a failed attempt, for example from a header that
grows with each retry.
"""

from __future__ import annotations

from collections.abc import Sequence

from hosting_emulator_lab.judge.client_requests import ObservedExchange, is_met_by_fault

_INVALID = "invalid_request"


def invalid_request_text(
    exchanges: Sequence[ObservedExchange], usual_exchanges: Sequence[ObservedExchange]
) -> str:
    """Describe the first request that the service itself refuses as invalid, or return an empty string.

    `usual_exchanges` are the exchanges of the clean run. A call that is refused as invalid there is left
    out, because a test may send invalid requests on purpose.
    """
    usual_calls = {exchange.call for exchange in usual_exchanges if exchange.code == _INVALID}
    for exchange in exchanges:
        if exchange.code != _INVALID or exchange.call in usual_calls or is_met_by_fault(exchange):
            continue
        detail = " ".join(exchange.why[:1])
        return f"#{exchange.n}: {exchange.call} was refused with {exchange.status} {_INVALID}: {detail}"
    return ""
