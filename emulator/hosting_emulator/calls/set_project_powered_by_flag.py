"""Call 1: show or hide the 'Powered by the service' flag."""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.calls.access import role_of
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import views
from hosting_emulator.world.records import Project
from hosting_emulator.world.tables import ORGANIZATIONS, PROJECTS
from hosting_emulator.world.value import Change


def answer(change: Change, request: CallRequest, project: Project) -> Reply:
    """Switch the flag. Hiding is refused while a Free workspace's domain depends on it."""
    assumption = None
    if request.values["enabled"]:
        by = project.flag_enabled_by
        # Whoever is owner no more leaves the moment to the next who switches it on. Who asks is one.
        own = by == request.principal.person_id
        if by is not None and (own or role_of(change, by, project) == "owner"):
            assumption = "flag_reenabled"
        if assumption is None or change.assumptions.flag_reenabled != "kept":
            now, by = format_timestamp(change.now_ms), request.principal.person_id
            project = replace(project, flag_enabled=True, flag_enabled_at=now, flag_enabled_by=by)
    else:
        _check_no_domain_depends(change, project)
        project = replace(project, flag_enabled=False, flag_enabled_at=None, flag_enabled_by=None)
    change.put(PROJECTS, project.id, project)
    body = views.encode(views.powered_by_flag(project), change.assumptions)
    return Reply(200, body, project.id, assumption=assumption)


def _check_no_domain_depends(change: Change, project: Project) -> None:
    plan = change.row(ORGANIZATIONS, project.organization_id).plan
    if project.flag_enabled and project.custom_domain and plan == "free":
        raise Refused(
            change.assumptions.code_of("domain_depends_on_flag"),
            f"The Free workspace's domain {project.custom_domain} depends on the flag.",
        )
