"""Views: records as the wire shows them, one function a resource, as the assumptions shape it."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from msgspec.structs import asdict

from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import format_timestamp, respell_timestamp
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t
from hosting_emulator.world.lifecycles import STATE_WORDS
from hosting_emulator.world.operations import event_of, finished
from hosting_emulator.world.value import Change

_encode = msgspec.json.Encoder().encode
_TIMESTAMPS = frozenset(name for found in RESOURCES.values() for name in found.timestamp_fields)


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


def _render(resource: str, record: Any, assumptions: Assumptions, **own: Any) -> dict[str, Any]:
    """Write a resource with the words that are assumed. What has no value is left out.

    Its values are the record's fields of the same name, but for what is its `own`.
    """
    found = {}
    for name, optional, assumption in _plan(resource):
        value = own[name] if name in own else getattr(record, name)
        if value is None and optional:
            continue
        if assumption and value is not None:
            ours, assumed = getattr(DEFAULTS, assumption), getattr(assumptions, assumption)
            if assumed != ours:
                words = dict(zip(ours, assumed, strict=True))
                value = [words[one] for one in value] if isinstance(value, tuple) else words[value]
        found[name] = value
    return found


@cache
def _plan(resource: str) -> tuple[tuple[str, bool, str], ...]:
    """Return a resource's fields as written: whether optional, and the assumption of its words."""
    fields = sorted(RESOURCES[resource].fields, key=lambda field: field.optional)
    worded = {f.name for f in fields if isinstance(getattr(DEFAULTS, f.assumption, None), tuple)}
    return tuple((f.name, f.optional, f.assumption if f.name in worded else "") for f in fields)


def powered_by_flag(project: r.Project) -> dict[str, Any]:
    """PoweredByFlag."""
    return {
        "project_id": project.id,
        "enabled": project.flag_enabled,
        "enabled_at": project.flag_enabled_at,
    }


def operation(change: Change, record: r.Operation) -> dict[str, Any]:
    """Operation, as it is in this change's moment."""
    assumptions, over = change.assumptions, finished(record)
    waits_for: str | None = None
    if record.state == "queued":
        waits_for = change.row(t.PROJECTS, record.project_id).claim
    observed = {"observed_at": format_timestamp(change.now_ms)}
    progress = _render(
        "Progress",
        record,
        assumptions,
        **observed,
        suggested_action=STATE_WORDS[record.state].advice,
        next_poll_after_seconds=None if over else _next_poll(change, record),
    )
    # A reconciliation is a current observation, of queued or running work (contract, Operation).
    found = None if over else record.reconciliation
    return _render(
        "Operation",
        record,
        assumptions,
        blocking_operation_id=None if waits_for == record.id else waits_for,
        error=record.error and asdict(record.error),
        progress=progress,
        reconciliation=found and _render("Reconciliation", found, assumptions, **observed),
    )


#: What a client is told when nothing is scheduled for an operation; the contract shows this value.
_DEFAULT_POLL_SECONDS = 60


def _next_poll(change: Change, record: r.Operation) -> int:
    """Whole seconds until the next step, at least 1; of the claim's holder when this one waits."""
    event = event_of(change, record)
    if event is None:
        return _DEFAULT_POLL_SECONDS
    return min(86_400, max(1, -(-(event.due_ms - change.now_ms) // 1000)))


def deployments_page(
    records: list[r.Deployment], next_cursor: str | None, assumptions: Assumptions
) -> bytes:
    """Page of deployments, as JSON bytes.

    Deployments are kept in their wire form: under the usual assumptions the page is written
    straight from the records, which is what makes reading it cheap.
    """
    page: dict[str, Any] = {"items": records}
    if next_cursor is not None or assumptions.last_page_cursor == "null":
        page["next_cursor"] = next_cursor
    if (
        assumptions.timestamp_form == "milliseconds"
        and assumptions.deployment_statuses == DEFAULTS.deployment_statuses
    ):
        return _encode(page)
    page["items"] = [_render("Deployment", record, assumptions) for record in records]
    return encode(page, assumptions)


def api_key(record: r.ApiKey, assumptions: Assumptions) -> dict[str, Any]:
    """Key metadata of UserApiKeyCreation."""
    expires_at = format_timestamp(record.expires_ms)
    return _render("UserApiKey", record, assumptions, expires_at=expires_at)


def dns_authorization(record: r.Dns, assumptions: Assumptions) -> dict[str, Any]:
    """DnsAuthorization."""
    expires_at = None if record.expires_ms is None else format_timestamp(record.expires_ms)
    scopes = list(record.scopes)
    return _render("DnsAuthorization", record, assumptions, scopes=scopes, expires_at=expires_at)


def database_compute(
    project: r.Project, environment: str, record: r.Database, now_ms: int, assumptions: Assumptions
) -> dict[str, Any]:
    """DatabaseCompute, observed now."""
    placement = record.placement
    return _render(
        "DatabaseCompute",
        record,
        assumptions,
        project_id=project.id,
        environment=environment,
        observed_at=format_timestamp(now_ms),
        database=placement and _render("DatabasePlacement", placement, assumptions),
    )
