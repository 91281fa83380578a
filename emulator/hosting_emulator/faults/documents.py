"""Faults as people write and see them: one effect by its name, what it matches, when it acts.

    {"abort": {"code": "service_unavailable"}, "call": "apply_project_domains", "times": 2}

Whatever is unknown (a call, a code, a project, a field) is refused here, when it is armed, and not
found out later by a fault that never acts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

import msgspec
from msgspec.structs import replace

from hosting_emulator.contract.calls import ALL_CALLS, CallSpec, CallTable, calls_at
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.contract.words import DocumentRefused, nearest, read_fields
from hosting_emulator.faults.decisions import fits, spent
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.world.fault_records import Fault, Rule
from hosting_emulator.world.naming import N, id_of, not_found
from hosting_emulator.world.streams import next_number
from hosting_emulator.world.tables import FAULTS, PEOPLE, PROJECTS, Table
from hosting_emulator.world.value import Change, World

METHODS = tuple(sorted({spec.method for spec in ALL_CALLS.values()}))
RULE_FIELDS = tuple(f.encode_name for f in msgspec.structs.fields(Rule))
_MATCHES = ("call", "project", "principal", "method", "path", "header")


def arm(change: Change, document: Mapping[str, Any]) -> Fault:
    """Arm a fault in a world, after all that are armed there. Raises DocumentRefused."""
    fault = read_fault(change, document)
    change.put(FAULTS, fault.id, fault)
    return fault


def read_fault(change: Change, document: Mapping[str, Any]) -> Fault:
    """Read and check a fault against a world. Raises DocumentRefused."""
    kinds = fault_kinds()
    for name in document:
        if name not in kinds and name not in RULE_FIELDS:
            hint = nearest(str(name), (*kinds, *RULE_FIELDS))
            raise DocumentRefused(f"a fault has no field {name!r}{hint}", str(name))
    named = [name for name in document if name in kinds]
    if len(named) != 1:
        found = f"{' and '.join(named)} are given" if named else "none is given"
        raise DocumentRefused(f"a fault needs exactly one effect of {', '.join(kinds)}; {found}")
    kind = named[0]
    options = read_options(kind, document[kind])
    try:
        written = read_fields({n: value for n, value in document.items() if n != kind}, Rule)
    except DocumentRefused as refused:
        message = f"{refused.field or 'the fault'}: {refused}"
        raise DocumentRefused(message, refused.field) from None
    rule = _resolved(written, change.world, change.now_ms)
    order = next_number(change, "fault order")
    return Fault(f"fault-{order + 1}", order, change.now_ms, kind, options, rule)


def read_options(kind: str, options: Any) -> dict[str, Any]:
    """Return a kind's options as they are kept: checked, without defaults. Raises DocumentRefused."""
    if options is None or options is True:
        options = {}
    if not isinstance(options, Mapping):
        raise DocumentRefused(f"{kind} takes an object of options, such as {{}}", kind)
    known = fault_kinds()[kind]
    fields = {f.encode_name for f in msgspec.structs.fields(known)}
    for name in options:
        if name not in fields:
            hint = nearest(str(name), fields)
            takes = ", ".join(sorted(fields)) or "nothing"
            message = f"{kind} has no option {name!r} (it takes {takes}){hint}"
            raise DocumentRefused(message, f"{kind}.{name}")
    try:
        kept: dict[str, Any] = msgspec.to_builtins(read_fields(options, known))
    except DocumentRefused as refused:
        place = f"{kind}.{refused.field}" if refused.field else kind
        raise DocumentRefused(f"{kind}: {refused}", place) from None
    return kept


def _resolved(rule: Rule, world: World, now_ms: int) -> Rule:
    """Return a rule as it is kept: ids for names, timestamps for durations. Raises DocumentRefused."""
    from_ms, until_ms = _moment(rule.from_, "from", now_ms), _moment(rule.until, "until", now_ms)
    if rule.ttl is not None:
        try:
            ends_ms = now_ms + parse_duration_ms(rule.ttl)
        except ValueError as error:
            raise DocumentRefused(f"ttl: {error}", "ttl") from None
        until_ms = ends_ms if until_ms is None else min(until_ms, ends_ms)
    if until_ms is not None and until_ms <= max(now_ms, from_ms or 0):
        field = "until" if rule.until is not None else "ttl"
        raise DocumentRefused(f"{field}: it would be over before it could act", field)
    rule = replace(
        rule,
        call=_known(rule.call, "call", tuple(ALL_CALLS)),
        project=_record_id(world, PROJECTS, rule.project, "project"),
        principal=_record_id(world, PEOPLE, rule.principal, "principal"),
        method=_known(rule.method, "method", METHODS),
    )
    _check_possible(rule, calls_at(world.assumptions.operation_path))
    return replace(
        rule,
        from_=None if from_ms is None else format_timestamp(from_ms),
        until=None if until_ms is None else format_timestamp(until_ms),
        ttl=None,
    )


def _check_possible(rule: Rule, calls: CallTable) -> None:
    """Refuse a rule that no request can match, naming the field that leaves no call over."""
    left = list(calls)
    tests: dict[str, Callable[[CallSpec], bool]] = {
        "call": lambda spec: rule.call in (None, spec.call_id),
        "method": lambda spec: rule.method in (None, spec.method),
        "project": lambda spec: rule.project is None or spec.subject != "organization",
        "path": lambda spec: rule.path is None or _may_be(spec, rule.path),
    }
    for field, test in tests.items():
        if not (rest := [spec for spec in left if test(spec)]):
            there = " or ".join(f"{spec.method} {spec.path}" for spec in left)
            if len(left) > 3:
                there = "any call; write it like /v1/projects/*/domains, without a query"
            message = f"it could never act: {field} {getattr(rule, field)!r} does not fit {there}"
            raise DocumentRefused(message, field)
        left = rest


def _may_be(spec: CallSpec, pattern: str) -> bool:
    """Tell whether a call's path can be what a pattern says, with a part of that as its id."""
    before, _, after = re.split(r"(\{\w+\})", spec.path)
    return any(
        fits(f"{before}{part.replace('*', 'x') or 'x'}{after}", pattern)
        for part in pattern.removesuffix(after).split("/")
    )


def _known(word: str | None, field: str, known: tuple[str, ...]) -> str | None:
    if word is not None and word not in known:
        hint = nearest(word, known) or f"; it is one of {', '.join(known)}"
        raise DocumentRefused(f"there is no {field} {word!r}{hint}", field)
    return word


def _record_id(world: World, table: Table[N], name: str | None, field: str) -> str | None:
    """Return the id of a project or person given by alias or id; it must be there."""
    if name is None:
        return None
    key = id_of(world, table, name)
    if world.get(table, key) is None:
        raise DocumentRefused(not_found(world, table, name), field)
    return key


def _moment(text: str | None, field: str, now_ms: int) -> int | None:
    """Read a moment: a timestamp, or a duration from now."""
    if text is None:
        return None
    try:
        return now_ms + parse_duration_ms(text)
    except ValueError:
        pass
    try:
        return parse_timestamp(text)
    except ValueError:
        raise DocumentRefused(
            f"{field} {text!r} is neither a timestamp (2026-01-31T09:30:00Z) nor a duration from "
            "now (10m)",
            field,
        ) from None


def what_is_wrong(fault: Fault) -> str | None:
    """Say why a fault that comes from outside could not act; None: it can."""
    if fault.kind not in fault_kinds():
        return f"there is no kind of fault {fault.kind!r}"
    try:
        read_options(fault.kind, fault.options)
        for moment in filter(None, (fault.rule.from_, fault.rule.until)):
            parse_timestamp(moment)
    except ValueError as error:
        return str(error)
    return None


# --- showing ---------------------------------------------------------------------------------------


def fault_view(world: World, fault: Fault, now_ms: int) -> dict[str, Any]:
    """Return a fault: its effect by name, its match and counts, and whether it can still act."""
    rule: dict[str, Any] = msgspec.to_builtins(fault.rule)
    shown = {name: rule[name] for name in RULE_FIELDS if name in rule and name not in _NAMED}
    project = world.get(PROJECTS, fault.rule.project or "")
    person = world.get(PEOPLE, fault.rule.principal or "")
    return {
        "id": fault.id,
        "order": fault.order,
        fault.kind: fault.options,
        **shown,
        **({"project": project.alias} if project else {}),
        **({"principal": person.alias} if person else {}),
        **{name: rule[name] for name in ("from", "until") if name in rule},
        "phase": fault.rule.phase,
        "armed_at": format_timestamp(fault.armed_ms),
        "seen": fault.seen,
        "hits": fault.hits,
        "spent": spent(fault, now_ms),
    }


#: These stand behind the others, as they are written for people.
_NAMED = ("project", "principal", "from", "until", "phase")


def describe_kinds() -> dict[str, Any]:
    """Return effects (with options and an example), matches and conditions."""
    hints = get_type_hints(Rule, include_extras=True)
    rule = {
        field.encode_name: str(hints[field.name].__metadata__[-1].description)
        for field in msgspec.structs.fields(Rule)
    }
    return {
        "effects": [
            {
                "kind": name,
                "about": (kind.__doc__ or "").strip(),
                "options": [field.encode_name for field in msgspec.structs.fields(kind)],
                "example": dict(kind.example),
            }
            for name, kind in fault_kinds().items()
        ],
        "matches": {name: about for name, about in rule.items() if name in _MATCHES},
        "conditions": {name: about for name, about in rule.items() if name not in _MATCHES},
    }
