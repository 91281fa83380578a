"""Refuses a TLS handshake fault that could never act."""

from __future__ import annotations

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.categories import MATCH_FIELDS
from hosting_emulator.world.fault_records import Rule


def check_handshake_rule(kind: str, rule: Rule) -> None:
    """Raise DocumentRefused if a rule depends on the request, because at the handshake there is
    none yet.
    """
    for field in MATCH_FIELDS:
        if field != "project" and getattr(rule, field) is not None:
            message = (
                f"{kind} acts at the TLS handshake, before the {field} is known; match by project"
            )
            raise DocumentRefused(message, field)
    if rule.after_commit:
        message = f"{kind} acts at the TLS handshake, so leave out after_commit"
        raise DocumentRefused(message, "after_commit")
