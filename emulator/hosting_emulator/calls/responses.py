"""What each call does: one function for each row of `contract/calls.py`, under the name of the call.

A function takes the change that it may write to, the request, and the record that the request is about.
It returns the reply, or raises Refused and has then changed nothing. Calls with more to them have a file
of their own: API keys, tickets of dev origins, pages of deployments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from hosting_emulator.calls.access import role_of
from hosting_emulator.calls.api_keys import create_user_api_key, replay_key_creation
from hosting_emulator.calls.deployment_pages import list_deployments
from hosting_emulator.calls.dev_access import create_dev_access_ticket
from hosting_emulator.calls.replies import success_reply
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.calls import CallName
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import operations, views
from hosting_emulator.world.plans import APPLY_DOMAINS, INITIALIZE, is_finished
from hosting_emulator.world.reactions import react
from hosting_emulator.world.records import Database, Dns, Operation, Project, RememberedResponse
from hosting_emulator.world.tables import DATABASES, DNS, OPERATIONS, ORGANIZATIONS, PROJECTS
from hosting_emulator.world.value import Change

# --- The flag --------------------------------------------------------------------------------------


def set_project_powered_by_flag(change: Change, request: CallRequest, project: Project) -> Reply:
    """Switch the flag. Hiding is refused while a Free workspace's domain depends on it."""
    assumption = None
    if request.values["enabled"]:
        keeps_time = _keeps_enabled_at(change, request, project)
        if not keeps_time or change.assumptions.flag_reenabled != "kept":
            project = replace(
                project,
                flag_enabled=True,
                flag_enabled_at=format_timestamp(change.now_ms),
                flag_enabled_by=request.principal.user_id,
            )
        if keeps_time:
            assumption = "flag_reenabled"
    else:
        _check_domain(change, project)
        project = replace(project, flag_enabled=False, flag_enabled_at=None, flag_enabled_by=None)
    change.put(PROJECTS, project.id, project)
    reply = success_reply(change, request, views.powered_by_flag(project), project.id)
    reply.assumption = assumption
    return reply


def _keeps_enabled_at(change: Change, request: CallRequest, project: Project) -> bool:
    """Return whether the flag is on already, switched on by a user who still owns the project.

    The flag of a former owner gets the time of the next owner who switches it on.
    """
    enabled_by = project.flag_enabled_by
    if enabled_by is None:
        return False
    # Only an owner may make this call, so the caller is one.
    return (
        enabled_by == request.principal.user_id or role_of(change, enabled_by, project) == "owner"
    )


def _check_domain(change: Change, project: Project) -> None:
    """Raise Refused if a Free workspace's domain depends on the flag."""
    plan = change.row(ORGANIZATIONS, project.organization_id).plan
    if project.flag_enabled and project.custom_domain and plan == "free":
        raise Refused(
            change.assumptions.code_of("domain_depends_on_flag"),
            f"The Free workspace's domain {project.custom_domain} depends on the flag.",
        )


# --- Operations ------------------------------------------------------------------------------------


def initialize_managed_source(change: Change, request: CallRequest, project: Project) -> Reply:
    """Start the operation, if the caller knows the project's current source generation."""
    assumptions = change.assumptions
    expected = request.values.get("expected_source_generation")
    if assumptions.source_generation == "ignored":
        # It stays ignored when the operation starts, whatever the world assumes by then.
        expected = None
    if expected is not None and expected != project.source_generation:
        raise Refused(
            assumptions.code_of("generation_stale"),
            f"The project's source generation is {project.source_generation}, "
            "not the expected one.",
            field="expected_source_generation",
            assumption="source_generation",
        )
    return _start_operation(change, request, project, INITIALIZE, expected)


def apply_project_domains(change: Change, request: CallRequest, project: Project) -> Reply:
    """Start the operation, if the plan allows it. Its result contains the hostnames."""
    organization = change.row(ORGANIZATIONS, project.organization_id)
    if organization.plan == "free" and change.assumptions.domains_plan == "paid":
        raise Refused(
            change.assumptions.code_of("plan_too_small"),
            f"The organization {organization.name} is on the free plan.",
            assumption="domains_plan",
        )
    return _start_operation(change, request, project, APPLY_DOMAINS)


def _start_operation(
    change: Change, request: CallRequest, project: Project, kind: str, generation: int | None = None
) -> Reply:
    """Start an operation. Nothing spends credits: an organization has some, or none."""
    organization = change.row(ORGANIZATIONS, project.organization_id)
    if not organization.credits and change.assumptions.zero_credits == "operations_refused":
        raise Refused(
            change.assumptions.code_of("credits_used_up"),
            f"The organization {organization.name} has no credits left.",
            assumption="zero_credits",
        )
    operation = operations.begin(
        change, project, kind, expected_generation=generation, outcome=request.outcome
    )
    return success_reply(change, request, views.operation(change, operation), operation.id)


def get_operation(change: Change, request: CallRequest, operation: Operation) -> Reply:
    """Show the operation as it is now. If its profile counts polls, this poll counts."""
    if not is_finished(operation):
        operations.count_poll(change, operation)
        react(change)
        operation = change.row(OPERATIONS, operation.id)
    return show_operation(change, request, operation)


def show_operation(change: Change, request: CallRequest, operation: Operation) -> Reply:
    """Show the operation as it is now, without counting a poll."""
    return success_reply(change, request, views.operation(change, operation), operation.id)


# --- Reads of a project ----------------------------------------------------------------------------


def get_dns_authorization(change: Change, request: CallRequest, project: Project) -> Reply:
    """Show the authorization as it is now, without credentials."""
    record = change.get(DNS, project.id) or Dns()
    document = views.dns_authorization(record, change.assumptions)
    return success_reply(change, request, document, project.id)


def read_database_compute(change: Change, request: CallRequest, project: Project) -> Reply:
    """Show what is observed now. A database without placement is null, never invented."""
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
    return success_reply(change, request, document, project.id)


# --- The tables ------------------------------------------------------------------------------------

#: The function of a call. The record that the request is about is a project, an organization or an
#: operation, as the path of the call says.
CallFunction: TypeAlias = Callable[[Change, CallRequest, Any], Reply]
CALL_FUNCTIONS: dict[CallName, CallFunction] = {
    "set_project_powered_by_flag": set_project_powered_by_flag,
    "initialize_managed_source": initialize_managed_source,
    "create_user_api_key": create_user_api_key,
    "apply_project_domains": apply_project_domains,
    "get_dns_authorization": get_dns_authorization,
    "list_deployments": list_deployments,
    "create_dev_access_ticket": create_dev_access_ticket,
    "read_database_compute": read_database_compute,
    "get_operation": get_operation,
}
#: The functions that show what a read shows, and change nothing.
READ_FUNCTIONS: dict[CallName, CallFunction] = {
    "get_dns_authorization": get_dns_authorization,
    "list_deployments": list_deployments,
    "read_database_compute": read_database_compute,
    "get_operation": show_operation,
}
#: The functions of calls whose retry does not receive the remembered response.
REPLAY_FUNCTIONS: dict[CallName, Callable[[Change, CallRequest, RememberedResponse], Reply]] = {
    "create_user_api_key": replay_key_creation,
}
