"""Contrary assumptions: other choices where the contract is silent."""

from typing import Any

#: Another legal choice for every assumption that a document can show.
CONTRARY: dict[str, Any] = {
    "accepted_status": 200,
    "key_created_status": 200,
    "key_replayed_status": 201,
    "ticket_created_status": 200,
    "operation_path": "/v1/projects/{project_id}/operation-records/{operation_id}/state",
    "cursor_parameter": "page_token",
    "limit_parameter": "page_size",
    "default_page_size": 7,
    "deployment_order": "oldest_first",
    "last_page_cursor": "null",
    "environment_parameter": "env",
    "missing_environment": "prod",
    "source_generation": "ignored",
    "idempotency_scope": "principal_and_call",
    "idempotency_remembers": "all_answers",
    "operation_replay": "current",
    "source_profile": "per_poll 2",
    "domains_profile": "immediate",
    "progress_phases": ["queued", "p1", "p2", "p3", "p4"],
    "deployment_statuses": ["queued", "d1", "d2", "d3", "d4", "d5", "d6"],
    "database_states": ["init", "s1", "s2", "s3", "s4"],
    "key_permissions": ["k0", "k1", "k2", "k3", "k4", "k5", "k6"],
    "data_modes": ["shared", "apart"],
    "condition_codes": {
        "session_missing": "forbidden",
        "generation_stale": "promotion_source_stale",
    },
    "wrong_method": "not_found",
    "flag_reenabled": "renewed",
    "request_id_on_success": "echoed",
    "unknown_body_fields": "refused",
    "malformed_project_id": "invalid_request",
    "problem_statuses": {"invalid_request": 422, "forbidden": 404, "etag_mismatch": 412},
    "timestamp_form": "offset",
    "docs_url": "https://docs.example/api",
}
