"""Reading a fault as people write it: one effect by its name, what it matches, when it acts.

    {"abort": {"code": "service_unavailable"}, "call": "apply_project_domains", "times": 2}

Whatever is unknown (a call, a code, a project, a field) is refused here, when it is armed, and not
found out later by a fault that never acts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.contract.words import nearest, plainly
from hosting_emulator.world.fault_records import KINDS, Effect, Fault, Phase
from hosting_emulator.world.naming import N, id_of, not_found
from hosting_emulator.world.streams import next_number
from hosting_emulator.world.tables import FAULTS, PEOPLE, PROJECTS, Table
from hosting_emulator.world.value import Change, World

CALL_IDS = tuple(ALL_CALLS)
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class FaultRefused(ValueError):
    """A fault that cannot be armed; `field` says where (`abort.code`), the message what is right."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class RuleFields(msgspec.Struct, forbid_unknown_fields=True, rename={"from_": "from"}):
    """All of a fault but its effect, as it is written."""

    call: str | None = None
    project: str | None = None
    principal: str | None = None
    method: str | None = None
    path: str | None = None
    header: dict[str, str] | None = None
    times: Annotated[int, Meta(ge=1)] | None = None
    skip_first: Annotated[int, Meta(ge=0)] = 0
    every: Annotated[int, Meta(ge=1)] = 1
    probability: Annotated[float, Meta(gt=0, le=1)] = 1.0
    from_: str | None = None
    until: str | None = None
    ttl: str | None = None
    phase: Phase = "before_commit"


RULE_FIELDS = tuple(f.encode_name for f in msgspec.structs.fields(RuleFields))


def arm(change: Change, document: Mapping[str, Any]) -> Fault:
    """Arm a fault in a world, after all that are armed there. Raises FaultRefused."""
    fault = read_fault(change, document)
    change.put(FAULTS, fault.id, fault)
    return fault


def read_fault(change: Change, document: Mapping[str, Any]) -> Fault:
    """Read and check a fault against a world. Raises FaultRefused."""
    effect = _read_effect(document)
    rule = _read_rule({name: value for name, value in document.items() if name not in KINDS})
    now_ms = change.now_ms
    order = next_number(change, "fault order")
    until_ms = _moment(rule.until, "until", now_ms)
    if rule.ttl is not None:
        ends_ms = now_ms + _duration(rule.ttl, "ttl")
        until_ms = ends_ms if until_ms is None else min(until_ms, ends_ms)
    from_ms = _moment(rule.from_, "from", now_ms)
    if until_ms is not None and until_ms <= max(now_ms, from_ms or 0):
        field = "until" if rule.until is not None else "ttl"
        raise FaultRefused(f"{field}: it would be over before it could act", field)
    return Fault(
        id=f"fault-{order + 1}",
        order=order,
        armed_ms=now_ms,
        effect=effect,
        phase=rule.phase,
        call=_known(rule.call, "call", CALL_IDS),
        project=_record_id(change.world, PROJECTS, rule.project, "project"),
        principal=_record_id(change.world, PEOPLE, rule.principal, "principal"),
        method=_known(rule.method, "method", _METHODS),
        path=_pattern(rule.path),
        header=rule.header,
        times=rule.times,
        skip_first=rule.skip_first,
        every=rule.every,
        probability=rule.probability,
        from_ms=from_ms,
        until_ms=until_ms,
    )


def _read_effect(document: Mapping[str, Any]) -> Effect:
    named = [name for name in document if name in KINDS]
    if len(named) != 1:
        unknown = next((n for n in document if n not in KINDS and n not in RULE_FIELDS), "")
        hint = nearest(unknown, (*KINDS, *RULE_FIELDS)) if unknown else ""
        found = f"{' and '.join(named)} are given" if named else "none is given"
        if unknown:
            raise FaultRefused(f"a fault has no field {unknown!r}{hint}", unknown)
        raise FaultRefused(f"a fault needs exactly one effect of {', '.join(KINDS)}; {found}")
    kind, options = named[0], document[named[0]]
    if options is None or options is True:
        options = {}
    if not isinstance(options, Mapping):
        raise FaultRefused(f"{kind} takes an object of options, such as {{}}", kind)
    fields = {f.encode_name for f in msgspec.structs.fields(KINDS[kind])}
    for name in options:
        if name not in fields:
            hint = nearest(str(name), fields)
            takes = ", ".join(sorted(fields)) or "nothing"
            message = f"{kind} has no option {name!r} (it takes {takes}){hint}"
            raise FaultRefused(message, f"{kind}.{name}")
    try:
        effect: Effect = msgspec.convert({**options, "kind": kind}, Effect)
    except msgspec.ValidationError as error:
        field = _option_at_fault(str(error), options)
        message = f"{kind}: {plainly(str(error), KINDS[kind], field)}"
        raise FaultRefused(message, f"{kind}.{field}" if field else kind) from None
    return effect


def _read_rule(document: Mapping[str, Any]) -> RuleFields:
    for name in document:
        if name not in RULE_FIELDS:
            hint = nearest(str(name), (*RULE_FIELDS, *KINDS))
            raise FaultRefused(f"a fault has no field {name!r}{hint}", str(name))
    try:
        return msgspec.convert(dict(document), RuleFields)
    except msgspec.ValidationError as error:
        field = re.search(r"`\$\.([a-z_]+)", str(error))
        name = field.group(1) if field else ""
        message = f"{name or 'the fault'}: {plainly(str(error), RuleFields, name)}"
        raise FaultRefused(message, name) from None


def _option_at_fault(message: str, options: Mapping[str, Any]) -> str:
    found = re.search(r" - at `\$\.([a-z_]+)", message)
    if found:
        return found.group(1)
    texts = {name: value for name, value in options.items() if isinstance(value, str)}
    return next((name for name, value in texts.items() if repr(value) in message), "")


def _known(word: str | None, field: str, known: tuple[str, ...]) -> str | None:
    if word is not None and word not in known:
        hint = nearest(word, known) or f"; it is one of {', '.join(known)}"
        raise FaultRefused(f"there is no {field} {word!r}{hint}", field)
    return word


def _record_id(world: World, table: Table[N], name: str | None, field: str) -> str | None:
    """Return the id of a project or person given by alias or id; it must be there."""
    if name is None:
        return None
    key = id_of(world, table, name)
    if world.get(table, key) is None:
        raise FaultRefused(not_found(world, table, name), field)
    return key


def _pattern(path: str | None) -> str | None:
    if path is not None and not path.startswith("/"):
        raise FaultRefused(
            f"the path {path!r} does not begin with /; write it like /v1/projects/*/domains", "path"
        )
    return path


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
        raise FaultRefused(
            f"{field} {text!r} is neither a timestamp (2026-01-31T09:30:00Z) nor a duration from "
            "now (10m)",
            field,
        ) from None


def _duration(text: str, field: str) -> int:
    try:
        return parse_duration_ms(text)
    except ValueError as error:
        raise FaultRefused(f"{field}: {error}", field) from None
