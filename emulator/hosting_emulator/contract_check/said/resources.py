"""What the service does, and its resources with their fields, in the contract's own words.

Longer than our other files because it is the contract's list of fields.
"""

from __future__ import annotations

_BEYOND = "It tells of more than the eight calls that the contract lists."
_INSIDE = "It tells of what happens inside the service, which no answer shows."
_ABSENCE = "That something is never shown cannot be seen from any number of answers."

SAID: dict[str, tuple[tuple[str, ...], ...]] = {
    "Project Hosting Control API Specification": (
        ("json", "All bodies are JSON."),
        ("problem-media", "Errors use the media type application/problem+json."),
    ),
    "What the service does": (
        (
            "public-interface",
            "Its public interface is described as covering hosting, projects, domains, email, "
            "credits and exports.",
            _BEYOND,
        ),
        (
            "durable",
            "Project mutations that take time are accepted as durable asynchronous operations that "
            "the caller polls.",
        ),
    ),
    "Common types": (
        (
            "ulid",
            "| Ulid | string | exactly 26 characters matching ^[0-9A-HJKMNP-TV-Z]{26}$; used for "
            "project_id, organization_id, operation id, deployment id, ticket ids |",
        ),
        ("timestamp", "| timestamp | string | date-time (ISO 8601 / RFC 3339) |"),
    ),
    "PoweredByFlag": (
        ("flag.project_id", "| project_id | Ulid | yes | |"),
        ("flag.enabled", "| enabled | boolean | yes | whether the flag is shown |"),
        (
            "flag.enabled_at",
            "| enabled_at | timestamp or null | yes | when the current owner switched the flag on; "
            "null while hidden |",
        ),
        ("flag.closed", "No additional properties."),
        (
            "flag.request",
            "Request body SetPoweredByFlagRequest: object with required boolean enabled, no "
            "additional properties.",
        ),
        (
            "flag.site",
            "the production site shows a small flag on its right edge that links to the service.",
            "It tells of the production site, which the API does not serve.",
        ),
        (
            "flag.waiver",
            "While it is on, a Free workspace may connect its own domain to this project and the "
            "custom-hostname fee is waived; Paid periods receive bonus credits.",
            "It tells of domains, fees and credits, which none of the eight calls shows.",
        ),
    ),
    "Operation": (
        ("operation.id", "| id | Ulid | operation identifier |"),
        ("operation.state", "| state | enum queued, running, succeeded, failed, cancelled | |"),
        ("operation.times", "| created_at, updated_at | timestamp | |"),
        (
            "operation.blocking_operation_id",
            "| blocking_operation_id | Ulid | the active operation that holds the project mutation "
            "claim this queued operation waits on (appears on operation 2's response) |",
        ),
        (
            "operation.deployment_id",
            "| deployment_id | Ulid | the deployment this operation created (deploy, promotion or "
            "rollback), present in every state; diagnostics of a failed one are read via deployment "
            "logs (appears on operation 2's response) |",
        ),
        ("operation.result", "| result | object | outcome payload |"),
        ("operation.error", "| error | object | failure details, see below |"),
        (
            "operation.progress",
            "| progress | object | current deployment dependency observation, separate from "
            "immutable operation history; poll the same operation; mail readiness does not mean "
            "application activation |",
        ),
        (
            "operation.reconciliation",
            "| reconciliation | object | current observation for queued or running work, separate "
            "from the immutable terminal state; a completed reconciliation attempt alone does not "
            "mean the operation succeeded |",
        ),
        (
            "error-object",
            "error object: code (string; a value such as operation_failed appears), message "
            "(string), retryable (boolean), suggested_action (string).",
        ),
        (
            "progress-object",
            "progress object: phase (string; a value queued appears), project_id (Ulid), "
            "deployment_id (Ulid), observed_at (timestamp), next_poll_after_seconds (integer; a "
            "value of 60 appears), suggested_action (string), build_completed_at (timestamp).",
        ),
        (
            "reconciliation-object",
            "reconciliation object: state (string; a value required appears), attempt_id "
            "(Ulid-like identifier string), observed_at (timestamp), suggested_action (string).",
        ),
    ),
    "Deployment": (
        ("deployment.id", "| id | Ulid |"),
        ("deployment.project_id", "| project_id | Ulid |"),
        ("deployment.operation_id", "| operation_id | Ulid |"),
        ("deployment.commit_sha", "| commit_sha | string |"),
        ("deployment.source_digest", "| source_digest | string |"),
        ("deployment.build_plan_digest", "| build_plan_digest | string |"),
        ("deployment.status", "| status | string (queued is one value) |"),
        ("deployment.times", "| created_at, updated_at | timestamp |"),
        ("deployment.artifact_digest", "| artifact_digest | string |"),
        ("deployment.url", "| url | string |"),
    ),
    "UserApiKeyCreation": (
        (
            "key.replayed",
            "| replayed | boolean | false on the first creation; true-valued on an exact replay |",
        ),
        (
            "key.value",
            "| value | string or null | the full token; returned only by the first creation; null "
            "on an exact replay |",
        ),
        ("key.request_id", "| request_id | string | correlation identifier |"),
        ("key.key", "| key | object | key metadata |"),
        (
            "key.metadata",
            "key: id (Ulid), organization_id (Ulid), name (string), obfuscated_value (string), "
            "permissions (array of string), expires_at (timestamp), created_at (timestamp), "
            "last_used_at (timestamp).",
        ),
    ),
    "DnsAuthorization": (
        (
            "dns.status",
            "| status | enum not_authorized, pending, authorized, expired, revoked | |",
        ),
        (
            "dns.zone",
            "| zone | string or null | hostname, length 4 to 253, lowercase labels separated by "
            "dots, last label 2 to 63 letters; the customer's actual zone; null when status is "
            "not_authorized |",
        ),
        (
            "dns.scopes",
            "| scopes | array of enum dns.write, zone.read | at most 2 entries; empty when status "
            "is not_authorized; closed set |",
        ),
        (
            "dns.expires_at",
            "| expires_at | timestamp or null | null when status is not_authorized |",
        ),
        ("dns.no-credentials", "No provider credentials are ever exposed.", _ABSENCE),
        ("dns.no-inference", "No platform or customer zone is inferred.", _INSIDE),
    ),
    "DevAccessTicket": (
        ("ticket.ticket_id", "| ticket_id | Ulid | |"),
        ("ticket.project_id", "| project_id | Ulid | |"),
        ("ticket.environment_id", "| environment_id | Ulid | |"),
        (
            "ticket.origin",
            "| origin | string | https origin of the immutable dev project host, of the form "
            "https://dev-<word>-<word>-<word>.<dev_zone> (lowercase letters in each word) |",
        ),
        (
            "ticket.redeem_url",
            "| redeem_url | string | <origin>/.service/dev-access/redeem?stage=dev&ticket=<ticket>, "
            "where <ticket> is 43 characters from A-Z a-z 0-9 _ - |",
        ),
        ("ticket.expires_at", "| expires_at | timestamp | ten minutes after issuance |"),
        (
            "ticket.once",
            "Credential material is returned once and is never persisted in plaintext.",
            "What is stored, and how, is not seen from outside.",
        ),
    ),
    "DatabaseCompute": (
        ("compute.project_id", "| project_id | Ulid | |"),
        ("compute.environment", "| environment | enum dev, prod | |"),
        (
            "compute.data_mode",
            "| data_mode | string | shared is one value; explicitly shared data resolves to the "
            "same physical database for both environments |",
        ),
        ("compute.observed_at", "| observed_at | timestamp | fresh, tenant-scoped observation |"),
        (
            "compute.database",
            "| database | object or null | null means the owned environment has no confirmed "
            "managed placement |",
        ),
        (
            "compute.placement",
            "database: min_cu (number), max_cu (number), min_memory_gb (number), max_memory_gb "
            "(number), suspend_timeout_seconds (integer: 0 means provider default, -1 means never "
            "suspend, otherwise the configured provider value), state (string; init is one value), "
            "pending_state (string), disabled (boolean), region (string).",
        ),
        (
            "compute.no-identifiers",
            "Provider identifiers and credentials are never returned.",
            _ABSENCE,
        ),
        (
            "compute.settings",
            "The configuration describes observed settings, not a completed resize operation.",
            _INSIDE,
        ),
    ),
    "Page of deployments": (
        ("page.items", "items (array of Deployment)"),
        (
            "page.next_cursor",
            "next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -).",
        ),
    ),
}
