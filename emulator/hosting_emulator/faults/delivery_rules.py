"""What is refused when a fault is armed that delivers requests twice, because it could never act."""

from __future__ import annotations

from hosting_emulator.contract.calls import IDENTITY_PROVIDER
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.world.fault_records import Rule


def check_delivery_rule(kind: str, rule: Rule) -> None:
    """Refuse a rule for an endpoint whose requests are handled once. Raises DocumentRefused."""
    if rule.call is not None and rule.call.startswith(IDENTITY_PROVIDER):
        message = (
            f"{kind} acts on the calls of the API and on redeem_ticket; {rule.call} belongs to the "
            "identity provider"
        )
        raise DocumentRefused(message, "call")
