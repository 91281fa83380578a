"""Refuses rules under which a fault or an outcome could never act."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hosting_emulator.contract.calls import DOORS, REDEEM_TICKET, CallSpec
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.value_texts import quoted_value
from hosting_emulator.criteria.request_filters import may_have_path
from hosting_emulator.faults.kinds import FaultKind, fault_kinds
from hosting_emulator.world.fault_records import Rule

#: The maximum number of calls that a message lists.
_MOST_CALLS = 3
#: The fields that restrict which calls a rule can match.
_CALL_FIELDS = ("call", "method", "project", "path")


def check_possible(rule: Rule, calls: Sequence[CallSpec]) -> None:
    """Raise DocumentRefused if no request can match a rule.

    `calls` are the calls that rules in this category can name. The message names the first field
    that excludes all remaining calls.
    """
    if rule.call in DOORS:
        _check_endpoint(rule)
        return
    if rule.credentials in ("none", "invalid"):
        _check_without_user(rule)
    for field in _CALL_FIELDS:
        matches = [spec for spec in calls if _may_match(rule, field, spec)]
        if not matches:
            endpoints = " or ".join(f"{spec.method} {spec.path}" for spec in calls)
            if len(calls) > _MOST_CALLS:
                endpoints = "any call; write a path such as /v1/projects/*/domains, without a query"
            value = getattr(rule, field)
            message = f"the rule could never match: {field} {quoted_value(value)} does not match {endpoints}"
            raise DocumentRefused(message, field)
        calls = matches


def possible_calls(rule: Rule, calls: Iterable[CallSpec]) -> list[CallSpec]:
    """Return the calls whose requests a rule can match."""
    return [spec for spec in calls if all(_may_match(rule, name, spec) for name in _CALL_FIELDS)]


def _may_match(rule: Rule, field: str, spec: CallSpec) -> bool:
    """Return whether a request for a call can match a field of a rule."""
    if getattr(rule, field) is None:
        return True
    if field == "call":
        return rule.call == spec.call_id
    if field == "method":
        return rule.method == spec.method
    if field == "project":
        return spec.subject != "organization"
    return may_have_path(spec.path, str(rule.path))


def _check_endpoint(rule: Rule) -> None:
    """Raise DocumentRefused if a rule sets a field that requests to its endpoint do not have.

    The rule's `call` is an endpoint outside the API.
    """
    fields = ["principal", "organization", "credentials"]
    if rule.call != REDEEM_TICKET:
        fields.append("project")
    for field in fields:
        if getattr(rule, field) is not None:
            raise DocumentRefused(f"the rule could never match: {rule.call} has no {field}", field)


def _check_without_user(rule: Rule) -> None:
    """Raise DocumentRefused if a rule for requests without a user depends on a user or a commit."""
    if rule.principal is not None:
        field = "principal"
    elif rule.after_commit:
        field = "after_commit"
    else:
        return
    reason = f"with credentials {rule.credentials}, there is no user and nothing is committed"
    raise DocumentRefused(f"the rule could never match: {reason}", field)


def check_at_identity_provider(kind: str, rule: Rule) -> None:
    """Raise DocumentRefused if the identity provider cannot produce a fault's effect.

    The identity provider does not send problem documents, and a fault can break its responses only
    after the commit.
    """
    effect = fault_kinds()[kind]
    if effect.problem is not FaultKind.problem:
        message = (
            f"{kind} returns a problem of the API, but {rule.call} sends no problems; use respond"
        )
        raise DocumentRefused(message, kind)
    breaks_response = not (
        effect.sends_nothing
        or effect.replaces_response
        or effect.delays
        or effect.delivers_response
    )
    if breaks_response and not rule.after_commit:
        message = f"{kind} breaks a response, so {rule.call} needs after_commit: true"
        raise DocumentRefused(message, "after_commit")
