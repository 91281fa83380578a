"""Refuses a `stale_read` fault that could never act."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.contract.calls import DOORS, CallSpec
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.kinds.stale_read import StaleRead
from hosting_emulator.faults.possible_rules import possible_calls
from hosting_emulator.world.fault_records import Rule

#: The call to which, according to the contract, the response is always fresh.
_FRESH = "read_database_compute"


#: Why a read of the database cannot be stale without `breaking`.
FRESH_REASON = (
    f"the contract promises that the response to {_FRESH} is fresh: "
    '"observed_at | timestamp | fresh, tenant-scoped observation"'
)


def check_stale_read(stale_read: StaleRead, rule: Rule, calls: Iterable[CallSpec]) -> None:
    """Raise DocumentRefused if a rule matches no read on which the fault can act.

    If the contract forbids a stale response, the message quotes the contract's sentence.
    """
    if rule.call in DOORS:
        message = f"stale_read acts on read calls of the API, and {rule.call} is not one of them"
        raise DocumentRefused(message, "call")
    reads = [spec for spec in possible_calls(rule, calls) if spec.method == "GET"]
    field = "call" if rule.call is not None else "method"
    if not reads:
        message = (
            "the fault could never act: stale_read acts on reads (get_dns_authorization, "
            "list_deployments and get_operation), but writes always see the current state"
        )
        raise DocumentRefused(message, field)
    if not stale_read.breaking and all(spec.call_id == _FRESH for spec in reads):
        raise DocumentRefused(f"{FRESH_REASON}; write `breaking: true` to act anyway", field)


def needs_breaking(call: str) -> bool:
    """Return whether a stale response to a call always contradicts the contract."""
    return call == _FRESH
