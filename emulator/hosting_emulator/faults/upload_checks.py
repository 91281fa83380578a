"""Refuses an upload fault that could never act."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.contract.calls import DOORS, CallSpec
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.criteria.request_filters import may_have_path
from hosting_emulator.world.fault_records import Rule


def check_upload_rule(kind: str, rule: Rule, calls: Iterable[CallSpec]) -> None:
    """Raise DocumentRefused if a rule could match no request before the request body has been read."""
    if rule.after_commit:
        message = f"{kind} acts while the request arrives, so leave out after_commit"
        raise DocumentRefused(message, "after_commit")
    if rule.body is not None:
        message = f"{kind} acts before the request body is known; match by call, path or header"
        raise DocumentRefused(message, "body")
    if rule.call in DOORS:
        message = f"{kind} acts only on calls of the API, and {rule.call} is not one of them"
        raise DocumentRefused(message, "call")
    matching = [
        spec
        for spec in calls
        if rule.call in (None, spec.call_id)
        and rule.method in (None, spec.method)
        and (rule.path is None or may_have_path(spec.path, rule.path))
    ]
    if not any(spec.body for spec in matching):
        reason = "no matching call has a request body"
        if len(matching) == 1:
            reason = f"{matching[0].call_id} has no request body"
        field = next(name for name in ("call", "method", "path") if getattr(rule, name) is not None)
        raise DocumentRefused(f"the fault could never act: {reason}", field)
