"""Arms a fault or an outcome that is described by a document, in the format used in scenarios.

    {"abort": {"code": "service_unavailable"}, "call": "apply_project_domains", "times": 2}
    {"fail": {"phase": "deploying"}, "project": "blog"}

A document that names an unknown kind, call, code, project or field is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import IDENTITY_PROVIDER
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.documents import DocumentRefused, read_fields, sentence_about
from hosting_emulator.faults.alteration_rules import check_alteration
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.delivery_rules import check_delivery_rule
from hosting_emulator.faults.handshake_checks import check_handshake_rule
from hosting_emulator.faults.kinds import (
    RUNNING_CLOCKS,
    Stage,
    fault_kinds,
    has_phase,
    needs_running_clock,
)
from hosting_emulator.faults.kinds.abort import Abort
from hosting_emulator.faults.kinds.alter import Alter
from hosting_emulator.faults.kinds.stale_read import StaleRead
from hosting_emulator.faults.outcome_checks import check_outcome
from hosting_emulator.faults.outcomes import outcome_kinds
from hosting_emulator.faults.possible_rules import check_at_identity_provider
from hosting_emulator.faults.problem_status_rules import check_problem_status
from hosting_emulator.faults.rule_resolution import resolve_rule
from hosting_emulator.faults.stale_read_rules import check_stale_read
from hosting_emulator.faults.upload_checks import check_upload_rule
from hosting_emulator.faults.written_conditions import read_condition
from hosting_emulator.faults.written_effects import check_field_names, only_kind, read_effect
from hosting_emulator.world.fault_records import Fault, Rule
from hosting_emulator.world.streams import next_number
from hosting_emulator.world.value import Change, World

#: For each stage without a commit phase, why kinds in that stage do not accept `after_commit`.
_PHASE_REASONS: Mapping[Stage | None, str] = {
    "delivery": "{} takes no after_commit: the whole request is handled twice",
    "read": "{} takes no after_commit: a read is not committed, and only the response to the read changes",
    "response": "{} takes no after_commit: the response changes after the call has been handled",
}


def arm(change: Change, document: Mapping[str, Any], category: RuleCategory = FAULT) -> Fault:
    """Arm a fault or an outcome, after all entries that are already armed.

    Raises DocumentRefused for an invalid document.
    """
    fault = read_fault(change, document, category)
    change.put(category.table, fault.id, fault)
    return fault


def read_fault(
    change: Change, document: Mapping[str, Any], category: RuleCategory = FAULT
) -> Fault:
    """Parse and check a fault or an outcome without arming it. By default, an outcome acts once.

    Raises DocumentRefused for an invalid document.
    """
    check_field_names(document, category)
    kind = only_kind(document, category)
    options = read_effect(kind, document[kind], category)
    written_rule = _read_rule(document, kind, category)
    if category is FAULT and "after_commit" in document and not has_phase(kind):
        raise DocumentRefused(
            _PHASE_REASONS[fault_kinds()[kind].stage].format(kind), "after_commit"
        )
    rule = resolve_rule(written_rule, change.world, change.now_ms, category)
    if category is FAULT:
        _check_stage(kind, options, rule, change.world)
    if rule.call is not None and rule.call.startswith(IDENTITY_PROVIDER):
        check_at_identity_provider(kind, rule)
    if category is OUTCOME:
        _check_outcome(kind, options, rule, change.world)
    order = next_number(change, f"{category.noun} order")
    id_ = f"{category.noun}-{order + 1}"
    return Fault(id_, order, change.now_ms, kind, options, rule)


def _check_stage(kind: str, options: Mapping[str, Any], rule: Rule, world: World) -> None:
    """Raise DocumentRefused if a rule is not compatible with the kind of fault or with the kind's
    stage.
    """
    if needs_running_clock(kind) and world.clock.mode not in RUNNING_CLOCKS:
        message = (
            f"{kind} keeps requests waiting in real time, but the world's clock is "
            f"{world.clock.mode}, so the requests would wait forever. Use admission_window, or a "
            "real or scaled clock"
        )
        raise DocumentRefused(message, kind)
    effect = fault_kinds()[kind]
    if effect is Abort:
        check_problem_status(convert(options, Abort), rule, world.assumptions)
    stage = effect.stage
    if stage == "upload":
        check_upload_rule(kind, rule, calls_at(world.assumptions.operation_path))
    elif stage == "handshake":
        check_handshake_rule(kind, rule)
    elif stage == "delivery":
        check_delivery_rule(kind, rule)
    elif stage == "read":
        stale_read = convert(options, StaleRead)
        check_stale_read(stale_read, rule, calls_at(world.assumptions.operation_path))
    elif stage == "response":
        check_alteration(convert(options, Alter), rule, world.assumptions)


def _read_rule(document: Mapping[str, Any], kind: str, category: RuleCategory) -> Rule:
    """Return the rule that a document contains, without resolving its names and durations."""
    fields = {name: value for name, value in document.items() if name not in (kind, "while")}
    if category is OUTCOME:
        fields.setdefault("times", 1)
    try:
        rule = read_fields(fields, Rule)
    except DocumentRefused as refused:
        path = refused.field or f"the {category.noun}"
        raise DocumentRefused(sentence_about(path, str(refused)), refused.field) from None
    condition = document.get("while")
    if condition is None:
        return rule
    return replace(rule, while_=read_condition(condition, "while"))


def _check_outcome(kind: str, options: Mapping[str, Any], rule: Rule, world: World) -> None:
    """Raise DocumentRefused if an outcome cannot act on any operation started by the rule's calls."""
    outcome = convert(options, outcome_kinds()[kind])
    calls = (rule.call,) if rule.call else OUTCOME.calls
    check_outcome(outcome, rule, calls, world.assumptions)


def invalid_reason(fault: Fault, category: RuleCategory) -> str | None:
    """Return why an imported fault or outcome is invalid, or None if it is valid."""
    if fault.kind not in category.kinds:
        return f"there is no kind of {category.noun} {fault.kind!r}"
    try:
        read_effect(fault.kind, fault.options, category)
        # Access both properties, because each raises ValueError if its timestamp is invalid.
        _ = fault.rule.from_ms
        _ = fault.rule.until_ms
    except ValueError as error:
        return str(error)
    return None
