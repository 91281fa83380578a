"""Integrity: whether rows from outside fit together, so that no request can trip over them later.

Only an import needs this: what the emulator wrote itself is guarded by checksums. It says what is
wrong with the first row that is; it mends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from hosting_emulator.contract.assumptions import (
    DEFAULTS,
    PERMISSIONS,
    PHASES,
    AssumptionRefused,
)
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.faults.documents import what_is_wrong
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.variation.points import VariationRefused
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import lifecycles
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.operations import APPLY_DOMAINS, HELD, INITIALIZE, finished, plan_of

Rows = Mapping[str, Mapping[str, Any]]
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
#: Far beyond any real count, and still within what ids and JSON numbers can carry.
_MOST_DRAWS = 2**31
_MOST_MS = 2**53
_RULE = "rule of a fault"
#: table -> field -> the table that has a row by that name.
_LINKS: dict[str, dict[str, t.Table[Any]]] = {
    t.MEMBERSHIPS.name: {"organization_id": t.ORGANIZATIONS, "person_id": t.PEOPLE},
    t.PROJECTS.name: {
        "organization_id": t.ORGANIZATIONS,
        "claim": t.OPERATIONS,
        "queue_head": t.OPERATIONS,
        "queue_tail": t.OPERATIONS,
    },
    t.GRANTS.name: {"project_id": t.PROJECTS, "person_id": t.PEOPLE},
    t.OPERATIONS.name: {
        "project_id": t.PROJECTS,
        "deployment_id": t.DEPLOYMENTS,
        "event": t.SCHEDULE,
        "next_waiting": t.OPERATIONS,
    },
    t.DEPLOYMENTS.name: {"project_id": t.PROJECTS, "operation_id": t.OPERATIONS},
    t.TICKETS.name: {"project_id": t.PROJECTS, "principal": t.PEOPLE},
    t.API_KEYS.name: {"organization_id": t.ORGANIZATIONS, "person_id": t.PEOPLE},
    _RULE: {"project": t.PROJECTS, "principal": t.PEOPLE},
}
#: table -> field -> the words it may have.
_WORDS: dict[str, dict[str, Iterable[str]]] = {
    t.OPERATIONS.name: {
        "state": lifecycles.OPERATION.transitions,
        "phase": PHASES,
        "kind": (INITIALIZE, APPLY_DOMAINS, HELD),
    },
    t.DEPLOYMENTS.name: {"status": lifecycles.DEPLOYMENT.transitions},
    t.DNS.name: {"status": lifecycles.DNS_AUTHORIZATION.transitions},
    t.ORGANIZATIONS.name: {"permissions": PERMISSIONS},
    t.API_KEYS.name: {"permissions": PERMISSIONS},
}
#: What the first answer of each idempotent call was about.
_SUBJECTS: dict[str, t.Table[Any]] = {
    "set_project_powered_by_flag": t.PROJECTS,
    INITIALIZE: t.OPERATIONS,
    APPLY_DOMAINS: t.OPERATIONS,
    "create_user_api_key": t.API_KEYS,
}


def check_integrity(rows: Rows) -> None:
    """Raise StateRefused, naming table and row, when rows do not make a world that works."""
    for table, found in rows.items():
        for key, record in found.items():
            wrong = _wrong(rows, table, key, record)
            if wrong is not None:
                raise StateRefused(f"table {table}, row {key}: {wrong}")


def _wrong(rows: Rows, table: str, key: str, record: Any) -> str | None:
    if table == t.STREAMS.name:
        return None if 0 <= record < _MOST_DRAWS else f"{record} is no number of draws"
    wrong = _wrong_key(rows, table, key, record) or _wrong_fields(rows, table, record)
    special = _SPECIAL.get(table)
    return wrong or (special(rows, key, record) if special else None)


def _wrong_key(rows: Rows, table: str, key: str, record: Any) -> str | None:
    match record:
        case r.Membership():
            right = f"{record.organization_id}/{record.person_id}"
        case r.Grant():
            right = f"{record.project_id}/{record.person_id}"
        case r.Event():
            right = str(record.sequence)
        case r.Dns() | r.Database():
            project_id, _, environment = key.partition("/")
            known = project_id in rows.get(t.PROJECTS.name, {})
            fits = environment in (("dev", "prod") if isinstance(record, r.Database) else ("",))
            return None if known and fits else "there is no such project"
        case Fault():
            right = record.id
        case r.Remembered() | r.ClockState() | r.Origin() | r.Planned() | r.Variation():
            return None
        case _:
            right = getattr(record, "id", key)
            if right == key and key != t.ONLY and not is_ulid(key):
                return "its id is no Ulid"
    return None if right == key else f"it should be under {right!r}"


def _wrong_fields(rows: Rows, table: str, record: Any) -> str | None:
    try:
        msgspec.json.encode(record)
    except (OverflowError, UnicodeEncodeError) as error:
        return f"it cannot be written: {error}"
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if name.endswith("_at") and value is not None and not _TIMESTAMP.fullmatch(value):
            return f"{name} is not like 2026-01-31T09:30:00.000Z"
        if name.endswith("_ms") and value is not None and abs(value) > _MOST_MS:
            return f"{name} is out of range"
    for name, target in _LINKS.get(table, {}).items():
        value = getattr(record, name)
        if value is not None and value not in rows.get(target.name, {}):
            return f"{name}: there is no {value!r} in {target.name}"
    for name, words in _WORDS.get(table, {}).items():
        value = getattr(record, name)
        if not ({value} if isinstance(value, str) else {*value}) <= {*words}:
            return f"{name} is none of {', '.join(words)}"
    return None


def _wrong_project(rows: Rows, key: str, project: r.Project) -> str | None:
    operations = rows.get(t.OPERATIONS.name, {})
    claimed = operations.get(project.claim or "")
    if claimed is not None and (finished(claimed) or claimed.project_id != key):
        return "its claim is held by an operation that is not its own, or has ended"
    if claimed is None and project.queue_head is not None:
        return "operations wait for a claim that nobody holds"
    seen: list[str] = []
    waiting = project.queue_head
    while waiting is not None:
        if waiting in seen[-1:] or len(seen) > len(operations):
            return "its queue of operations never ends"
        seen.append(waiting)
        if operations[waiting].project_id != key or waiting == project.claim:
            return "an operation waits in its queue that should not"
        waiting = operations[waiting].next_waiting
        if waiting is not None and waiting not in operations:
            return "its queue of operations is broken"
    return (
        None if project.queue_tail == (seen[-1] if seen else None) else "its queue has another end"
    )


def _wrong_operation(rows: Rows, key: str, operation: r.Operation) -> str | None:
    event = rows.get(t.SCHEDULE.name, {}).get(operation.event or "")
    if event is not None and (event.kind != "operation_step" or event.subject != key):
        return "its event is about something else"
    plan = plan_of(operation)
    if not 0 <= operation.step <= len(plan):
        return "step is out of range"
    if finished(operation):
        return None if event is None else "it has ended and still has an event"
    if operation.step == len(plan) or plan[operation.step].state != operation.state:
        return f"step {operation.step} of its plan is not {operation.state}"
    deployment = rows.get(t.DEPLOYMENTS.name, {}).get(operation.deployment_id or "")
    if deployment is not None and deployment.status != plan[operation.step].deployment:
        return f"its deployment cannot be {deployment.status} at step {operation.step}"
    return None


def _wrong_event(rows: Rows, key: str, event: r.Event) -> str | None:
    if event.sequence >= rows.get(t.STREAMS.name, {}).get("schedule", 0):
        return "its sequence was not drawn yet"
    if event.kind == "dns_expiry":
        known = event.subject in rows.get(t.PROJECTS.name, {})
        return None if known else f"there is no project {event.subject!r}"
    if event.kind == "timeline":
        planned = event.subject in rows.get(t.TIMELINE.name, {})
        return None if planned else f"nothing is planned as {event.subject!r}"
    operation = rows.get(t.OPERATIONS.name, {}).get(event.subject)
    return None if operation and operation.event == key else "no operation waits for it"


def _wrong_fault(rows: Rows, key: str, fault: Fault) -> str | None:
    drawn = rows.get(t.STREAMS.name, {}).get("fault order", 0)
    if f"fault-{fault.order + 1}" != key or not 0 <= fault.order < drawn:
        return "its order was not drawn yet, or is not that of its id"
    return _wrong_fields(rows, _RULE, fault.rule) or what_is_wrong(fault)


def _wrong_database(_: Rows, key: str, database: r.Database) -> str | None:
    placement = database.placement
    states = {placement.state, placement.pending_state} - {None} if placement else set()
    return None if states <= set(lifecycles.DATABASE.transitions) else "its state is unknown"


def _wrong_answer(rows: Rows, key: str, answer: r.Remembered) -> str | None:
    if not 200 <= answer.status <= 599:
        return f"{answer.status} is no status"
    if answer.status >= 400:
        return None if '"request_id":' in answer.body else "its body is no problem document"
    target = _SUBJECTS.get(answer.call_id)
    if target is None:
        return f"no call {answer.call_id!r} remembers answers"
    known = answer.subject in rows.get(target.name, {})
    return None if known else f"there is no {answer.subject!r} in {target.name}"


def _wrong_clock(_: Rows, key: str, clock: r.ClockState) -> str | None:
    rate = None if clock.mode != "scaled" and clock.rate == 1.0 else clock.rate
    return _wrong_start(clock.mode, rate, clock.world_ms)


def _wrong_origin(rows: Rows, _: str, origin: r.Origin) -> str | None:
    varied = origin.variation
    if varied is not None and (wrong := _wrong_variation(rows, t.ONLY, varied)):
        return wrong
    return _wrong_start(origin.mode, origin.rate, origin.at_ms)


def _wrong_start(mode: str, rate: float | None, at_ms: int | None) -> str | None:
    try:
        clocks.start(mode, rate, at_ms, 0)
    except clocks.ClockRefused as error:
        return str(error)
    return None


def _wrong_variation(_: Rows, key: str, variation: r.Variation) -> str | None:
    try:
        read_variation(variation.seed, variation.only)
        DEFAULTS.changed(variation.assumed)
    except (VariationRefused, AssumptionRefused) as error:
        return str(error)
    return None if key == t.ONLY else f"it should be under {t.ONLY!r}"


_SPECIAL: dict[str, Callable[[Rows, str, Any], str | None]] = {
    t.PROJECTS.name: _wrong_project,
    t.OPERATIONS.name: _wrong_operation,
    t.SCHEDULE.name: _wrong_event,
    t.DATABASES.name: _wrong_database,
    t.FAULTS.name: _wrong_fault,
    t.REMEMBERED.name: _wrong_answer,
    t.CLOCK.name: _wrong_clock,
    t.ORIGIN.name: _wrong_origin,
    t.VARIATION.name: _wrong_variation,
}
