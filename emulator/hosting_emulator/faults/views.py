"""Builds the messages about faults, outcomes and their kinds that the control API sends."""

from __future__ import annotations

import msgspec

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.faults.categories import (
    FAULT,
    MATCH_FIELDS,
    OUTCOME,
    RECORD_TABLES,
    RULE_FIELDS,
    RuleCategory,
)
from hosting_emulator.faults.kinds import FaultKind, fault_kinds, has_phase
from hosting_emulator.faults.outcome_checks import outcome_note
from hosting_emulator.faults.outcomes import OutcomeKind, outcome_of
from hosting_emulator.faults.unused_entries import unused_reason
from hosting_emulator.faults.usage import EntryUsage
from hosting_emulator.messages import (
    FaultEffect,
    FaultKinds,
    FaultState,
    JsonObject,
    OutcomeState,
    merge_written,
)
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.fault_records import Fault, Rule, is_spent
from hosting_emulator.world.value import World

#: The fields that `written_document` puts at the end or leaves out.
_LATER_FIELDS = (*RECORD_TABLES, "from", "until", "after_commit", "optional")


def written_document(world: World, fault: Fault) -> JsonObject:
    """Return the document that describes a fault or an outcome, as written in a scenario.

    The document contains the kind with its options, and the rule's fields except `after_commit` and
    `optional`.
    """
    rule: JsonObject = msgspec.to_builtins(fault.rule)
    document: JsonObject = {fault.kind: fault.options}
    for name in RULE_FIELDS:
        if name in rule and name not in _LATER_FIELDS:
            document[name] = rule[name]
    for field, table in RECORD_TABLES.items():
        record = world.get(table, rule.get(field, ""))
        if record is not None:
            document[field] = record.alias
    for name in ("from", "until"):
        if name in rule:
            document[name] = rule[name]
    return document


def _acts_after_commit(fault: Fault) -> bool | None:
    """Return whether a fault acts after the commit, or None if its kind has no commit phase."""
    if not has_phase(fault.kind):
        return None
    return fault.rule.after_commit


def fault_state(
    world: World, fault: Fault, now_ms: int, usage: EntryUsage, *, is_protected: bool = False
) -> FaultState:
    """Return the state of an armed fault. `usage` contains the counts that are not part of the world."""
    return FaultState(
        id=fault.id,
        order=fault.order,
        written=written_document(world, fault),
        after_commit=_acts_after_commit(fault),
        optional=fault.rule.optional or None,
        armed_at=format_timestamp(fault.armed_ms),
        considered=usage.considered,
        seen=fault.seen,
        hits=fault.hits,
        spent=is_spent(fault, now_ms),
        unused=unused_reason(usage, world, fault, now_ms),
        note=fault_kinds()[fault.kind].note(fault.rule),
        protected=is_protected or None,
    )


def outcome_state(
    world: World, outcome: Fault, now_ms: int, usage: EntryUsage, *, is_protected: bool = False
) -> OutcomeState:
    """Return the state of an armed outcome. `usage` contains the counts that are not part of the
    world.
    """
    return OutcomeState(
        id=outcome.id,
        order=outcome.order,
        written=written_document(world, outcome),
        optional=outcome.rule.optional or None,
        armed_at=format_timestamp(outcome.armed_ms),
        considered=usage.considered,
        seen=outcome.seen,
        hits=outcome.hits,
        spent=is_spent(outcome, now_ms),
        unused=unused_reason(usage, world, outcome, now_ms),
        note=outcome_note(outcome_of(outcome), outcome.rule, OUTCOME.calls, world.assumptions),
        protected=is_protected or None,
    )


def armed_document(
    world: World,
    rule: Fault,
    now_ms: int,
    usage: EntryUsage,
    category: RuleCategory,
    *,
    is_protected: bool = False,
) -> JsonObject:
    """Return an armed fault or outcome in the form in which the control API sends it.

    The document combines the members that the user wrote with those of FaultState or OutcomeState.
    The document is a plain JSON object, because which members a user writes depends on the kind and
    the rule.
    """
    state: FaultState | OutcomeState
    if category is FAULT:
        state = fault_state(world, rule, now_ms, usage, is_protected=is_protected)
    else:
        state = outcome_state(world, rule, now_ms, usage, is_protected=is_protected)
    return merge_written(state)


def describe_outcome_kinds() -> FaultKinds:
    """Return the catalog of outcome kinds."""
    return describe_kinds(OUTCOME)


def describe_kinds(category: RuleCategory = FAULT) -> FaultKinds:
    """Return the catalog for a category: its kinds, and the fields of its rules."""
    fields = _descriptions(Rule)
    matches = {}
    conditions = {}
    for name in category.fields:
        if name in MATCH_FIELDS:
            matches[name] = fields[name]
        else:
            conditions[name] = fields[name]
    effects = [_describe_kind(name, kind) for name, kind in category.kinds.items()]
    return FaultKinds(
        effects=effects, matches=matches, conditions=conditions, while_=_descriptions(Condition)
    )


def _describe_kind(name: str, kind: type[FaultKind | OutcomeKind]) -> FaultEffect:
    return FaultEffect(
        kind=name,
        about=" ".join((kind.__doc__ or "").split()),
        options=[field.encode_name for field in msgspec.structs.fields(kind)],
        example=dict(kind.example),
    )


def _descriptions(kind: type[Rule | Condition]) -> dict[str, str]:
    """Return the descriptions of a record type's fields, by field name."""
    return {
        field.encode_name: field.type.__metadata__[-1].description
        for field in msgspec.structs.fields(kind)
    }
