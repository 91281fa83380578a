"""Authentication, errors, limits and versioning, in the contract's own words."""

from __future__ import annotations

SAID: dict[str, tuple[tuple[str, ...], ...]] = {
    "Authentication": (
        (
            "auth.bearer",
            "1. Every operation takes HTTP bearer authentication: Authorization: Bearer <token>.",
        ),
        (
            "auth.kinds",
            "2. The token is either an access JWT issued by an identity provider or a user-owned "
            "API key issued by the same provider.",
        ),
        (
            "auth.key-bound",
            "3. A user key is bound to one organization and restricted to its enabled product "
            "permissions.",
        ),
        (
            "auth.session-only",
            "4. Session-only onboarding and session revocation require an interactive access JWT.",
            "Onboarding and revoking sessions are not among the eight calls.",
        ),
        ("auth.session", "Operation 3 requires a current interactive user session."),
        ("auth.no-cookie", "5. No cookie session is assumed."),
        (
            "auth.roles",
            "6. Roles: operations 1 and 7 are owner-only; operation 8 is open to project readers.",
        ),
        ("auth.unauthenticated", "7. Unauthenticated requests fail with code unauthenticated;"),
        ("auth.forbidden", "forbidden access with code forbidden;"),
        ("auth.organization", "a missing organization context with code organization_required."),
    ),
    "Errors": (
        (
            "problem",
            "All failures return application/problem+json (RFC 9457 Problem Details extended with "
            "recovery fields) and carry header X-Request-Id.",
        ),
        (
            "problem.type",
            "| type | string (URI reference) | yes | documentation link of the form "
            "{docs_url}/errors/<code with hyphens instead of underscores> |",
        ),
        ("problem.title", "| title | string | yes | minimum length 1 |"),
        ("problem.status", "| status | integer | yes | 400 to 599 |"),
        ("problem.detail", "| detail | string | no | |"),
        ("problem.instance", "| instance | string (URI reference) | no | |"),
        ("problem.code", "| code | string | yes | one of the codes below |"),
        ("problem.request_id", "| request_id | string | yes | 1 to 128 characters |"),
        ("problem.retryable", "| retryable | boolean | yes | |"),
        (
            "problem.retry_after_seconds",
            "| retry_after_seconds | integer | no | 1 to 86400; for a rate limit; matches "
            "Retry-After |",
        ),
        ("problem.suggested_action", "| suggested_action | string | yes | minimum length 1 |"),
        (
            "problem.codes",
            "invalid_request, unauthenticated, forbidden, organization_required, "
            "resource_not_found, idempotency_key_reused, project_handle_unavailable, "
            "project_identity_unavailable, deployment_plan_expired, deployment_plan_incompatible, "
            "confirmation_expired, confirmation_invalid, etag_mismatch, promotion_source_stale, "
            "promotion_target_stale, promotion_invalid_target, mail_domain_conflict, "
            "mail_domain_required, mail_capacity_unavailable, storage_jurisdiction_conflict, "
            "shared_data_requires_promotion, production_deployment_required, "
            "framework_conversion_required, repository_configuration_missing, "
            "migration_filename_noncanonical, environment_secret_mutation_blocked, "
            "workers_runtime_incompatible, project_handle_invalid, project_handle_taken, "
            "project_handle_unchanged, project_rename_blocked, payload_too_large, rate_limited, "
            "insufficient_organization_credits, paid_plan_required, project_budget_exceeded, "
            "compute_performance_paid_required, compute_performance_unavailable, "
            "database_write_pending, database_access_limit, compute_change_pending, "
            "compute_change_conflict, billing_purchase_conflict, billing_recharge_conflict, "
            "git_host_connection_required, git_host_connection_revoked, repository_not_installed, "
            "edge_zone_not_bound, edge_authorization_closed, project_notes_conflict, "
            "project_export_not_ready, powered_by_flag_required, interactive_login_required, "
            "api_key_creation_uncertain, api_key_permissions_unavailable, reconciliation_exhausted, "
            "service_unavailable.",
        ),
        (
            "condition.missing",
            "| Resource missing or outside the caller's access scope | 404 | resource_not_found | "
            "false |",
        ),
        (
            "condition.reused",
            "| Idempotency-Key reused with a changed request | 409 | idempotency_key_reused | false "
            "(suggested action: retry with a new key) |",
        ),
        ("condition.statuses", "Both are given with status 404 and 409 respectively."),
    ),
    "Limits": (
        ("limit.idempotency-key", "| Idempotency-Key length | 1 to 128 characters |"),
        ("limit.request-id", "| X-Request-Id length | 1 to 128 characters |"),
        ("limit.key-name", "| API key name length | 1 to 64 characters |"),
        ("limit.page-size", "| List deployments page size | 1 to 100 |"),
        ("limit.scopes", "| DNS authorization scopes | at most 2 |"),
        ("limit.zone", "| DNS zone length | 4 to 253 characters |"),
        ("limit.retry-after", "| retry_after_seconds | 1 to 86400 |"),
        ("limit.ticket", "| Dev access ticket | single use, valid ten minutes |"),
        ("limit.key", "| User API key | valid 90 days |"),
        (
            "limit.credits",
            "| Operation 3 credit cost | available at zero credits |",
            "No call shows an organization's credits.",
        ),
    ),
    "Versioning": (
        ("v1", "All paths are under the /v1 prefix."),
        (
            "version",
            "The machine-readable contract carries the version number 0.0.0.",
            "None of the eight calls serves the machine-readable contract.",
        ),
        (
            "two-servers",
            "Two servers exist: production ({base_url}) and development ({dev_base_url}).",
            "A check looks at one of them at a time.",
        ),
    ),
}
