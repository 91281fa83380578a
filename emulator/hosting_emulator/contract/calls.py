"""The table of calls: the contract's eight, and the poll of an operation that it leaves unnamed.

Routes, access rules, the OpenAPI document and the tests all read this one table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from hosting_emulator.contract.assumptions import Assumptions

Subject = Literal["project", "organization", "operation"]


@dataclass(frozen=True, slots=True)
class CallSpec:
    """One thing a client can ask, as the contract's Endpoints part describes it.

    `success` is a status the contract gives, or the name of the assumption that holds one;
    `role` likewise is a project role, or the name of an assumption.
    """

    call_id: str
    operation_id: str
    method: str
    path: str
    subject: Subject
    summary: str
    description: str
    success: int | str
    response: str
    role: str
    permission: str
    body: str | None = None
    idempotent: bool = False
    interactive: bool = False

    def success_status(self, assumptions: Assumptions) -> int:
        """Return the status of a successful first answer."""
        return self.success if isinstance(self.success, int) else getattr(assumptions, self.success)

    def least_role(self, assumptions: Assumptions) -> str:
        """Return the least project role that may make this call (`member`: any of the organization)."""
        return str(getattr(assumptions, self.role, self.role))


_CALLS = (
    CallSpec(
        call_id="set_project_powered_by_flag",
        operation_id="setProjectPoweredByFlag",
        method="PUT",
        path="/v1/projects/{project_id}/powered-by-flag",
        subject="project",
        summary="Show or hide the flag",
        description="Show or hide the 'Powered by the service' flag on a project's production site.",
        success=200,
        response="PoweredByFlag",
        role="owner",
        permission="projects.write",
        body="SetPoweredByFlagRequest",
        idempotent=True,
    ),
    CallSpec(
        call_id="initialize_managed_source",
        operation_id="initializeManagedSource",
        method="POST",
        path="/v1/projects/{project_id}/source:initialize",
        subject="project",
        summary="Initialize managed Git source",
        description="Start an asynchronous operation that initializes a project's managed Git source.",
        success="accepted_status",
        response="Operation",
        role="source_role",
        permission="projects.write",
        body="InitializeManagedSourceRequest",
        idempotent=True,
    ),
    CallSpec(
        call_id="create_user_api_key",
        operation_id="createUserApiKey",
        method="POST",
        path="/v1/organizations/{organization_id}/user-api-keys",
        subject="organization",
        summary="Create user API key",
        description="Create a user-owned API token valid 90 days. Its value is returned only once.",
        success="key_created_status",
        response="UserApiKeyCreation",
        role="member",
        permission="",
        body="CreateUserApiKeyRequest",
        idempotent=True,
        interactive=True,
    ),
    CallSpec(
        call_id="apply_project_domains",
        operation_id="applyProjectDomains",
        method="PUT",
        path="/v1/projects/{project_id}/domains",
        subject="project",
        summary="Apply project domains",
        description=(
            "Start an asynchronous operation applying the server-derived development, production "
            "and mail hostnames."
        ),
        success="accepted_status",
        response="Operation",
        role="domains_role",
        permission="domains.write",
        idempotent=True,
    ),
    CallSpec(
        call_id="get_dns_authorization",
        operation_id="getDnsAuthorization",
        method="GET",
        path="/v1/projects/{project_id}/edge-dns",
        subject="project",
        summary="Get DNS authorization status",
        description="Read the project-scoped DNS provider authorization state, without credentials.",
        success=200,
        response="DnsAuthorization",
        role="dns_role",
        permission="dns.read",
    ),
    CallSpec(
        call_id="list_deployments",
        operation_id="listDeployments",
        method="GET",
        path="/v1/projects/{project_id}/deployments",
        subject="project",
        summary="List deployments",
        description="Page through a project's deployments.",
        success=200,
        response="DeploymentPage",
        role="deployments_role",
        permission="deployments.read",
    ),
    CallSpec(
        call_id="create_dev_access_ticket",
        operation_id="createDevAccessTicket",
        method="POST",
        path="/v1/projects/{project_id}/dev-access-tickets",
        subject="project",
        summary="Create dev access ticket",
        description=(
            "Issue a single-use, ten-minute ticket for the project's dev origin. "
            "A new ticket revokes the principal's earlier unused tickets."
        ),
        success="ticket_created_status",
        response="DevAccessTicket",
        role="owner",
        permission="dev_access.write",
    ),
    CallSpec(
        call_id="read_database_compute",
        operation_id="readDatabaseCompute",
        method="GET",
        path="/v1/projects/{project_id}/database/compute",
        subject="project",
        summary="Read database compute",
        description="Read the observed managed database compute configuration for dev or prod.",
        success=200,
        response="DatabaseCompute",
        role="reader",
        permission="database.read",
    ),
)

#: The contract's eight calls, by call_id, in its order.
CALLS = {spec.call_id: spec for spec in _CALLS}

GET_OPERATION = CallSpec(
    call_id="get_operation",
    operation_id="getOperation",
    method="GET",
    path="/v1/operations/{operation_id}",
    subject="operation",
    summary="Poll an operation",
    description="Read a durable operation as it now is.",
    success=200,
    response="Operation",
    role="operation_role",
    permission="projects.read",
)


def call_table(assumptions: Assumptions) -> tuple[CallSpec, ...]:
    """Return the eight calls and the poll, whose path is an assumption."""
    return (*_CALLS, replace(GET_OPERATION, path=assumptions.operation_path))
