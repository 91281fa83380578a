"""Call 8: read the observed compute configuration of a project's database."""

from __future__ import annotations

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world import views
from hosting_emulator.world.records import Database, Project
from hosting_emulator.world.tables import DATABASES
from hosting_emulator.world.value import Change


def answer(change: Change, request: CallRequest, project: Project) -> Reply:
    """Show what is observed now; a database without placement is null, never invented."""
    environment = request.values["environment"]
    record = change.get(DATABASES, f"{project.id}/{environment}") or Database("separate")
    if record.provider_failing:
        raise Refused(
            change.assumptions.code_of("provider_failing"),
            f"The database provider does not respond for the {environment} environment.",
            why="an intervention made the provider fail",
        )
    document = views.database_compute(
        project, environment, record, change.now_ms, change.assumptions
    )
    return Reply(200, views.encode(document, change.assumptions), project.id)
