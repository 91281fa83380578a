"""The names an editor offers: calls, faults and clock modes. They name; the emulator decides."""

from __future__ import annotations

from typing import Literal, get_args

from hosting_emulator.sdk.names import unknown

#: The contract's eight calls, and the poll of an operation.
CallName = Literal[
    "set_project_powered_by_flag",
    "initialize_managed_source",
    "create_user_api_key",
    "apply_project_domains",
    "get_dns_authorization",
    "list_deployments",
    "create_dev_access_ticket",
    "read_database_compute",
    "get_operation",
]
#: What a request of the log can be besides a call: a ticket was opened at its dev origin.
RequestName = CallName | Literal["redeem_ticket"]
CALL_NAMES: tuple[str, ...] = (*get_args(CallName), "redeem_ticket")

#: What a fault can do.
EffectName = Literal[
    "abort",
    "gateway_error",
    "latency",
    "timeout",
    "connection_reset",
    "empty_response",
    "truncate",
    "malformed_response",
    "slow_response",
    "rate_limit",
]
Phase = Literal["before_commit", "after_commit"]


def known_call(name: str | None) -> str | None:
    """Return `name` if it is a call's, or None. Raises ValueError, naming the nearest."""
    if name is not None and name not in CALL_NAMES:
        raise ValueError(unknown("call", name, CALL_NAMES))
    return name
