"""The table of calls: the contract's eight, and the poll of an operation that it leaves unnamed.

A call is one row here and one function of the same name in `calls`. Routes, query reading, access,
the OpenAPI document, explanations, the lists of CLI, SDK and page, and the tests read this table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import unquote

from hosting_emulator.contract.assumptions import CONDITIONS, DEFAULTS, Assumptions, shaped_by
from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.contract.resources import RESOURCES

Subject = Literal["project", "organization", "operation"]
#: The names of the calls, for those who type them: editors offer them, and the rows below must have them.
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
#: Doors beside the calls, by the words that a fault's `call` names them with: a ticket is redeemed at a
#: dev origin, and people sign in at an identity provider. A fault without a `call` meets none of them.
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
#: What the words of the identity provider's doors begin with.
IDENTITY_PROVIDER = "idp_"
#: Codes that any call may answer with.
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


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """One query parameter of a call. The contract names none, so assumptions do.

    `value` is its name among the call's values, `named_by` the assumption that holds its name on
    the wire. It must match `pattern` whole, and `wrong` tells what is wrong otherwise. `default` is the
    assumption that holds what stands for it when it is left out (`refused`: `missing` says that it is
    required); None leaves the value None.
    """

    value: str
    named_by: str
    pattern: str
    wrong: str
    schema: Mapping[str, Any]
    missing: str = ""
    default: str | None = None
    description: str = ""
    default_description: str = ""

    def name(self, assumptions: Assumptions) -> str:
        """Return its name on the wire."""
        return str(getattr(assumptions, self.named_by))

    def required(self, assumptions: Assumptions) -> bool:
        """Tell whether a request without it is refused."""
        return self.default is not None and getattr(assumptions, self.default) == "refused"


@dataclass(frozen=True, slots=True)
class CallSpec:
    """One thing a client can ask, as the contract's Endpoints part describes it.

    `success` is a status the contract gives, `role` a project role, or each the name of the assumption
    that holds one, as `replayed` (the status of an exact replay, where it differs) and `path_from` are;
    `decided_by` is one that decides each success besides.
    `codes` are its own problem codes, beyond COMMON_CODES and that of its Idempotency-Key;
    `listed_statuses` the error statuses, where the contract lists them all. `place` and the clauses are
    the contract's (`retry_clause`: of its key sent again); `leaves` says what a success leaves there.
    `identity_is_specified`: the contract says what makes two requests of this call the same. It
    may also say which status a success has, and that the body is required.
    """

    call_id: CallName
    path: str
    summary: str
    description: str
    role: str
    permission: str
    method: str = "GET"
    subject: Subject = "project"
    success: int | str = 200
    response: str = "Operation"
    body: str | None = None
    query: tuple[QueryParameter, ...] = ()
    idempotent: bool = False
    interactive: bool = False
    replayed: str | None = None
    path_from: str | None = None
    decided_by: str | None = None
    codes: tuple[str, ...] = ()
    listed_statuses: tuple[int, ...] = ()
    place: str = "Endpoints"
    query_clause: str = ""
    body_clause: str = "No request body."
    retry_clause: str = ""
    leaves: str = ""
    identity_is_specified: bool = False
    success_is_specified: bool = False
    body_is_specified: bool = False

    @property
    def operation_id(self) -> str:
        """Its name in the OpenAPI document: `set_project_powered_by_flag` in camel case."""
        first, *rest = self.call_id.split("_")
        return first + "".join(word.title() for word in rest)

    def is_shaped_by(self, assumption: str) -> bool:
        """Tell whether an assumption can shape its answers, beside those that can shape `every` call's.

        It is named in the row, or names calls itself: by their id, the resource they answer with or
        their role, as `idempotent` ones, or as those with a `body`.
        """
        query = [name for one in self.query for name in (one.named_by, one.default)]
        if assumption in (self.success, self.role, self.replayed, self.path_from, *query):
            return True
        words = [self.call_id, self.response, self.role, self.body and "body"]
        return not shaped_by(assumption).isdisjoint([*words, self.idempotent and "idempotent"])

    def all_codes(self, assumptions: Assumptions) -> list[str]:
        """Return the codes that it may be refused with, those of conditions assumed otherwise too."""
        once = ("idempotency_key_reused",) if self.idempotent else ()
        usual = (*COMMON_CODES, *once, *self.codes)
        others = assumptions.condition_codes.items()
        assumed = [code for name, code in others if CONDITIONS[name] in usual]
        return list(dict.fromkeys((*usual, *assumed)))

    def success_status(self, assumptions: Assumptions) -> int:
        """Return the status of a successful first answer."""
        return self.success if isinstance(self.success, int) else getattr(assumptions, self.success)

    def least_role(self, assumptions: Assumptions) -> str:
        """Return the least project role that may make this call (call 3: the organization's)."""
        return str(getattr(assumptions, self.role, self.role))


def problem_status(
    code: str, assumptions: Assumptions, spec: CallSpec | None = None, own: int | None = None
) -> int:
    """Return the status that a problem code has, as an answer of a call.

    `own` is the one of this very answer, where it has another than is usual. A call that lists its
    error statuses has no other one while that list is assumed to be closed.
    """
    usual = PROBLEMS[code].status
    status = assumptions.problem_statuses.get(code, usual)
    if own is not None and own != usual:
        status = own
    if spec is None or assumptions.listed_statuses == "open":
        return status
    return next((one for one in (status, usual, 400) if one in spec.listed_statuses), status)


def is_retryable(code: str) -> bool:
    """Return the `retryable` of a problem code."""
    return PROBLEMS[code].retryable


CURSOR = QueryParameter(
    value="cursor",
    named_by="cursor_parameter",
    pattern="[A-Za-z0-9_-]{1,512}",
    wrong="is not the next_cursor of a page of this project's deployments; leave it out to start "
    "again.",
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
    named_by="limit_parameter",
    pattern="[1-9][0-9]?|100",
    wrong="must be an integer from 1 to 100.",
    default="default_page_size",
    # Said in words, not as `default`: generated clients would send a default with each request,
    # and so come to depend on an assumption.
    description="Most items on the page",
    default_description="; {} if left out.",
    schema={"type": "integer", "minimum": 1, "maximum": 100},
)
_ENVIRONMENT = QueryParameter(
    value="environment",
    named_by="environment_parameter",
    pattern="dev|prod",
    wrong="has another value; it takes dev or prod.",
    missing="is required; it takes dev or prod.",
    default="missing_environment",
    description="Whose compute configuration to read.",
    default_description=" {} if left out.",
    schema={"$ref": "#/components/schemas/Environment"},
)

_ROWS = (
    CallSpec(
        call_id="set_project_powered_by_flag",
        method="PUT",
        path="/v1/projects/{project_id}/powered-by-flag",
        summary="Show or hide the flag",
        description="Show or hide the 'Powered by the service' flag on a project's production site.",
        response="PoweredByFlag",
        role="owner",
        permission="projects.write",
        body="SetPoweredByFlagRequest",
        idempotent=True,
        codes=("powered_by_flag_required",),
        listed_statuses=(400, 401, 403, 404, 409, 503),
        place="Endpoints, 1",
        body_clause="Body (required, application/json): { enabled: boolean (required) }, no other "
        "properties.",
        retry_clause="Same key and same body: first result returned without switching again.",
        leaves="the project's flag was switched",
        identity_is_specified=True,
        success_is_specified=True,
        body_is_specified=True,
    ),
    CallSpec(
        call_id="initialize_managed_source",
        method="POST",
        path="/v1/projects/{project_id}/source:initialize",
        summary="Initialize managed Git source",
        description="Start an asynchronous operation that initializes a project's managed Git source.",
        success="accepted_status",
        role="source_role",
        permission="projects.write",
        body="InitializeManagedSourceRequest",
        idempotent=True,
        decided_by="source_profile",
        codes=("etag_mismatch", "insufficient_organization_credits"),
        place="Endpoints, 2",
        body_clause="Body (application/json): { expected_source_generation: integer }.",
        retry_clause="Headers: Idempotency-Key required, X-Request-Id optional.",
        leaves="started initializing the project's managed source",
    ),
    CallSpec(
        call_id="create_user_api_key",
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
        replayed="key_replayed_status",
        codes=(
            "interactive_login_required",
            "api_key_permissions_unavailable",
            "api_key_creation_uncertain",
        ),
        place="Endpoints, 3",
        body_clause="Body (application/json): { name: string, length 1 to 64 }.",
        leaves="user API keys, valid 90 days",
        identity_is_specified=True,
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
        success="accepted_status",
        role="domains_role",
        permission="domains.write",
        idempotent=True,
        decided_by="domains_profile",
        codes=("paid_plan_required", "insufficient_organization_credits"),
        place="Endpoints, 4",
        retry_clause="Starts an idempotent durable operation for the exact project-derived "
        "development, production and mail hostnames",
        leaves="started applying the project's domains",
    ),
    CallSpec(
        call_id="get_dns_authorization",
        path="/v1/projects/{project_id}/edge-dns",
        summary="Get DNS authorization status",
        description="Read the project-scoped DNS provider authorization state, without credentials.",
        response="DnsAuthorization",
        role="dns_role",
        permission="dns.read",
        place="Endpoints, 5",
    ),
    CallSpec(
        call_id="list_deployments",
        path="/v1/projects/{project_id}/deployments",
        summary="List deployments",
        description="Page through a project's deployments.",
        response="DeploymentPage",
        role="deployments_role",
        permission="deployments.read",
        query=(CURSOR, _LIMIT),
        decided_by="deployment_order",
        place="Endpoints, 6",
        query_clause="Query: a continuation cursor [...] and a maximum page size (integer 1 to 100).",
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
        success="ticket_created_status",
        response="DevAccessTicket",
        role="owner",
        permission="dev_access.write",
        place="Endpoints, 7",
        leaves="dev access tickets, valid ten minutes",
    ),
    CallSpec(
        call_id="read_database_compute",
        path="/v1/projects/{project_id}/database/compute",
        summary="Read database compute",
        description="Read the observed managed database compute configuration for dev or prod.",
        response="DatabaseCompute",
        role="reader",
        permission="database.read",
        query=(_ENVIRONMENT,),
        codes=("compute_performance_unavailable",),
        place="Endpoints, 8",
        query_clause="Query: one parameter choosing the environment, allowed values dev, prod.",
    ),
    CallSpec(
        call_id="get_operation",
        path="/v1/operations/{operation_id}",
        subject="operation",
        summary="Poll an operation",
        description="Read a durable operation as it now is.",
        role="operation_role",
        permission="projects.read",
        path_from="operation_path",
    ),
)

#: Every call, by call_id, in the contract's order; and those that need no operation to be made.
ALL_CALLS: dict[str, CallSpec] = {spec.call_id: spec for spec in _ROWS}
CALLS: dict[str, CallSpec] = {
    call_id: spec for call_id, spec in ALL_CALLS.items() if spec.subject != "operation"
}
GET_OPERATION = ALL_CALLS["get_operation"]
_BY_OPERATION_ID = {spec.operation_id: call_id for call_id, spec in ALL_CALLS.items()}


def call_named(word: str) -> str:
    """Return the call_id of the call that the OpenAPI document names so; any other word as it is."""
    return _BY_OPERATION_ID.get(word, word)


_NO_PATH = "The API has no such path."


class Match(NamedTuple):
    """A call, and the id of its subject as the path has it."""

    spec: CallSpec
    subject_id: str


class MethodRefused(Refused):
    """405: the path exists, the method does not; `allow` lists those that do."""

    def __init__(self, method: str, allow: list[str], subject: Subject, subject_id: str) -> None:
        super().__init__(
            "invalid_request",
            f"This path does not take {method[:32]}; it takes {', '.join(allow)}.",
            status=405,
        )
        self.assumption = "wrong_method"
        self.allow = ", ".join(allow)
        self.subject = subject
        self.subject_id = subject_id

    def as_unknown_path(self) -> Refused:
        """Return the refusal of the same request where such a path is unknown."""
        why = f"the path takes {self.allow}"
        return Refused("resource_not_found", _NO_PATH, why=why, assumption="wrong_method")


class CallTable:
    """The calls as the assumptions of a world address them, found by method and path.

    A path is matched whole, and what stands behind an id (`{id}:cancel`) too; the one with the most
    text beside its ids wins. A look-up costs the same for every call, and clients ask for the same few
    paths over and over: those are remembered.
    """

    def __init__(self, assumptions: Assumptions = DEFAULTS) -> None:
        self.specs = tuple(
            replace(spec, path=getattr(assumptions, spec.path_from)) if spec.path_from else spec
            for spec in _ROWS
        )
        self.by_id: dict[str, CallSpec] = {spec.call_id: spec for spec in self.specs}
        #: Of each call, what its whole path is, and how much of that stands beside its ids.
        self._patterns = [
            (
                spec,
                re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(spec.path))),
                len(re.sub(r"\{\w+\}", "", spec.path)),
            )
            for spec in self.specs
        ]
        #: Return the call and the id in its path. Raises Refused (404) or MethodRefused (405).
        self.find = lru_cache(maxsize=1024)(self._find)

    def __iter__(self) -> Iterator[CallSpec]:
        return iter(self.specs)

    def recognize(self, method: str, path: str) -> Match | None:
        """Return the call and the id in its path; None: no call has this method and path."""
        try:
            return self.find(method, path)
        except Refused:
            return None

    def _find(self, method: str, path: str) -> Match:
        # A slash that is escaped ends no segment.
        text = unquote(re.sub("%2f", "%252F", path, flags=re.IGNORECASE))
        found = [
            (beside, Match(spec, match[f"{spec.subject}_id"]))
            for spec, pattern, beside in self._patterns
            if (match := pattern.fullmatch(text))
        ]
        most = max((beside for beside, _ in found), default=0)
        methods = {match.spec.method: match for beside, match in found if beside == most}
        if method in methods:
            return methods[method]
        for spec, subject_id in methods.values():
            raise MethodRefused(method, [*methods], spec.subject, subject_id)
        raise Refused("resource_not_found", _NO_PATH, why="no call has this path")


@lru_cache(maxsize=16)
def calls_at(operation_path: str) -> CallTable:
    """Return the table of calls where operations are polled at `operation_path`."""
    return CallTable(Assumptions(operation_path=operation_path))


def describe_calls(assumptions: Assumptions = DEFAULTS) -> list[dict[str, Any]]:
    """Return every call as a document: its address, what it reads, who may make it, its answers."""
    plain = "call_id operation_id method path subject summary description idempotent interactive"
    return [
        {name: getattr(spec, name) for name in (*plain.split(), "response")}
        | {
            "body": [
                {
                    "name": field.name,
                    "type": field.kind.schema["type"],
                    "required": not field.optional,
                    "example": field.keywords["examples"][0],
                }
                for field in (RESOURCES[spec.body].fields if spec.body else ())
            ],
            "query": [
                {
                    "name": parameter.name(assumptions),
                    "required": parameter.required(assumptions),
                    "description": parameter.description,
                    "pattern": parameter.pattern,
                    "schema": dict(parameter.schema),
                }
                for parameter in spec.query
            ],
            "role": spec.least_role(assumptions),
            "permission": spec.permission or None,
            "success": spec.success_status(assumptions),
            "codes": spec.all_codes(assumptions),
        }
        for spec in CallTable(assumptions)
    ]
