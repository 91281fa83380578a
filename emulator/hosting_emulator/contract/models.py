"""The resources of the contract as models: what the OpenAPI document is generated from.

Request models also check what clients send. Responses are written by the world's views; the tests
hold every answer against these models. Loading pydantic takes a while, so nothing on the way to a
first answer imports this module before it is needed.

What the document says of a model stands here, except what an assumption decides: that is added
where the document is made (`openapi_schemas`). It is longer than our other files because it is the
contract's list of resources.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypeAliasType

from hosting_emulator.contract.ids import ULID_PATTERN

Ulid = Annotated[str, Field(pattern=ULID_PATTERN, min_length=26, max_length=26)]
Timestamp = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

# A TypeAliasType becomes a schema with its own name, so that generated clients have one type for it,
# named as the contract would, instead of one for each field that uses it.
Environment = TypeAliasType("Environment", Literal["dev", "prod"])
OperationState = TypeAliasType(
    "OperationState",
    Annotated[
        Literal["queued", "running", "succeeded", "failed", "cancelled"],
        Field(description="Terminal are succeeded, failed and cancelled."),
    ],
)
DnsAuthorizationStatus = TypeAliasType(
    "DnsAuthorizationStatus",
    Literal["not_authorized", "pending", "authorized", "expired", "revoked"],
)
DnsScope = TypeAliasType("DnsScope", Literal["dns.write", "zone.read"])
OperationResult = TypeAliasType(
    "OperationResult",
    Annotated[
        dict[str, Any],
        Field(description="Outcome payload. The contract does not show what it holds."),
    ],
)

Cursor = Annotated[str, Field(pattern="^[A-Za-z0-9_-]+$", examples=["bmV4dC1wYWdl"])]
RequestId = Annotated[
    str, Field(min_length=1, max_length=128, examples=["req_01JGFJJZ000000000000000002"])
]
_Digest = Annotated[str, Field(examples=["sha256:" + "0" * 64])]


def _absent() -> Any:
    # An optional field: absent without a value, or null where the assumption `empty_fields` says so.
    # The document drops this default, since generators turn `default: null` into required.
    return Field(default=None)


class Model(BaseModel):
    """Base of the open models: clients must accept fields they do not know."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class ClosedModel(BaseModel):
    """Base of the models that the contract closes: no additional properties."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class SetPoweredByFlagRequest(ClosedModel):
    """Whether a project's production site is to show the flag."""

    enabled: Annotated[bool, Field(examples=[True])]
    """Whether the flag is to be shown."""


class InitializeManagedSourceRequest(Model):
    """What the caller knows of the project's source."""

    expected_source_generation: Annotated[int, Field(ge=0, examples=[0])]
    """The project's present source generation: 0 before the first initialization."""


class CreateUserApiKeyRequest(Model):
    """The API key to create."""

    name: Annotated[str, Field(min_length=1, max_length=64, examples=["ci"])]
    """A name for people, 1 to 64 characters."""


class PoweredByFlag(ClosedModel):
    """The 'Powered by the service' flag of a project."""

    project_id: Ulid
    enabled: bool
    """Whether the flag is shown."""
    enabled_at: Timestamp | None
    """When the current owner switched the flag on; null while hidden."""


class OperationError(Model):
    """Why an operation failed."""

    code: Annotated[str, Field(examples=["operation_failed"])]
    """An open set: operation_failed is one value."""
    message: str
    retryable: bool
    suggested_action: str


class Progress(Model):
    """Current deployment dependency observation. Mail readiness does not mean application activation."""

    phase: str
    """An open set: queued is one value."""
    project_id: Ulid
    observed_at: Timestamp
    suggested_action: str
    deployment_id: Ulid | SkipJsonSchema[None] = _absent()
    next_poll_after_seconds: Annotated[int, Field(ge=0)] | SkipJsonSchema[None] = _absent()
    """How long to wait before polling again."""
    build_completed_at: Timestamp | SkipJsonSchema[None] = _absent()


class Reconciliation(Model):
    """Current observation for queued or running work. A completed attempt alone is no success."""

    state: str
    """An open set: required is one value."""
    attempt_id: str | SkipJsonSchema[None] = _absent()
    observed_at: Timestamp | SkipJsonSchema[None] = _absent()
    suggested_action: str | SkipJsonSchema[None] = _absent()


class Operation(Model):
    """Durable record of an accepted asynchronous mutation. Poll it until its state is terminal."""

    id: Ulid
    state: OperationState
    created_at: Timestamp
    updated_at: Timestamp
    blocking_operation_id: Ulid | SkipJsonSchema[None] = _absent()
    """The active operation that holds the project mutation claim this queued one waits on."""
    deployment_id: Ulid | SkipJsonSchema[None] = _absent()
    """The deployment this operation created."""
    result: OperationResult | SkipJsonSchema[None] = _absent()
    error: OperationError | SkipJsonSchema[None] = _absent()
    progress: Progress | SkipJsonSchema[None] = _absent()
    reconciliation: Reconciliation | SkipJsonSchema[None] = _absent()


class Deployment(Model):
    """A deployment of a project."""

    id: Ulid
    project_id: Ulid
    operation_id: Ulid
    """The operation that created it."""
    commit_sha: Annotated[str, Field(examples=["0" * 40])]
    source_digest: _Digest
    build_plan_digest: _Digest
    status: str
    """An open set: queued is one value."""
    created_at: Timestamp
    updated_at: Timestamp
    artifact_digest: _Digest | SkipJsonSchema[None] = _absent()
    url: str | SkipJsonSchema[None] = _absent()


class DeploymentPage(Model):
    """A page of deployments."""

    items: list[Deployment]
    next_cursor: Cursor | None = _absent()
    """Opaque continuation cursor; null or absent on the last page."""


class UserApiKey(Model):
    """Metadata of a user API key."""

    id: Ulid
    organization_id: Ulid
    name: Annotated[str, Field(min_length=1, max_length=64, examples=["ci"])]
    obfuscated_value: str
    """Enough of the token to tell it from others."""
    permissions: list[str]
    expires_at: Timestamp
    """90 days after its creation."""
    created_at: Timestamp
    last_used_at: Timestamp | SkipJsonSchema[None] = _absent()


class UserApiKeyCreation(Model):
    """A user API key was created, or its creation was replayed."""

    replayed: bool
    """False on the first creation, true on an exact replay."""
    value: str | None
    """The full token, returned only by the first creation; null on an exact replay."""
    request_id: RequestId
    key: UserApiKey


class DnsAuthorization(Model):
    """The project-scoped DNS provider authorization, without credentials."""

    status: DnsAuthorizationStatus
    zone: (
        Annotated[
            str,
            Field(
                min_length=4,
                max_length=253,
                pattern=r"^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$",
                examples=["shop.example"],
            ),
        ]
        | None
    )
    """The customer's actual zone; null when status is not_authorized."""
    scopes: Annotated[list[DnsScope], Field(max_length=2)]
    """Empty when status is not_authorized."""
    expires_at: Timestamp | None
    """Null when status is not_authorized."""


class DevAccessTicket(Model):
    """A single-use ticket for a project's dev origin, valid ten minutes."""

    ticket_id: Ulid
    project_id: Ulid
    environment_id: Ulid
    origin: Annotated[
        str,
        Field(
            pattern=r"^https://dev-[a-z]+-[a-z]+-[a-z]+\.[a-z0-9.:-]+$",
            examples=["https://dev-calm-green-river.dev.localhost"],
        ),
    ]
    """Https origin of the immutable dev project host."""
    redeem_url: Annotated[
        str,
        Field(
            pattern=r"^https://[^/]+/\.service/dev-access/redeem\?stage=dev&ticket=[A-Za-z0-9_-]{43}$",
            examples=[
                "https://dev-calm-green-river.dev.localhost/.service/dev-access/redeem"
                "?stage=dev&ticket=" + "A" * 43
            ],
        ),
    ]
    """Opens the dev origin, once. It holds the ticket itself, which is not shown again."""
    expires_at: Timestamp
    """Ten minutes after issuance."""


class DatabasePlacement(Model):
    """Observed settings of a managed database; not a completed resize operation."""

    min_cu: float
    max_cu: float
    min_memory_gb: float
    max_memory_gb: float
    suspend_timeout_seconds: Annotated[int, Field(ge=-1)]
    """0 means provider default, -1 never suspend, otherwise the configured provider value."""
    state: str
    """An open set: init is one value."""
    disabled: bool
    region: Annotated[str, Field(examples=["eu-central-1"])]
    pending_state: str | SkipJsonSchema[None] = _absent()
    """The state it is changing to. An open set, like state."""


class DatabaseCompute(Model):
    """The observed managed database compute configuration of one environment."""

    project_id: Ulid
    environment: Environment
    data_mode: Annotated[str, Field(examples=["shared", "separate"])]
    """An open set: with shared, both environments resolve to the same physical database."""
    observed_at: Timestamp
    database: DatabasePlacement | None
    """Null means the owned environment has no confirmed managed placement."""


class ProblemDetails(Model):
    """RFC 9457 Problem Details, extended with recovery fields."""

    type: Annotated[str, Field(json_schema_extra={"format": "uri-reference"})]
    """Documentation link: {docs_url}/errors/<code with hyphens instead of underscores>."""
    title: Annotated[str, Field(min_length=1)]
    status: Annotated[int, Field(ge=400, le=599)]
    code: str
    request_id: RequestId
    """Equal to the header X-Request-Id."""
    retryable: bool
    """Whether the same request, sent again unchanged, can succeed."""
    suggested_action: Annotated[str, Field(min_length=1)]
    detail: str | SkipJsonSchema[None] = _absent()
    instance: (
        Annotated[str, Field(json_schema_extra={"format": "uri-reference"})] | SkipJsonSchema[None]
    ) = _absent()
    retry_after_seconds: Annotated[int, Field(ge=1, le=86_400)] | SkipJsonSchema[None] = _absent()
    """For a rate limit; matches Retry-After."""


RESPONSES: dict[str, type[BaseModel]] = {
    model.__name__: model
    for model in (
        PoweredByFlag,
        Operation,
        UserApiKeyCreation,
        DnsAuthorization,
        DeploymentPage,
        DevAccessTicket,
        DatabaseCompute,
        ProblemDetails,
    )
}
_REQUESTS: dict[str, type[BaseModel]] = {
    model.__name__: model
    for model in (SetPoweredByFlagRequest, InitializeManagedSourceRequest, CreateUserApiKeyRequest)
}


def request_model(name: str) -> type[BaseModel]:
    """Return the model of a request body by its name in the call table."""
    return _REQUESTS[name]


def all_models() -> list[type[BaseModel]]:
    """Return every model that the document names."""
    return [*_REQUESTS.values(), *RESPONSES.values()]
