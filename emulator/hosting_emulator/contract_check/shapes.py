"""The fields of each resource: their kind, and the sentence that says so. Data only."""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract_check import kinds
from hosting_emulator.contract_check.kinds import Kind


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a resource. `keys` are the sentences that it can break.

    Which fields are required the contract says of some resources only; elsewhere a missing field,
    or null in its place, breaks nothing. `nullable`: null is a value of this one. `bound` is the
    sentence that bounds its length or value, if another one does.
    """

    name: str
    kind: Kind
    keys: str
    required: bool = False
    nullable: bool = False
    bound: str = ""


def _fields(keys: str, **named: Kind) -> tuple[Field, ...]:
    return tuple(Field(name, kind, keys) for name, kind in named.items())


FLAG = (
    Field("project_id", kinds.ulid, "flag.project_id", required=True),
    Field("enabled", kinds.boolean, "flag.enabled", required=True),
    Field("enabled_at", kinds.timestamp, "flag.enabled_at", required=True, nullable=True),
)
OPERATION = (
    Field("id", kinds.ulid, "operation.id"),
    Field(
        "state",
        kinds.one_of("queued", "running", "succeeded", "failed", "cancelled"),
        "operation.state states.operation",
    ),
    *_fields("operation.times", created_at=kinds.timestamp, updated_at=kinds.timestamp),
    Field("blocking_operation_id", kinds.ulid, "operation.blocking_operation_id"),
    Field("deployment_id", kinds.ulid, "operation.deployment_id"),
    Field("result", kinds.any_object, "operation.result"),
    Field("error", kinds.any_object, "operation.error"),
    Field("progress", kinds.any_object, "operation.progress"),
    Field("reconciliation", kinds.any_object, "operation.reconciliation"),
)
ERROR = _fields(
    "error-object",
    code=kinds.text,
    message=kinds.text,
    retryable=kinds.boolean,
    suggested_action=kinds.text,
)
PROGRESS = _fields(
    "progress-object",
    phase=kinds.text,
    project_id=kinds.ulid,
    deployment_id=kinds.ulid,
    observed_at=kinds.timestamp,
    next_poll_after_seconds=kinds.integer,
    suggested_action=kinds.text,
    build_completed_at=kinds.timestamp,
)
RECONCILIATION = _fields(
    "reconciliation-object",
    state=kinds.text,
    attempt_id=kinds.text,
    observed_at=kinds.timestamp,
    suggested_action=kinds.text,
)
DEPLOYMENT = (
    Field("id", kinds.ulid, "deployment.id"),
    Field("project_id", kinds.ulid, "deployment.project_id"),
    Field("operation_id", kinds.ulid, "deployment.operation_id"),
    Field("commit_sha", kinds.text, "deployment.commit_sha"),
    Field("source_digest", kinds.text, "deployment.source_digest"),
    Field("build_plan_digest", kinds.text, "deployment.build_plan_digest"),
    Field("status", kinds.text, "deployment.status"),
    *_fields("deployment.times", created_at=kinds.timestamp, updated_at=kinds.timestamp),
    Field("artifact_digest", kinds.text, "deployment.artifact_digest"),
    Field("url", kinds.text, "deployment.url"),
)
PAGE = (
    Field("items", kinds.each(kinds.any_object), "page.items deployments.response", required=True),
    Field("next_cursor", kinds.cursor, "page.next_cursor"),
)
KEY_CREATION = (
    Field("replayed", kinds.boolean, "key.replayed", required=True),
    Field("value", kinds.secret, "key.value", required=True, nullable=True),
    Field("request_id", kinds.text, "key.request_id"),
    Field("key", kinds.any_object, "key.key", required=True),
)
KEY = _fields(
    "key.metadata",
    id=kinds.ulid,
    organization_id=kinds.ulid,
    name=kinds.text,
    obfuscated_value=kinds.text,
    permissions=kinds.each(kinds.text),
    expires_at=kinds.timestamp,
    created_at=kinds.timestamp,
    last_used_at=kinds.timestamp,
)
DNS = (
    Field(
        "status",
        kinds.one_of("not_authorized", "pending", "authorized", "expired", "revoked"),
        "dns.status states.dns",
        required=True,
    ),
    Field("zone", kinds.zone, "dns.zone", required=True, nullable=True, bound="limit.zone"),
    Field(
        "scopes",
        kinds.each(kinds.one_of("dns.write", "zone.read"), most=2),
        "dns.scopes",
        required=True,
        bound="limit.scopes",
    ),
    Field("expires_at", kinds.timestamp, "dns.expires_at", required=True, nullable=True),
)
TICKET = (
    Field("ticket_id", kinds.ulid, "ticket.ticket_id"),
    Field("project_id", kinds.ulid, "ticket.project_id"),
    Field("environment_id", kinds.ulid, "ticket.environment_id"),
    Field("origin", kinds.origin, "ticket.origin"),
    Field("redeem_url", kinds.redeem_url, "ticket.redeem_url"),
    Field("expires_at", kinds.timestamp, "ticket.expires_at"),
)
COMPUTE = (
    Field("project_id", kinds.ulid, "compute.project_id"),
    Field("environment", kinds.one_of("dev", "prod"), "compute.environment"),
    Field("data_mode", kinds.text, "compute.data_mode"),
    Field("observed_at", kinds.timestamp, "compute.observed_at"),
    Field("database", kinds.any_object, "compute.database", nullable=True),
)
PLACEMENT = _fields(
    "compute.placement",
    min_cu=kinds.number,
    max_cu=kinds.number,
    min_memory_gb=kinds.number,
    max_memory_gb=kinds.number,
    suspend_timeout_seconds=kinds.at_least(-1),
    state=kinds.text,
    pending_state=kinds.text,
    disabled=kinds.boolean,
    region=kinds.text,
)
PROBLEM = (
    Field("type", kinds.uri_reference, "problem.type", required=True),
    Field("title", kinds.filled, "problem.title", required=True),
    Field("status", kinds.at_least(400, 599), "problem.status", required=True),
    Field("detail", kinds.text, "problem.detail"),
    Field("instance", kinds.uri_reference, "problem.instance"),
    Field("code", kinds.one_of(*PROBLEMS), "problem.code problem.codes", required=True),
    Field("request_id", kinds.request_id, "problem.request_id", required=True),
    Field("retryable", kinds.boolean, "problem.retryable", required=True),
    Field(
        "retry_after_seconds",
        kinds.at_least(1, 86_400),
        "problem.retry_after_seconds",
        bound="limit.retry-after",
    ),
    Field("suggested_action", kinds.filled, "problem.suggested_action", required=True),
)
