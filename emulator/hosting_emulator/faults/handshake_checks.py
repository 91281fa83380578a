"""Refuses a fault at the TLS handshake that could never act."""

from __future__ import annotations

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.world.fault_records import Rule

#: The fields of a rule that are unknown before a request is sent.
_OF_REQUESTS = (
    "call",
    "organization",
    "principal",
    "method",
    "path",
    "header",
    "query",
    "body",
    "credentials",
    "connection",
)


def check_handshake_rule(kind: str, rule: Rule) -> None:
    """Raise DocumentRefused for a rule that depends on a request."""
    for field in _OF_REQUESTS:
        if getattr(rule, field) is not None:
            message = f"{kind} acts at the TLS handshake, before a request has a {field}; match by project"
            raise DocumentRefused(message, field)
    if rule.commit_phase == "after_commit":
        message = f"{kind} acts at the TLS handshake, so it can only act before_commit"
        raise DocumentRefused(message, "phase")
