"""The contract's eight calls, and a call for polling an operation, which the contract does not specify.

Each call has a row in this module and a function of the same name in the `calls` package. Routing,
the query parser, the access check, the OpenAPI document, the explanations, the CLI, the SDK, the
page and the tests all use these rows. Where a row names an assumption instead of a value,
`call_table.py` takes the value from a world's assumptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from hosting_emulator.contract.access import (
    AssumedRole,
    OrganizationAccess,
    ProjectAccess,
    Role,
)
from hosting_emulator.contract.fields import resource_name
from hosting_emulator.contract.resources import (
    CreateUserApiKeyRequest,
    DatabaseCompute,
    DeploymentPage,
    DevAccessTicket,
    DnsAuthorization,
    InitializeManagedSourceRequest,
    OperationResource,
    PoweredByFlag,
    SetPoweredByFlagRequest,
    UserApiKeyCreation,
)

Subject = Literal["project", "organization", "operation"]
#: The names of the calls. Thanks to this type, editors can complete the names, and mypy checks the
#: names in the rows below.
CallName = Literal[
    "set_project_powered_by_flag",
    "initialize_managed_source",
    "create_user_api_key",
    "apply_project_domains",
    "get_dns_authorization",
    "list_deployments",
    "create_dev_access_ticket",
    "read_database_compute",
    "get_operation",
]
#: The endpoints outside the API that can be named in a fault's `call`. `redeem_ticket` redeems a
#: ticket at a dev origin, and the `idp_` endpoints belong to the identity provider. A fault without
#: `call` does not match these endpoints.
DoorName = Literal[
    "redeem_ticket",
    "idp_discovery",
    "idp_jwks",
    "idp_authorize",
    "idp_token",
    "idp_userinfo",
    "idp_end_session",
]
DOORS: tuple[DoorName, ...] = get_args(DoorName)
REDEEM_TICKET = "redeem_ticket"
#: The prefix that the names of the identity provider's endpoints have.
IDENTITY_PROVIDER = "idp_"
#: The problem codes that any call can return.
COMMON_CODES = (
    "invalid_request",
    "unauthenticated",
    "forbidden",
    "organization_required",
    "resource_not_found",
    "payload_too_large",
    "rate_limited",
    "service_unavailable",
)


class QueryParameter(Struct, frozen=True, kw_only=True):
    """A query parameter of a call. Its name is set by an assumption, because the contract does not
    specify one.

    `value` is the parameter's name in the call's inputs. `name_assumption` is the assumption that
    sets the parameter's name in requests. If the value as a whole does not match `pattern`, the
    error is `complaint`. `default_assumption` is the assumption that sets the default value. If the
    default is `refused`, the parameter is required, and the error if it is missing is
    `missing_complaint`. Without a `default_assumption`, the default is None.
    """

    value: str
    name_assumption: Literal["cursor_parameter", "limit_parameter", "environment_parameter"]
    pattern: str
    complaint: str
    schema: Mapping[str, Any]
    missing_complaint: str = ""
    default_assumption: Literal["default_page_size", "missing_environment"] | None = None
    description: str = ""
    default_description: str = ""


class StatedStatus(Struct, frozen=True):
    """A success status that the contract states."""

    status: int


class AssumedStatus(Struct, frozen=True):
    """A success status that is set by an assumption, because the contract does not state it."""

    assumption: Literal[
        "accepted_status", "key_created_status", "key_replayed_status", "ticket_created_status"
    ]


class ReadStatus(Struct, frozen=True):
    """The success status of a read, which is 200.

    The fixed assumption `read_status` sets this status, because the contract does not state it.
    """


class Idempotency(Struct, frozen=True, kw_only=True):
    """The contract's rules for a call's Idempotency-Key.

    `retry_sentence` is the contract's sentence about repeated keys. `replay_status` is the status
    of an exact replay, or None if it is the same as that of the first response.
    """

    retry_sentence: str = ""
    replay_status: AssumedStatus | None = None


class CallSpec(Struct, frozen=True, kw_only=True):
    """One of the contract's eight calls, or the call for polling an operation.

    `codes` are the call's problem codes, except for COMMON_CODES and `idempotency_key_reused`.
    `listed_statuses` are the call's error statuses, if the contract lists them. `section` names the
    section of the contract that describes the call, from which `query_sentence` and `body_sentence`
    are quoted. `effect` describes what a successful call changes. `path_assumption` is the
    assumption that sets the path. `success_assumption` is an assumption that affects every
    successful response.
    """

    call_id: CallName
    path: str
    summary: str
    description: str
    access: ProjectAccess | OrganizationAccess
    response_type: type[Struct]
    method: str = "GET"
    success: StatedStatus | AssumedStatus | ReadStatus = ReadStatus()
    body_type: type[Struct] | None = None
    query: tuple[QueryParameter, ...] = ()
    idempotency: Idempotency | None = None
    path_assumption: Literal["operation_path"] | None = None
    success_assumption: Literal["source_profile", "domains_profile", "deployment_order"] | None = (
        None
    )
    codes: tuple[str, ...] = ()
    listed_statuses: tuple[int, ...] = ()
    section: str = "Endpoints"
    query_sentence: str = ""
    body_sentence: str = "No request body."
    effect: str = ""

    @property
    def operation_id(self) -> str:
        """The operationId in the OpenAPI document, such as `setProjectPoweredByFlag`."""
        first, *rest = self.call_id.split("_")
        return first + "".join(word.title() for word in rest)

    @property
    def subject(self) -> Subject:
        """The kind of resource that the last id in the path identifies."""
        if "{operation_id}" in self.path:
            return "operation"
        return "organization" if "{organization_id}" in self.path else "project"

    @property
    def response(self) -> str:
        """The name of the resource that a successful call returns."""
        return resource_name(self.response_type)

    @property
    def body(self) -> str | None:
        """The name of the resource in the request body, or None if there is no body."""
        return None if self.body_type is None else resource_name(self.body_type)

    @property
    def idempotent(self) -> bool:
        """Whether the call requires an Idempotency-Key."""
        return self.idempotency is not None

    @property
    def retry_sentence(self) -> str:
        """The contract's sentence about repeated keys, or an empty string if there is none."""
        return "" if self.idempotency is None else self.idempotency.retry_sentence

    @property
    def interactive(self) -> bool:
        """Whether the call requires a current interactive user session."""
        return isinstance(self.access, OrganizationAccess) and self.access.interactive

    @property
    def role(self) -> Role | AssumedRole | Literal["member"]:
        """The minimum project role, or the assumption that sets it, or `member` for a call on an
        organization.
        """
        return self.access.role if isinstance(self.access, ProjectAccess) else "member"

    @property
    def permission(self) -> str:
        """The permission that an API key needs, or an empty string if it needs none."""
        return self.access.permission if isinstance(self.access, ProjectAccess) else ""

    @property
    def replay_status(self) -> AssumedStatus | None:
        """The status of an exact replay, or None if it is the same as that of the first response."""
        return None if self.idempotency is None else self.idempotency.replay_status

    @property
    def assumptions(self) -> frozenset[str]:
        """The names of the assumptions that determine the call's role, statuses, path or query."""
        assumed = [
            part.assumption
            for part in (self.role, self.success, self.replay_status)
            if isinstance(part, AssumedRole | AssumedStatus)
        ]
        names: list[str | None] = [*assumed, self.path_assumption]
        for parameter in self.query:
            names += [parameter.name_assumption, parameter.default_assumption]
        return frozenset(name for name in names if name is not None)


CURSOR = QueryParameter(
    value="cursor",
    name_assumption="cursor_parameter",
    pattern="[A-Za-z0-9_-]{1,512}",
    complaint=(
        "is not a next_cursor of this project's deployments; omit the parameter to get "
        "the first page."
    ),
    description="The opaque next_cursor of the preceding page.",
    schema={
        "type": "string",
        "minLength": 1,
        "maxLength": 512,
        "pattern": "^[A-Za-z0-9_-]+$",
        "x-assumption": "cursor_life",
    },
)
_LIMIT = QueryParameter(
    value="limit",
    name_assumption="limit_parameter",
    pattern="[1-9][0-9]?|100",
    complaint="must be an integer from 1 to 100.",
    default_assumption="default_page_size",
    # The default is given in the description rather than the schema. If the schema contained the
    # default, generated clients would send it with every request, and would thus depend on an
    # assumption.
    description="The maximum number of items on the page",
    default_description="; the default is {}.",
    schema={"type": "integer", "minimum": 1, "maximum": 100},
)
_ENVIRONMENT = QueryParameter(
    value="environment",
    name_assumption="environment_parameter",
    pattern="dev|prod",
    complaint="must be dev or prod.",
    missing_complaint="is required and must be dev or prod.",
    default_assumption="missing_environment",
    description="The environment whose compute configuration to read.",
    default_description=" The default is {}.",
    schema={"$ref": "#/components/schemas/Environment"},
)

ROWS = (
    CallSpec(
        call_id="set_project_powered_by_flag",
        method="PUT",
        path="/v1/projects/{project_id}/powered-by-flag",
        summary="Show or hide the flag",
        description="Show or hide the 'Powered by the service' flag on a project's production site.",
        response_type=PoweredByFlag,
        access=ProjectAccess("owner", "projects.write"),
        body_type=SetPoweredByFlagRequest,
        idempotency=Idempotency(
            retry_sentence="Same key and same body: first result returned without switching again."
        ),
        codes=("powered_by_flag_required",),
        listed_statuses=(400, 401, 403, 404, 409, 503),
        section="Endpoints, operation 1",
        body_sentence=(
            "Body (required, application/json): { enabled: boolean (required) }, no other properties."
        ),
        effect="the project's flag was switched",
        success=StatedStatus(200),
    ),
    CallSpec(
        call_id="initialize_managed_source",
        method="POST",
        path="/v1/projects/{project_id}/source:initialize",
        summary="Initialize managed Git source",
        description="Start an asynchronous operation that initializes a project's managed Git source.",
        success=AssumedStatus("accepted_status"),
        response_type=OperationResource,
        access=ProjectAccess(AssumedRole("source_role"), "projects.write"),
        body_type=InitializeManagedSourceRequest,
        idempotency=Idempotency(
            retry_sentence="Headers: Idempotency-Key required, X-Request-Id optional."
        ),
        success_assumption="source_profile",
        codes=("etag_mismatch", "insufficient_organization_credits"),
        section="Endpoints, operation 2",
        body_sentence="Body (application/json): { expected_source_generation: integer }.",
        effect="an operation that initializes the project's managed source was started",
    ),
    CallSpec(
        call_id="create_user_api_key",
        method="POST",
        path="/v1/organizations/{organization_id}/user-api-keys",
        summary="Create user API key",
        description=(
            "Create a user-owned API token valid 90 days. The token's value is returned only once."
        ),
        success=AssumedStatus("key_created_status"),
        response_type=UserApiKeyCreation,
        access=OrganizationAccess(interactive=True),
        body_type=CreateUserApiKeyRequest,
        idempotency=Idempotency(replay_status=AssumedStatus("key_replayed_status")),
        codes=(
            "interactive_login_required",
            "api_key_permissions_unavailable",
            "api_key_creation_uncertain",
        ),
        section="Endpoints, operation 3",
        body_sentence="Body (application/json): { name: string, length 1 to 64 }.",
        effect="user API keys were created, valid for 90 days",
    ),
    CallSpec(
        call_id="apply_project_domains",
        method="PUT",
        path="/v1/projects/{project_id}/domains",
        summary="Apply project domains",
        description=(
            "Start an asynchronous operation applying the server-derived development, production "
            "and mail hostnames."
        ),
        success=AssumedStatus("accepted_status"),
        response_type=OperationResource,
        access=ProjectAccess(AssumedRole("domains_role"), "domains.write"),
        idempotency=Idempotency(
            retry_sentence=(
                "Starts an idempotent durable operation for the exact project-derived development, "
                "production and mail hostnames"
            )
        ),
        success_assumption="domains_profile",
        codes=("paid_plan_required", "insufficient_organization_credits"),
        section="Endpoints, operation 4",
        effect="an operation that applies the project's domains was started",
    ),
    CallSpec(
        call_id="get_dns_authorization",
        path="/v1/projects/{project_id}/edge-dns",
        summary="Get DNS authorization status",
        description="Read the project-scoped DNS provider authorization state, without credentials.",
        response_type=DnsAuthorization,
        access=ProjectAccess(AssumedRole("dns_role"), "dns.read"),
        section="Endpoints, operation 5",
    ),
    CallSpec(
        call_id="list_deployments",
        path="/v1/projects/{project_id}/deployments",
        summary="List deployments",
        description="Page through a project's deployments.",
        response_type=DeploymentPage,
        access=ProjectAccess(AssumedRole("deployments_role"), "deployments.read"),
        query=(CURSOR, _LIMIT),
        success_assumption="deployment_order",
        section="Endpoints, operation 6",
        query_sentence="Query: a continuation cursor [...] and a maximum page size (integer 1 to 100).",
    ),
    CallSpec(
        call_id="create_dev_access_ticket",
        method="POST",
        path="/v1/projects/{project_id}/dev-access-tickets",
        summary="Create dev access ticket",
        description=(
            "Issue a single-use, ten-minute ticket for the project's dev origin. "
            "A new ticket revokes the principal's earlier unused tickets."
        ),
        success=AssumedStatus("ticket_created_status"),
        response_type=DevAccessTicket,
        access=ProjectAccess("owner", "dev_access.write"),
        section="Endpoints, operation 7",
        effect="dev access tickets were created, valid for ten minutes",
    ),
    CallSpec(
        call_id="read_database_compute",
        path="/v1/projects/{project_id}/database/compute",
        summary="Read database compute",
        description="Read the observed managed database compute configuration for dev or prod.",
        response_type=DatabaseCompute,
        access=ProjectAccess("reader", "database.read"),
        query=(_ENVIRONMENT,),
        codes=("compute_performance_unavailable",),
        section="Endpoints, operation 8",
        query_sentence="Query: one parameter choosing the environment, allowed values dev, prod.",
    ),
    CallSpec(
        call_id="get_operation",
        path="/v1/operations/{operation_id}",
        summary="Poll an operation",
        description="Read the current state of a durable operation.",
        response_type=OperationResource,
        access=ProjectAccess(AssumedRole("operation_role"), "projects.read"),
        path_assumption="operation_path",
    ),
)

#: All calls by call_id, in the contract's order. `CALLS` contains the same calls, except for the
#: call that polls an operation.
ALL_CALLS: dict[str, CallSpec] = {spec.call_id: spec for spec in ROWS}
CALLS: dict[str, CallSpec] = {
    call_id: spec for call_id, spec in ALL_CALLS.items() if spec.subject != "operation"
}
GET_OPERATION = ALL_CALLS["get_operation"]
_BY_OPERATION_ID = {spec.operation_id: call_id for call_id, spec in ALL_CALLS.items()}


def call_named(word: str) -> str:
    """Return the call_id for an operationId in the OpenAPI document.

    Return any other word unchanged.
    """
    return _BY_OPERATION_ID.get(word, word)
