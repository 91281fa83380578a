"""Finds requests of a trial that the service refuses as invalid, although it accepts the clean run's.

For example, a client may add something to a header with each retry, until the header is too long.
"""

from __future__ import annotations

from collections.abc import Sequence

from hosting_emulator.messages import SKIP_NOTE
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
        reason = _reason(exchange)
        return f"#{exchange.n}: {exchange.call} was refused with {exchange.status} {_INVALID}: {reason}"
    return ""


def _reason(exchange: ObservedExchange) -> str:
    """Return why a request was refused. The log may first explain that the clock moved."""
    reasons = (text for text in exchange.why if not text.startswith(SKIP_NOTE))
    return next(reasons, "")
