"""The problem codes that are about the request, and those that only describe the service's state."""

from __future__ import annotations

from hosting_emulator.contract.problems import PROBLEMS

#: Codes of a service that is busy, at a limit, or unavailable. They say nothing about the request.
BUSY_CODES = frozenset(
    {
        "rate_limited",
        "payload_too_large",
        "service_unavailable",
        "insufficient_organization_credits",
        "paid_plan_required",
        "project_budget_exceeded",
        "api_key_permissions_unavailable",
        "api_key_creation_uncertain",
    }
)
#: Codes that blame the request or its sender. All other codes describe a state of the service.
REQUEST_CODES = frozenset(
    {
        "invalid_request",
        "unauthenticated",
        "forbidden",
        "organization_required",
        "resource_not_found",
        "idempotency_key_reused",
    }
)
#: Codes for a sender who may not make the call at all. They say nothing about the request's content.
ACCESS_CODES = frozenset(
    {"unauthenticated", "forbidden", "organization_required", "interactive_login_required"}
)
#: Codes that say what is wrong with the request or its token.
ACCESS_OR_INPUT_CODES = ACCESS_CODES | {"invalid_request", "resource_not_found"}


def describes_a_state(code: str | None) -> bool:
    """Return whether a code describes a state of the service rather than a mistake in the request."""
    return code in PROBLEMS and code not in REQUEST_CODES
