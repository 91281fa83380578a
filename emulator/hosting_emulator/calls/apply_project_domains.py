"""Call 4: start the operation that applies the server-derived hostnames."""

from __future__ import annotations

from hosting_emulator.calls.billing import check_credits, check_domains_plan
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.world import operations, views
from hosting_emulator.world.records import Project
from hosting_emulator.world.value import Change


def answer(change: Change, request: CallRequest, project: Project) -> Reply:
    """Accept the operation, if plan and credits allow it; its result holds the hostnames."""
    check_domains_plan(change, project)
    check_credits(change, project)
    operation = operations.begin(change, project, operations.APPLY_DOMAINS, outcome=request.outcome)
    body = views.encode(views.operation(change, operation), change.assumptions)
    return Reply(request.spec.success_status(change.assumptions), body, operation.id)
