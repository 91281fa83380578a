"""Refuses a `deliver_twice` fault that could never act."""

from __future__ import annotations

from hosting_emulator.contract.calls import IDENTITY_PROVIDER
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.world.fault_records import Rule


def check_delivery_rule(kind: str, rule: Rule) -> None:
    """Raise DocumentRefused if requests to the endpoint that a rule names cannot be delivered twice."""
    if rule.call is not None and rule.call.startswith(IDENTITY_PROVIDER):
        message = (
            f"{kind} acts on the calls of the API and on redeem_ticket, but {rule.call} belongs "
            "to the identity provider"
        )
        raise DocumentRefused(message, "call")
