"""Arming a fault or an outcome from a document, as people write it.

    {"abort": {"code": "service_unavailable"}, "call": "apply_project_domains", "times": 2}
    {"fail": {"phase": "deploying"}, "project": "blog"}

A kind, call, code, project or field that does not exist is refused when the document is armed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import (
    DOORS,
    IDENTITY_PROVIDER,
    REDEEM_TICKET,
    CallSpec,
    call_named,
)
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.documents import DocumentRefused, read_fields, read_options
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.criteria.request_filters import may_have_path
from hosting_emulator.faults.categories import FAULT, METHODS, RECORD_TABLES, RuleCategory
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.faults.outcomes import OUTCOME_KINDS, phases_of
from hosting_emulator.world.fault_records import Condition, Fault, Rule
from hosting_emulator.world.naming import id_of, not_found_message
from hosting_emulator.world.streams import next_number
from hosting_emulator.world.value import Change, World


def arm(change: Change, document: Mapping[str, Any], category: RuleCategory = FAULT) -> Fault:
    """Arm a fault or outcome in a world, after those that are already armed. Raises DocumentRefused."""
    fault = read_fault(change, document, category)
    change.put(category.table, fault.id, fault)
    return fault


def read_fault(
    change: Change, document: Mapping[str, Any], category: RuleCategory = FAULT
) -> Fault:
    """Read and check a fault, or an outcome, which usually acts once. Raises DocumentRefused."""
    kinds = category.kinds
    noun = category.noun
    for name, value in document.items():
        if name not in kinds and name not in category.fields:
            hint = nearest(str(name), (*kinds, *category.fields))
            if name in PROBLEMS:
                by = "abort" if category is FAULT else "fail"
                hint = f"; it is a problem's code: write {by} code={name}"
            message = f"{'an' if noun == 'outcome' else 'a'} {noun} has no field {name!r}"
            if isinstance(value, Mapping):  # with options, as an effect has them
                message = f"there is no {noun} {name!r}"
                hint = hint or f"; there are {', '.join(kinds)}"
            raise DocumentRefused(f"{message}{hint}", str(name))
    kind = _only_kind(document, category)
    options = _read_effect(kind, document[kind], category)
    fields = {name: value for name, value in document.items() if name not in (kind, "while")}
    if noun == "outcome":
        fields.setdefault("times", 1)
    try:
        rule = read_fields(fields, Rule)
    except DocumentRefused as refused:
        message = f"{refused.field or f'the {noun}'}: {refused}"
        raise DocumentRefused(message, refused.field) from None
    if document.get("while") is not None:
        rule = replace(rule, while_=_read_condition(document["while"], "while"))
    rule = _resolved(rule, change.world, change.now_ms, category)
    if (rule.call or "").startswith(IDENTITY_PROVIDER):
        _check_at_identity_provider(kind, rule)
    if noun == "outcome":
        outcome = convert(options, OUTCOME_KINDS[kind])
        if not any(
            outcome.operation_outcome("", call)
            for call in (rule.call and [rule.call]) or category.calls
        ):
            message = f"operations of {rule.call} have no phase {outcome.at!r}"
            raise DocumentRefused(
                f"{message}; they have {', '.join(phases_of(rule.call))}", "phase"
            )
    order = next_number(change, f"{noun} order")
    return Fault(f"{noun}-{order + 1}", order, change.now_ms, kind, options, rule)


def _only_kind(document: Mapping[str, Any], category: RuleCategory) -> str:
    """Return the only kind that a document names. Raises DocumentRefused."""
    names = [name for name in document if name in category.kinds]
    if len(names) == 1:
        return names[0]
    rule = "a fault needs exactly one effect"
    if category.noun == "outcome":
        rule = "an outcome is exactly one"
    mistake = f"{' and '.join(names)} are given" if names else "none is given"
    raise DocumentRefused(f"{rule} of {', '.join(category.kinds)}; {mistake}")


def _check_at_identity_provider(kind: str, rule: Rule) -> None:
    """Refuse an effect that the identity provider, which has no problems, cannot have."""
    effect = fault_kinds()[kind]
    if kind in ("abort", "rate_limit"):
        message = f"{kind} returns a problem of the API, and {rule.call} has none; use respond"
        raise DocumentRefused(message, kind)
    whole = (
        effect.sends_nothing
        or effect.replaces_response
        or effect.delays
        or effect.delivers_response
    )
    if rule.commit_phase == "before_commit" and not whole:
        message = f"{kind} breaks a response: at {rule.call} it can only act after_commit"
        raise DocumentRefused(message, "phase")


def _read_condition(document: Any, path: str) -> Condition:
    if not isinstance(document, Mapping) or not document:
        raise DocumentRefused(f"{path} takes conditions, such as {{dns: expired}}", path)
    fields = [field.encode_name for field in msgspec.structs.fields(Condition)]
    for name in document:
        if name not in fields:
            hint = nearest(str(name), fields) or f"; there are {', '.join(fields)}"
            raise DocumentRefused(f"{path}: no condition is named {name!r}{hint}", path)
    rest = {name: value for name, value in document.items() if name != "not"}
    try:
        condition = read_fields(rest, Condition)
    except DocumentRefused as refused:
        where = f"{path}.{refused.field}" if refused.field else path
        raise DocumentRefused(f"{where}: {refused}", where) from None
    if "not" in document:
        condition = replace(condition, not_=_read_condition(document["not"], f"{path}.not"))
    return condition


def _read_effect(kind: str, options: Any, category: RuleCategory = FAULT) -> dict[str, Any]:
    """Check the options of a kind and return them without defaults. Raises DocumentRefused."""
    if options is True:
        options = None
    try:
        effect = read_options(kind, options, category.kinds[kind], "option", " ")
    except DocumentRefused as refused:
        path = f"{kind}.{refused.field}" if refused.field else kind
        raise DocumentRefused(str(refused), path) from None
    checked: dict[str, Any] = msgspec.to_builtins(effect)
    return checked


def _resolved(rule: Rule, world: World, now_ms: int, category: RuleCategory) -> Rule:
    """Return a rule with ids for names and timestamps for durations. Raises DocumentRefused."""
    from_ms = _moment(rule.from_, "from", now_ms)
    until_ms = _moment(rule.until, "until", now_ms)
    if rule.ttl is not None:
        try:
            ends_ms = now_ms + parse_duration_ms(rule.ttl)
        except ValueError as error:
            raise DocumentRefused(f"ttl: {error}", "ttl") from None
        until_ms = ends_ms if until_ms is None else min(until_ms, ends_ms)
    if until_ms is not None and until_ms <= max(now_ms, from_ms or 0):
        field = "until" if rule.until is not None else "ttl"
        raise DocumentRefused(f"{field}: this time has already passed", field)
    call = _checked_word(rule.call and call_named(rule.call), "call", category.calls)
    ids: dict[str, str] = {}
    for field, table in RECORD_TABLES.items():
        name = getattr(rule, field)
        if name is not None:
            ids[field] = id_of(world, table, name)
            if world.get(table, ids[field]) is None:
                raise DocumentRefused(not_found_message(world, table, name), field)
    method = _checked_word(rule.method and rule.method.upper(), "method", METHODS)
    rule = replace(rule, call=call, method=method, **ids)
    calls = calls_at(world.assumptions.operation_path)
    _check_possible(rule, [spec for spec in calls if spec.call_id in category.calls])
    return replace(
        rule,
        from_=None if from_ms is None else format_timestamp(from_ms),
        until=None if until_ms is None else format_timestamp(until_ms),
        ttl=None,
    )


def _check_possible(rule: Rule, calls: Sequence[CallSpec]) -> None:
    """Refuse a rule that no request can match, and name the field that excludes the last call."""
    if rule.call in DOORS:
        unknown = ["principal", "organization", "credentials"]
        if rule.call != REDEEM_TICKET:
            unknown.append("project")
        for field in unknown:
            if getattr(rule, field) is not None:
                raise DocumentRefused(f"it could never act: {rule.call} has no {field}", field)
        return
    if rule.credentials in ("none", "invalid"):
        field = "principal" if rule.principal is not None else "phase"
        if field == "principal" or rule.commit_phase == "after_commit":
            reason = (
                f"with credentials {rule.credentials} no user is known and nothing is committed"
            )
            raise DocumentRefused(f"it could never act: {reason}", field)
    left = calls
    tests: dict[str, Callable[[CallSpec], bool]] = {
        "call": lambda spec: rule.call in (None, spec.call_id),
        "method": lambda spec: rule.method in (None, spec.method),
        "project": lambda spec: rule.project is None or spec.subject != "organization",
        "path": lambda spec: rule.path is None or may_have_path(spec.path, rule.path),
    }
    for field, test in tests.items():
        rest = [spec for spec in left if test(spec)]
        if not rest:
            there = " or ".join(f"{spec.method} {spec.path}" for spec in left)
            if len(left) > 3:
                there = "any call; write it like /v1/projects/*/domains, without a query"
            message = f"it could never act: {field} {getattr(rule, field)!r} does not match {there}"
            raise DocumentRefused(message, field)
        left = rest


def _checked_word(word: str | None, field: str, words: tuple[str, ...]) -> str | None:
    if word is not None and word not in words:
        hint = nearest(word, words) or f"; it is one of {', '.join(words)}"
        raise DocumentRefused(f"there is no {field} {word!r}{hint}", field)
    return word


def moment_ms(text: str, now_ms: int) -> int | None:
    """Return the moment of a timestamp, or of a duration from now. None: the text is neither."""
    for read, since_ms in ((parse_duration_ms, now_ms), (parse_timestamp, 0)):
        with suppress(ValueError):
            return since_ms + read(text)
    return None


def _moment(text: str | None, field: str, now_ms: int) -> int | None:
    at_ms = None if text is None else moment_ms(text, now_ms)
    if text is not None and at_ms is None:
        form = "a timestamp (2026-01-31T09:30:00Z) nor a duration from now (10m)"
        raise DocumentRefused(f"{field} {text!r} is neither {form}", field)
    return at_ms


def invalid_reason(fault: Fault, category: RuleCategory) -> str | None:
    """Say why an imported fault or outcome could not act. None: it could."""
    if fault.kind not in category.kinds:
        return f"there is no kind of {category.noun} {fault.kind!r}"
    try:
        _read_effect(fault.kind, fault.options, category)
        _ = fault.rule.from_ms, fault.rule.until_ms  # each is read
    except ValueError as error:
        return str(error)
    return None
