"""The sentences that allow a client to retry a request, for each kind of request and failure."""

from __future__ import annotations

from typing import NamedTuple

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.judge.fault_points import FaultPoint, kind_of


class RetryQuote(NamedTuple):
    """A sentence of the contract or of a standard, and its source."""

    sentence: str
    place: str


#: The sentence about a retry of a flag's change.
FLAG_RETRY = RetryQuote(
    "retry with same Idempotency-Key and same body | | unchanged | first result returned, no "
    "second switch",
    "contract, section States and transitions, Flag",
)
#: The sentence about a retry of the creation of an API key.
KEY_RETRY = RetryQuote(
    "After any uncertainty the same name and Idempotency-Key are reused rather than creating "
    "another token.",
    "contract, section Endpoints, operation 3",
)
#: The sentence about a retry after a problem.
RETRYABLE = RetryQuote("retryable | boolean | yes |", "contract, section Errors")
_READ = RetryQuote(
    "Idempotent methods are distinguished because the request can be repeated automatically if a "
    "communication failure occurs before the client is able to read the server's response.",
    "RFC 9110, section 9.2.2",
)
#: The sentences about a change whose response is lost, by call.
_CHANGES = {
    "set_project_powered_by_flag": FLAG_RETRY,
    "initialize_managed_source": RetryQuote(
        "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such header "
        "is listed for operations 5 to 8)",
        "contract, section Endpoints",
    ),
    "create_user_api_key": KEY_RETRY,
    "apply_project_domains": RetryQuote(
        "Starts an idempotent durable operation for the exact project-derived development, production "
        "and mail hostnames (derived by the server, not supplied).",
        "contract, section Endpoints, operation 4",
    ),
    "create_dev_access_ticket": RetryQuote(
        "A new ticket revokes the principal's earlier unused tickets.",
        "contract, section Endpoints, operation 7",
    ),
}


def retry_quote(point: FaultPoint) -> RetryQuote:
    """Return the sentence that allows a client to retry the request of a wire fault."""
    if kind_of(point.fault) in ("abort", "rate_limit"):
        return RETRYABLE
    if ALL_CALLS[point.call].method == "GET":
        return _READ
    return _CHANGES[point.call]
