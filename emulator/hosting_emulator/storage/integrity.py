"""Checks that a world's rows are consistent, so that no later request fails because of them.

The check is needed only for imports and salvage, because checksums protect the emulator's own
files. It reports the first invalid row, and repairs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from hosting_emulator.contract.access import PERMISSIONS
from hosting_emulator.contract.assumption_values import parse_profile
from hosting_emulator.contract.assumptions import DEFAULTS, PHASES
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.ids import ULID_PATTERN, is_ulid
from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.faults.arming import invalid_reason
from hosting_emulator.faults.categories import FAULT, OUTCOME
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import lifecycles, records, tables
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.plans import APPLY_DOMAINS, HELD, INITIALIZE, is_finished, plan_of

Rows = Mapping[str, Mapping[str, Any]]
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
#: These limits are far above any realistic value, but within the range of ids and JSON numbers.
_MOST_DRAWS = 2**31
_MOST_MS = 2**53
#: For each field that refers to a row, the table that contains this row, by field name.
_LINKS: dict[str, tables.Table[Any]] = {
    "organization_id": tables.ORGANIZATIONS,
    "organization": tables.ORGANIZATIONS,
    "user_id": tables.USERS,
    "principal": tables.USERS,
    "flag_enabled_by": tables.USERS,
    "project_id": tables.PROJECTS,
    "project": tables.PROJECTS,
    "claim": tables.OPERATIONS,
    "queue_head": tables.OPERATIONS,
    "queue_tail": tables.OPERATIONS,
    "next_waiting": tables.OPERATIONS,
    "operation_id": tables.OPERATIONS,
    "deployment_id": tables.DEPLOYMENTS,
    "event": tables.SCHEDULE,
}
#: The allowed values of fields, by table and field name.
_WORDS: dict[str, dict[str, Iterable[str]]] = {
    tables.OPERATIONS.name: {
        "state": lifecycles.OPERATION.transitions,
        "phase": PHASES,
        "kind": (INITIALIZE, APPLY_DOMAINS, HELD),
    },
    tables.DEPLOYMENTS.name: {"status": lifecycles.DEPLOYMENT.transitions},
    tables.DNS.name: {
        "status": lifecycles.DNS_AUTHORIZATION.transitions,
        "scopes": ("dns.write", "zone.read"),
    },
    tables.ORGANIZATIONS.name: {"permissions": PERMISSIONS},
    tables.API_KEYS.name: {"permissions": PERMISSIONS},
}
_LABEL = "[a-z0-9-]{1,63}"
_DOMAIN = rf"(?=.{{4,253}}\Z)({_LABEL}\.)+[a-z]{{2,63}}"
#: The patterns for fields that appear in a response, a header or a path.
_FORMS = {
    "alias": _LABEL,
    "handle": _LABEL,
    "zone": _DOMAIN,
    "custom_domain": _DOMAIN,
    "dev_label": "dev-[a-z]+-[a-z]+-[a-z]+",
    "dev_environment_id": ULID_PATTERN,
}
#: Functions that compute a row's key, for tables whose keys are not the rows' ids.
_KEYS: dict[str, Callable[[Any], str]] = {
    tables.MEMBERSHIPS.name: lambda row: f"{row.organization_id}/{row.user_id}",
    tables.GRANTS.name: lambda row: f"{row.project_id}/{row.user_id}",
    tables.SCHEDULE.name: lambda row: str(row.sequence),
    tables.FAULTS.name: lambda row: f"fault-{row.order + 1}",
    tables.OUTCOMES.name: lambda row: f"outcome-{row.order + 1}",
    **{
        table.name: lambda _: tables.SINGLETON_KEY
        for table in (tables.CLOCK, tables.ASSUMPTIONS, tables.ORIGIN, tables.VARIATION)
    },
}


def _require(condition: object, message: str) -> None:
    if not condition:
        raise ValueError(message)


def check_integrity(rows: Rows) -> None:
    """Raise StateRefused if the rows do not form a valid world. The message names the table and
    row.
    """
    for table, table_rows in rows.items():
        for key, record in table_rows.items():
            try:
                _check_row(rows, table, key, record)
            except ValueError as error:
                raise StateRefused(f"table {table}, row {key}: {error}") from None


def _check_row(rows: Rows, table: str, key: str, record: Any) -> None:
    if table == tables.STREAMS.name:
        _require(0 <= record < _MOST_DRAWS, f"{record} is not a valid number of draws")
        return
    expected_key: str | None = getattr(record, "id", None)
    if table in _KEYS:
        expected_key = _KEYS[table](record)
    elif expected_key is not None:
        _require(is_ulid(expected_key), "the id is not a ULID")
    _require(expected_key in (None, key), f"the key should be {expected_key!r}")
    _check_fields(rows, table, record)
    check = _CHECKS.get(table)
    if check is not None:
        check(rows, key, record)


def _check_fields(rows: Rows, table: str, record: Any) -> None:
    try:
        msgspec.json.encode(record)
    except (OverflowError, UnicodeEncodeError) as error:
        raise ValueError(f"the row cannot be written as JSON: {error}") from None
    words = _WORDS.get(table, {})
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value is None:
            continue
        if name.endswith("_at"):
            _require(
                _TIMESTAMP.fullmatch(value),
                f"{name} must be a timestamp such as 2026-01-31T09:30:00.000Z",
            )
        elif name.endswith("_ms"):
            _require(abs(value) <= _MOST_MS, f"{name} is out of range")
        elif name in _LINKS:
            target = _LINKS[name].name
            _require(
                value in rows[target], f"{name}: there is no row {value!r} in the table {target}"
            )
        elif name in _FORMS:
            _require(
                re.fullmatch(_FORMS[name], value), f"{name} has the invalid value {value[:80]!r}"
            )
        elif name in words:
            values = {value} if isinstance(value, str) else {*value}
            allowed = ", ".join(words[name])
            _require(values <= {*words[name]}, f"{name} must be one of {allowed}")


def _check_dns(rows: Rows, key: str, dns: records.Dns) -> None:
    _require(key in rows[tables.PROJECTS.name], "there is no such project")
    is_empty = dns.status != "not_authorized" or dns == records.Dns()
    _require(
        is_empty,
        "a DNS authorization in the state not_authorized must have no zone, scopes or expiry",
    )


def _check_database(rows: Rows, key: str, database: records.Database) -> None:
    project_id, _, environment = key.partition("/")
    is_known = environment in ("dev", "prod") and project_id in rows[tables.PROJECTS.name]
    _require(is_known, "there is no such project")
    placement = database.placement
    if placement is not None:
        states = {placement.state, placement.pending_state} - {None}
        _require(states <= {*lifecycles.DATABASE.transitions}, "the state is unknown")


def _check_project(rows: Rows, key: str, project: records.Project) -> None:
    operations = rows[tables.OPERATIONS.name]
    claimed = operations.get(project.claim or "")
    _require(
        claimed is None or (not is_finished(claimed) and claimed.project_id == key),
        "the claim is held by an operation that belongs to another project or has ended",
    )
    _require(
        claimed or project.queue_head is None,
        ("operations are waiting for a claim that no operation holds"),
    )
    last: str | None = None
    waiting = project.queue_head
    steps = 0
    while waiting is not None:
        _require(steps <= len(operations), "the queue of operations contains a loop")
        _require(waiting in operations, "the queue contains an operation that does not exist")
        _require(
            operations[waiting].project_id == key and waiting != project.claim,
            "the queue contains an operation that belongs to another project or holds the claim",
        )
        last = waiting
        waiting = operations[waiting].next_waiting
        steps += 1
    _require(project.queue_tail == last, "queue_tail is not the last operation in the queue")


def _check_operation(rows: Rows, key: str, operation: records.Operation) -> None:
    event = rows[tables.SCHEDULE.name].get(operation.event or "")
    _require(
        event is None or (event.kind == "operation_step" and event.subject == key),
        "the event does not belong to this operation",
    )
    if operation.outcome is not None:
        _check_outcome(operation.outcome)
    parse_profile(operation.profile)
    plan = plan_of(operation)
    _require(0 <= operation.step <= len(plan), "step is out of range")
    if is_finished(operation):
        _require(event is None, "the operation has ended but still has a scheduled event")
        return
    _require(
        operation.step < len(plan) and plan[operation.step].state == operation.state,
        f"step {operation.step} of the plan does not have the state {operation.state}",
    )
    deployment = rows[tables.DEPLOYMENTS.name].get(operation.deployment_id or "")
    # Allow the states of all earlier steps, because the operation may have skipped some steps.
    possible_states = {step.deployment for step in plan[: operation.step + 1]}
    _require(
        deployment is None or deployment.status in possible_states,
        f"the status of the deployment is impossible at step {operation.step}",
    )


def _check_outcome(outcome: records.OperationOutcome) -> None:
    others = {"stuck", "released", "failed", "cancelled"}
    steps = {*lifecycles.RECONCILIATION.transitions, *others} - {"none"}
    _require(steps.issuperset(outcome.steps), "the outcome has an unknown step")
    _require(0 <= outcome.steps_taken <= len(outcome.steps), "the outcome has taken too many steps")
    _require(outcome.failure or "failed" not in outcome.steps, "the outcome fails without an error")


def _check_event(rows: Rows, key: str, event: records.ScheduledEvent) -> None:
    drawn = rows[tables.STREAMS.name].get("schedule", 0)
    _require(event.sequence < drawn, f"sequence must be less than {drawn}")
    if event.kind == "operation_step":
        operation = rows[tables.OPERATIONS.name].get(event.subject)
        _require(operation and operation.event == key, "no operation waits for this event")
        return
    table = tables.PROJECTS if event.kind == "dns_expiry" else tables.TIMELINE
    _require(
        event.subject in rows[table.name],
        f"there is no row {event.subject!r} in the table {table.name}",
    )


def _check_fault(rows: Rows, key: str, fault: Fault) -> None:
    family = OUTCOME if key.startswith(OUTCOME.noun) else FAULT
    drawn = rows[tables.STREAMS.name].get(f"{family.noun} order", 0)
    _require(fault.id == key, "the id is not the row's key")
    _require(0 <= fault.order < drawn, f"order must be at least 0 and less than {drawn}")
    _check_fields(rows, "", fault.rule)
    error = invalid_reason(fault, family)
    _require(not error, str(error))


def _check_response(rows: Rows, key: str, response: records.RememberedResponse) -> None:
    _require(200 <= response.status <= 599, f"{response.status} is not a valid response status")
    if response.status >= 400:
        _require('"request_id":' in response.body, "the body is not a problem document")
        return
    spec = ALL_CALLS.get(response.call_id)
    _require(
        spec and spec.idempotent,
        f"responses of the call {response.call_id!r} are not remembered",
    )
    # By response type, the table that contains a response's subject. The default is PROJECTS.
    subjects: dict[str, tables.Table[Any]]
    subjects = {"Operation": tables.OPERATIONS, "UserApiKeyCreation": tables.API_KEYS}
    target = subjects.get(spec.response if spec else "", tables.PROJECTS)
    subject = response.subject
    _require(subject in rows[target.name], f"the subject {subject!r} does not exist")


def _check_clock(_: Rows, key: str, clock: records.ClockRecord) -> None:
    has_rate = clock.mode == "scaled" or clock.rate != 1.0
    rate = clock.rate if has_rate else None
    clocks.start(clock.mode, rate, clock.world_ms, 0)


def _check_wait(_: Rows, key: str, wait: records.RetryWait) -> None:
    _require(0 <= wait.due_ms <= LATEST_MS, "due_ms is out of range")


def _check_variation(_: Rows, key: str, variation: records.Variation) -> None:
    read_variation(variation.seed, variation.only)
    DEFAULTS.changed(variation.assumed)


def _check_origin(rows: Rows, key: str, origin: records.WorldSource) -> None:
    if origin.variation is not None:
        _check_variation(rows, key, origin.variation)
    clocks.start(origin.mode, origin.rate, origin.at_ms, 0)


_CHECKS: dict[str, Callable[[Rows, str, Any], None]] = {
    tables.PROJECTS.name: _check_project,
    tables.OPERATIONS.name: _check_operation,
    tables.SCHEDULE.name: _check_event,
    tables.DNS.name: _check_dns,
    tables.DATABASES.name: _check_database,
    tables.FAULTS.name: _check_fault,
    tables.OUTCOMES.name: _check_fault,
    tables.REMEMBERED.name: _check_response,
    tables.CLOCK.name: _check_clock,
    tables.ORIGIN.name: _check_origin,
    tables.VARIATION.name: _check_variation,
    tables.RETRY_WAITS.name: _check_wait,
}
