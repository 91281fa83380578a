"""Integrity: whether rows from outside fit together, so that no request can trip over them later.

Only an import needs this: what the emulator wrote itself is guarded by checksums. It says what is
wrong with the first row that is; it mends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from hosting_emulator.contract.assumptions import DEFAULTS, PERMISSIONS, PHASES
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.faults.documents import FAULT, OUTCOME, what_is_wrong
from hosting_emulator.storage.format import StateRefused
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
#: The table that has a row by the name in a field.
_LINKS: dict[str, t.Table[Any]] = {
    **dict.fromkeys(("organization_id", "organization"), t.ORGANIZATIONS),
    **dict.fromkeys(("person_id", "principal", "flag_enabled_by"), t.PEOPLE),
    **dict.fromkeys(("project_id", "project"), t.PROJECTS),
    **dict.fromkeys(
        ("claim", "queue_head", "queue_tail", "next_waiting", "operation_id"), t.OPERATIONS
    ),
    "deployment_id": t.DEPLOYMENTS,
    "event": t.SCHEDULE,
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
#: Under which key a row stands, where that is not its id.
_KEYS: dict[str, Callable[[Any], str]] = {
    t.MEMBERSHIPS.name: lambda row: f"{row.organization_id}/{row.person_id}",
    t.GRANTS.name: lambda row: f"{row.project_id}/{row.person_id}",
    t.SCHEDULE.name: lambda row: str(row.sequence),
    t.FAULTS.name: lambda row: f"fault-{row.order + 1}",
    t.OUTCOMES.name: lambda row: f"outcome-{row.order + 1}",
    **{table.name: lambda _: t.ONLY for table in (t.CLOCK, t.ASSUMPTIONS, t.ORIGIN, t.VARIATION)},
}


def _must(sound: object, otherwise: str) -> None:
    if not sound:
        raise ValueError(otherwise)


def check_integrity(rows: Rows) -> None:
    """Raise StateRefused, naming table and row, when rows do not make a world that works."""
    for table, records in rows.items():
        for key, record in records.items():
            try:
                if table == t.STREAMS.name:
                    _must(0 <= record < _MOST_DRAWS, f"{record} is not a number of draws")
                    continue
                right: str | None = getattr(record, "id", None)
                if table in _KEYS:
                    right = _KEYS[table](record)
                elif right is not None:
                    _must(is_ulid(right), "its id is no Ulid")
                _must(right in (None, key), f"it should be under {right!r}")
                _check_fields(rows, table, record)
                if check := _CHECKS.get(table):
                    check(rows, key, record)
            except ValueError as broken:
                raise StateRefused(f"table {table}, row {key}: {broken}") from None


def _check_fields(rows: Rows, table: str, record: Any) -> None:
    try:
        msgspec.json.encode(record)
    except (OverflowError, UnicodeEncodeError) as error:
        raise ValueError(f"it cannot be written: {error}") from None
    words = _WORDS.get(table, {})
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value is None:
            continue
        if name.endswith("_at"):
            _must(_TIMESTAMP.fullmatch(value), f"{name} is not like 2026-01-31T09:30:00.000Z")
        elif name.endswith("_ms"):
            _must(abs(value) <= _MOST_MS, f"{name} is out of range")
        elif name in _LINKS:
            target = _LINKS[name].name
            _must(value in rows[target], f"{name}: there is no {value!r} in {target}")
        elif name in words:
            given = {value} if isinstance(value, str) else {*value}
            _must(given <= {*words[name]}, f"{name} is none of {', '.join(words[name])}")


def _check_of_project(rows: Rows, key: str, record: Any) -> None:
    project_id, _, environment = key.partition("/")
    fits = environment in (("dev", "prod") if isinstance(record, r.Database) else ("",))
    _must(fits and project_id in rows[t.PROJECTS.name], "there is no such project")


def _check_database(rows: Rows, key: str, database: r.Database) -> None:
    _check_of_project(rows, key, database)
    placement = database.placement
    states = {placement.state, placement.pending_state} - {None} if placement else set()
    _must(states <= set(lifecycles.DATABASE.transitions), "its state is unknown")


def _check_project(rows: Rows, key: str, project: r.Project) -> None:
    operations = rows[t.OPERATIONS.name]
    claimed = operations.get(project.claim or "")
    _must(
        claimed is None or (not finished(claimed) and claimed.project_id == key),
        "its claim is held by an operation that is not its own, or has ended",
    )
    _must(claimed or project.queue_head is None, "operations wait for a claim that nobody holds")
    last, waiting, steps = None, project.queue_head, 0
    while waiting is not None:
        _must(steps <= len(operations), "its queue of operations never ends")
        _must(waiting in operations, "its queue of operations is broken")
        _must(
            operations[waiting].project_id == key and waiting != project.claim,
            "an operation waits in its queue that should not",
        )
        last, waiting, steps = waiting, operations[waiting].next_waiting, steps + 1
    _must(project.queue_tail == last, "its queue has another end")


def _check_operation(rows: Rows, key: str, operation: r.Operation) -> None:
    event = rows[t.SCHEDULE.name].get(operation.event or "")
    _must(
        event is None or (event.kind == "operation_step" and event.subject == key),
        "its event is about something else",
    )
    if told := operation.outcome:
        turns = {*lifecycles.RECONCILIATION.transitions, "stuck", "failed", "cancelled"} - {"none"}
        _must(turns.issuperset(told.turns), "its outcome has a turn that there is not")
        _must(0 <= told.done <= len(told.turns), "its outcome has taken more turns than it has")
        _must(told.failure or "failed" not in told.turns, "its outcome fails without an error")
    plan = plan_of(operation)
    _must(0 <= operation.step <= len(plan), "step is out of range")
    if finished(operation):
        _must(event is None, "it has ended and still has an event")
        return
    _must(
        operation.step < len(plan) and plan[operation.step].state == operation.state,
        f"step {operation.step} of its plan is not {operation.state}",
    )
    deployment = rows[t.DEPLOYMENTS.name].get(operation.deployment_id or "")
    so_far = {step.deployment for step in plan[: operation.step + 1]}  # some may be passed over
    _must(
        deployment is None or deployment.status in so_far,
        f"its deployment cannot be as it is at step {operation.step}",
    )


def _check_event(rows: Rows, key: str, event: r.ScheduledEvent) -> None:
    drawn = rows[t.STREAMS.name].get("schedule", 0)
    _must(event.sequence < drawn, "its sequence was not drawn yet")
    if event.kind == "operation_step":
        operation = rows[t.OPERATIONS.name].get(event.subject)
        _must(operation and operation.event == key, "no operation waits for it")
        return
    table = t.PROJECTS if event.kind == "dns_expiry" else t.TIMELINE
    _must(
        event.subject in rows[table.name],
        f"there is no {event.subject!r} in {table.name}",
    )


def _check_fault(rows: Rows, key: str, fault: Fault) -> None:
    family = OUTCOME if key.startswith(OUTCOME.noun) else FAULT
    drawn = rows[t.STREAMS.name].get(f"{family.noun} order", 0)
    _must(0 <= fault.order < drawn and fault.id == key, "its order was not drawn yet")
    _check_fields(rows, "", fault.rule)
    wrong = what_is_wrong(fault, family)
    _must(not wrong, str(wrong))


def _check_answer(rows: Rows, key: str, answer: r.RememberedAnswer) -> None:
    _must(200 <= answer.status <= 599, f"{answer.status} is no status")
    if answer.status >= 400:
        _must('"request_id":' in answer.body, "its body is no problem document")
        return
    spec = ALL_CALLS.get(answer.call_id)
    _must(spec and spec.idempotent, f"no call {answer.call_id!r} remembers answers")
    # What the first answer to an idempotent call was about, by its resource; others: the project.
    about: dict[str, t.Table[Any]]
    about = {"Operation": t.OPERATIONS, "UserApiKeyCreation": t.API_KEYS}
    target = about.get(spec.response if spec else "", t.PROJECTS)
    _must(answer.subject in rows[target.name], f"there is no {answer.subject!r} that it is about")


def _check_clock(_: Rows, key: str, clock: r.ClockRecord) -> None:
    rate = None if clock.mode != "scaled" and clock.rate == 1.0 else clock.rate
    clocks.start(clock.mode, rate, clock.world_ms, 0)


def _check_origin(rows: Rows, key: str, origin: r.Origin) -> None:
    if origin.variation is not None:
        _check_variation(rows, key, origin.variation)
    clocks.start(origin.mode, origin.rate, origin.at_ms, 0)


def _check_variation(_: Rows, key: str, variation: r.Variation) -> None:
    read_variation(variation.seed, variation.only)
    DEFAULTS.changed(variation.assumed)


_CHECKS: dict[str, Callable[[Rows, str, Any], None]] = {
    t.PROJECTS.name: _check_project,
    t.OPERATIONS.name: _check_operation,
    t.SCHEDULE.name: _check_event,
    t.DNS.name: _check_of_project,
    t.DATABASES.name: _check_database,
    t.FAULTS.name: _check_fault,
    t.OUTCOMES.name: _check_fault,
    t.REMEMBERED.name: _check_answer,
    t.CLOCK.name: _check_clock,
    t.ORIGIN.name: _check_origin,
    t.VARIATION.name: _check_variation,
}
