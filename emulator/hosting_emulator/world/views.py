"""Views: records as the wire shows them. One function for each resource of the contract.

Where an assumption shapes an answer (absent or null, words, spelling of time), it does so here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.contract import assumptions as a
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.timestamps import format_timestamp, respell_timestamp
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import (
    ApiKey,
    Database,
    Deployment,
    Dns,
    Operation,
    Project,
)
from hosting_emulator.world.tables import OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change

_encode = msgspec.json.Encoder().encode
_TIMESTAMPS = frozenset(
    "created_at updated_at observed_at expires_at enabled_at last_used_at build_completed_at".split()
)


def encode(document: Any, assumptions: Assumptions) -> bytes:
    """Write an answer's document as JSON bytes."""
    if assumptions.timestamp_form != "milliseconds":
        document = _respell(document, assumptions)
    return _encode(document)


def _respell(found: Any, assumptions: Assumptions) -> Any:
    if isinstance(found, dict):
        return {
            name: respell_timestamp(value, assumptions.timestamp_form)
            if name in _TIMESTAMPS and isinstance(value, str)
            else _respell(value, assumptions)
            for name, value in found.items()
        }
    return [_respell(item, assumptions) for item in found] if isinstance(found, list) else found


def _optional(assumptions: Assumptions, **fields: Any) -> dict[str, Any]:
    """Return the fields that have a value, or all of them with null, as the assumption says."""
    if assumptions.empty_fields == "null":
        return fields
    return {name: value for name, value in fields.items() if value is not None}


def _word(words: tuple[str, ...], known: tuple[str, ...], word: str) -> str:
    return words[known.index(word)]


def powered_by_flag(project: Project) -> dict[str, Any]:
    """PoweredByFlag."""
    return {
        "project_id": project.id,
        "enabled": project.flag_enabled,
        "enabled_at": project.flag_enabled_at,
    }


def operation(change: Change, record: Operation) -> dict[str, Any]:
    """Operation, as it is in this change's moment."""
    assumptions = change.assumptions
    project = change.row(PROJECTS, record.project_id)
    waiting = record.state == "queued" and project.claim not in (None, record.id)
    return {
        "id": record.id,
        "state": record.state,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        **_optional(
            assumptions,
            blocking_operation_id=project.claim if waiting else None,
            deployment_id=record.deployment_id,
            result=record.result,
            error=None if record.error is None else msgspec.to_builtins(record.error),
            progress=_progress(change, record),
            reconciliation=_reconciliation(record, assumptions),
        ),
    }


def _reconciliation(record: Operation, assumptions: Assumptions) -> dict[str, Any] | None:
    """Current observation for queued or running work only (contract, Operation)."""
    seen = record.reconciliation
    if seen is None or finished(record):
        return None
    shown: dict[str, Any] = msgspec.to_builtins(seen)
    shown["state"] = _word(assumptions.reconciliation_states, a.RECONCILIATION_STATES, seen.state)
    return shown


def _progress(change: Change, record: Operation) -> dict[str, Any]:
    assumptions = change.assumptions
    done = finished(record)
    return {
        "phase": _word(assumptions.progress_phases, a.PHASES, record.phase),
        "project_id": record.project_id,
        "observed_at": format_timestamp(change.now_ms),
        "suggested_action": _ADVICE[record.state],
        **_optional(
            assumptions,
            deployment_id=record.deployment_id,
            next_poll_after_seconds=None if done else _next_poll(change, record),
            build_completed_at=record.build_completed_at,
        ),
    }


_ADVICE = {
    "queued": "Poll the same operation again after next_poll_after_seconds.",
    "running": "Poll the same operation again after next_poll_after_seconds.",
    "succeeded": "Nothing: the operation succeeded.",
    "failed": "Read the operation's error, and follow its suggested_action.",
    "cancelled": "Start a new operation with a new Idempotency-Key if it is still wanted.",
}
#: What a client is told when nothing is scheduled for an operation; the contract shows this value.
_DEFAULT_POLL_SECONDS = 60


def _next_poll(change: Change, record: Operation) -> int:
    """Whole seconds until the next step, at least 1; of the claim's holder when this one waits."""
    event_key = record.event
    if event_key is None:
        claim = change.row(PROJECTS, record.project_id).claim
        holder = change.get(OPERATIONS, claim) if claim else None
        event_key = holder.event if holder else None
    event = change.get(SCHEDULE, event_key) if event_key else None
    if event is None:
        return _DEFAULT_POLL_SECONDS
    return min(86_400, max(1, -(-(event.due_ms - change.now_ms) // 1000)))


def deployments_page(
    records: list[Deployment], next_cursor: str | None, assumptions: Assumptions
) -> bytes:
    """Page of deployments, as JSON bytes.

    Deployments are kept in their wire form: under the usual assumptions the page is written
    straight from the records, which is what makes reading it cheap.
    """
    if (
        assumptions.empty_fields == "absent"
        and assumptions.last_page_cursor == "null"
        and assumptions.timestamp_form == "milliseconds"
        and assumptions.deployment_statuses == a.DEPLOYMENT_STATUSES
    ):
        return _encode({"items": records, "next_cursor": next_cursor})
    page: dict[str, Any] = {"items": [_deployment(record, assumptions) for record in records]}
    if next_cursor is not None or assumptions.last_page_cursor == "null":
        page["next_cursor"] = next_cursor
    return encode(page, assumptions)


def _deployment(record: Deployment, assumptions: Assumptions) -> dict[str, Any]:
    fields = msgspec.structs.asdict(record)
    fields["status"] = _word(assumptions.deployment_statuses, a.DEPLOYMENT_STATUSES, record.status)
    return _optional(assumptions, **fields)


def api_key(record: ApiKey, assumptions: Assumptions) -> dict[str, Any]:
    """Key metadata of UserApiKeyCreation."""
    return {
        "id": record.id,
        "organization_id": record.organization_id,
        "name": record.name,
        "obfuscated_value": record.obfuscated_value,
        "permissions": [
            _word(assumptions.key_permissions, a.PERMISSIONS, name) for name in record.permissions
        ],
        "expires_at": format_timestamp(record.expires_ms),
        "created_at": record.created_at,
        **_optional(assumptions, last_used_at=record.last_used_at),
    }


def dns_authorization(record: Dns) -> dict[str, Any]:
    """DnsAuthorization."""
    return {
        "status": record.status,
        "zone": record.zone,
        "scopes": list(record.scopes),
        "expires_at": None if record.expires_ms is None else format_timestamp(record.expires_ms),
    }


def database_compute(
    project: Project, environment: str, record: Database, now_ms: int, assumptions: Assumptions
) -> dict[str, Any]:
    """DatabaseCompute, observed now."""
    placement = record.placement
    database: dict[str, Any] | None = None
    if placement is not None:
        pending = placement.pending_state
        database = msgspec.structs.asdict(placement)
        del database["pending_state"]
        words = assumptions.database_states
        database["state"] = _word(words, a.DATABASE_STATES, placement.state)
        database |= _optional(
            assumptions,
            pending_state=None if pending is None else _word(words, a.DATABASE_STATES, pending),
        )
    return {
        "project_id": project.id,
        "environment": environment,
        "data_mode": record.data_mode,
        "observed_at": format_timestamp(now_ms),
        "database": database,
    }
