"""Call 2: start the operation that initializes a project's managed Git source."""

from __future__ import annotations

from hosting_emulator.calls.billing import check_credits
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world import operations, views
from hosting_emulator.world.records import Project
from hosting_emulator.world.value import Change


def answer(change: Change, request: CallRequest, project: Project) -> Reply:
    """Accept the operation, if the caller knows the project's current source generation."""
    assumptions = change.assumptions
    expected = request.values.get("expected_source_generation")
    looked_at = assumptions.source_generation != "ignored" and expected is not None
    if looked_at and expected != project.source_generation:
        raise Refused(
            assumptions.code_of("generation_stale"),
            f"The project's source generation is {project.source_generation}, "
            "not the expected one.",
            field="expected_source_generation",
        )
    check_credits(change, project)
    operation = operations.begin(
        change,
        project,
        operations.INITIALIZE,
        expected_generation=expected,
        outcome=request.outcome,
    )
    body = views.encode(views.operation(change, operation), assumptions)
    return Reply(request.spec.success_status(assumptions), body, operation.id)
