"""Converts records to the resources that appear in responses.

There is one function per resource, and each follows the world's assumptions.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from msgspec.structs import asdict

from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import format_timestamp, respell_timestamp
from hosting_emulator.world.lifecycles import STATE_WORDS
from hosting_emulator.world.plans import is_finished
from hosting_emulator.world.records import ApiKey, Database, Deployment, Dns, Operation, Project
from hosting_emulator.world.schedule import event_of
from hosting_emulator.world.tables import PROJECTS
from hosting_emulator.world.value import Change

_encode = msgspec.json.Encoder().encode
_TIMESTAMPS = frozenset(
    name for resource in RESOURCES.values() for name in resource.timestamp_fields
)


def encode(document: Any, assumptions: Assumptions) -> bytes:
    """Encode a response body as JSON, with timestamps in the form that the assumptions select."""
    if assumptions.timestamp_form != "milliseconds":
        document = _respell(document, assumptions)
    return _encode(document)


def _respell(value: Any, assumptions: Assumptions) -> Any:
    """Return a copy of a document whose timestamps have the form that the assumptions select."""
    if isinstance(value, list):
        return [_respell(item, assumptions) for item in value]
    if not isinstance(value, dict):
        return value
    respelled = {}
    for name, member in value.items():
        if name in _TIMESTAMPS and isinstance(member, str):
            respelled[name] = respell_timestamp(member, assumptions.timestamp_form)
        else:
            respelled[name] = _respell(member, assumptions)
    return respelled


def _render(
    resource: str, record: Any, assumptions: Assumptions, **computed: Any
) -> dict[str, Any]:
    """Return a resource as JSON, with the words that the assumptions select.

    `computed` contains the values of fields that are not taken from the record. Optional fields
    without a value are omitted.
    """
    document = {}
    for name, is_optional, assumption in _field_plan(resource):
        value = computed[name] if name in computed else getattr(record, name)
        if value is None and is_optional:
            continue
        if assumption and value is not None:
            value = _assumed_words(value, assumption, assumptions)
        document[name] = value
    return document


def _assumed_words(value: Any, assumption: str, assumptions: Assumptions) -> Any:
    """Return a word or a list of words, in the spelling that an assumption selects."""
    default_words = getattr(DEFAULTS, assumption)
    assumed_words = getattr(assumptions, assumption)
    if assumed_words == default_words:
        return value
    words = dict(zip(default_words, assumed_words, strict=True))
    if isinstance(value, tuple):
        return [words[word] for word in value]
    return words[value]


@cache
def _field_plan(resource: str) -> tuple[tuple[str, bool, str], ...]:
    """Return (name, is optional, assumption) for each field of a resource, required fields first.

    The assumption selects the words used for the field's values, and is empty if there is no such
    assumption.
    """
    plan = []
    for field in sorted(RESOURCES[resource].fields, key=lambda field: field.optional):
        is_worded = isinstance(getattr(DEFAULTS, field.assumption, None), tuple)
        plan.append((field.name, field.optional, field.assumption if is_worded else ""))
    return tuple(plan)


def powered_by_flag(project: Project) -> dict[str, Any]:
    """Return a PoweredByFlag resource."""
    return {
        "project_id": project.id,
        "enabled": project.flag_enabled,
        "enabled_at": project.flag_enabled_at,
    }


def operation(change: Change, record: Operation) -> dict[str, Any]:
    """Return the Operation resource for an operation as of a change."""
    assumptions = change.assumptions
    is_over = is_finished(record)
    blocking_id: str | None = None
    if record.state == "queued":
        claim = change.row(PROJECTS, record.project_id).claim
        if claim != record.id:
            blocking_id = claim
    observed_at = format_timestamp(change.now_ms)
    progress = _render(
        "Progress",
        record,
        assumptions,
        observed_at=observed_at,
        suggested_action=STATE_WORDS[record.state].advice,
        next_poll_after_seconds=None if is_over else _next_poll(change, record),
    )
    reconciliation = None
    # A reconciliation is a current observation of queued or running work (contract, section Operation).
    if not is_over and record.reconciliation is not None:
        reconciliation = _render(
            "Reconciliation", record.reconciliation, assumptions, observed_at=observed_at
        )
    return _render(
        "Operation",
        record,
        assumptions,
        blocking_operation_id=blocking_id,
        error=None if record.error is None else asdict(record.error),
        progress=progress,
        reconciliation=reconciliation,
    )


#: The polling interval, in seconds, when nothing is scheduled for an operation. The value is from
#: the contract.
_DEFAULT_POLL_SECONDS = 60


def _next_poll(change: Change, record: Operation) -> int:
    """Return the number of seconds until an operation's next step, rounded up, between 1 and 86,400.

    If the operation is waiting for the claim, this is the next step of the operation that holds it.
    Return 60 if no step is scheduled.
    """
    event = event_of(change, record)
    if event is None:
        return _DEFAULT_POLL_SECONDS
    return min(86_400, max(1, -(-(event.due_ms - change.now_ms) // 1000)))


def deployments_page(
    records: list[Deployment], next_cursor: str | None, assumptions: Assumptions
) -> bytes:
    """Return a page of deployments as JSON bytes.

    Deployment records have the contract's fields, so under the default assumptions the page is
    encoded directly from the records, which is faster.
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


def api_key(record: ApiKey, assumptions: Assumptions) -> dict[str, Any]:
    """Return the key metadata of a UserApiKeyCreation resource."""
    expires_at = format_timestamp(record.expires_ms)
    return _render("UserApiKey", record, assumptions, expires_at=expires_at)


def dns_authorization(record: Dns, assumptions: Assumptions) -> dict[str, Any]:
    """Return a DnsAuthorization resource."""
    expires_at = None
    if record.expires_ms is not None:
        expires_at = format_timestamp(record.expires_ms)
    scopes = list(record.scopes)
    return _render("DnsAuthorization", record, assumptions, scopes=scopes, expires_at=expires_at)


def database_compute(
    project: Project, environment: str, record: Database, now_ms: int, assumptions: Assumptions
) -> dict[str, Any]:
    """Return a DatabaseCompute resource for a database as observed now."""
    database = None
    if record.placement is not None:
        database = _render("DatabasePlacement", record.placement, assumptions)
    return _render(
        "DatabaseCompute",
        record,
        assumptions,
        project_id=project.id,
        environment=environment,
        observed_at=format_timestamp(now_ms),
        database=database,
    )
