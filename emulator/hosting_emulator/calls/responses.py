"""Implements the calls, with one function per row in `contract/calls.py`, named after the call.

Each function takes the change to write to, the request, and the record that the request is about.
It returns the reply, or raises Refused without changing anything. Larger calls have their own
modules: API keys, tickets for dev origins, and pages of deployments.
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
    """Show or hide the flag. Hiding it is refused while a Free workspace's domain depends on it."""
    assumption = None
    if request.values["enabled"]:
        keeps_time = _keeps_enabled_at(change, project)
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


def _keeps_enabled_at(change: Change, project: Project) -> bool:
    """Return whether the flag was already on, switched on by a user who still owns the project.

    If a former owner switched the flag on, an owner who switches it on again sets a new time.
    """
    enabled_by = project.flag_enabled_by
    if enabled_by is None:
        return False
    return role_of(change.world, enabled_by, project) == "owner"


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
    """Start an operation that initializes the managed source.

    Raises Refused if the source generation that the request expects is not the project's current
    generation.
    """
    assumptions = change.assumptions
    expected = request.values.get("expected_source_generation")
    if assumptions.source_generation == "ignored":
        # Discard the generation, so that the operation ignores it even if the `source_generation`
        # assumption changes before it starts.
        expected = None
    if expected is not None and expected != project.source_generation:
        raise Refused(
            assumptions.code_of("generation_stale"),
            f"The project's source generation is {project.source_generation}, not the expected "
            "generation.",
            assumption="source_generation",
        )
    return _start_operation(change, request, project, INITIALIZE, expected)


def apply_project_domains(change: Change, request: CallRequest, project: Project) -> Reply:
    """Start an operation that applies the project's hostnames.

    Raises Refused if the organization is on the free plan.
    """
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
    """Start an operation, and return the reply that contains it.

    An operation does not spend credits, but it can require that the organization has some. Raises
    Refused.
    """
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
    """Return the operation's current state. If the operation's profile counts polls, count this one."""
    if not is_finished(operation):
        operations.count_poll(change, operation)
        react(change)
        operation = change.row(OPERATIONS, operation.id)
    return show_operation(change, request, operation)


def show_operation(change: Change, request: CallRequest, operation: Operation) -> Reply:
    """Return the operation's current state without counting a poll."""
    return success_reply(change, request, views.operation(change, operation), operation.id)


# --- Reads of a project ----------------------------------------------------------------------------


def get_dns_authorization(change: Change, request: CallRequest, project: Project) -> Reply:
    """Return the project's current DNS authorization, without credentials."""
    record = change.get(DNS, project.id) or Dns()
    document = views.dns_authorization(record, change.assumptions)
    return success_reply(change, request, document, project.id)


def read_database_compute(change: Change, request: CallRequest, project: Project) -> Reply:
    """Return the observed compute configuration.

    `database` is null if there is no managed placement.
    """
    environment = request.values["environment"]
    record = change.get(DATABASES, f"{project.id}/{environment}") or Database("separate")
    if record.provider_failing:
        raise Refused(
            change.assumptions.code_of("provider_failing"),
            f"The database provider is not responding for the {environment} environment.",
            why="an intervention made the provider fail",
        )
    document = views.database_compute(
        project, environment, record, change.now_ms, change.assumptions
    )
    return success_reply(change, request, document, project.id)


# --- The tables ------------------------------------------------------------------------------------

#: A function that implements a call. Its third argument is a project, an organization or an
#: operation, depending on the call's path.
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
#: For read calls, the functions that return the response without changing the world.
READ_FUNCTIONS: dict[CallName, CallFunction] = {
    "get_dns_authorization": get_dns_authorization,
    "list_deployments": list_deployments,
    "read_database_compute": read_database_compute,
    "get_operation": show_operation,
}
#: For calls whose replay differs from the remembered response, the functions that build the replay.
REPLAY_FUNCTIONS: dict[CallName, Callable[[Change, CallRequest, RememberedResponse], Reply]] = {
    "create_user_api_key": replay_key_creation,
}
