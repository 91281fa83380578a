"""The resources of the contract as models: what the OpenAPI document is generated from.

Request models also check what clients send. Responses are written by the world's views; the tests
hold every answer against these models. Loading pydantic takes a while, so nothing on the way to a
first answer imports this module before it is needed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from hosting_emulator.contract.ids import ULID_PATTERN

Ulid = Annotated[
    str,
    Field(
        pattern=ULID_PATTERN,
        min_length=26,
        max_length=26,
        examples=["01JGFJJZ000000000000000001"],
    ),
]
Timestamp = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
#: An optional field: absent when it has no value, or null where the assumption `empty_fields` says so.
Cursor = Annotated[str, Field(pattern="^[A-Za-z0-9_-]+$")]


def _absent() -> Any:
    # An optional field has no default in the document: generators turn `default: null` into required.
    return Field(default=None)


class Model(BaseModel):
    """Base of the open models: clients must accept fields they do not know."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class ClosedModel(BaseModel):
    """Base of the models that the contract closes: no additional properties."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class SetPoweredByFlagRequest(ClosedModel):
    """Body of call 1."""

    enabled: bool
    """Whether the flag is to be shown."""


class InitializeManagedSourceRequest(Model):
    """Body of call 2."""

    expected_source_generation: Annotated[int, Field(ge=0)]
    """The project's current source generation: 0 before the first initialization."""


class CreateUserApiKeyRequest(Model):
    """Body of call 3."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
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

    code: str
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
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    created_at: Timestamp
    updated_at: Timestamp
    blocking_operation_id: Ulid | SkipJsonSchema[None] = _absent()
    """The active operation that holds the project mutation claim this queued one waits on."""
    deployment_id: Ulid | SkipJsonSchema[None] = _absent()
    """The deployment this operation created."""
    result: dict[str, Any] | SkipJsonSchema[None] = _absent()
    """Outcome payload."""
    error: OperationError | SkipJsonSchema[None] = _absent()
    progress: Progress | SkipJsonSchema[None] = _absent()
    reconciliation: Reconciliation | SkipJsonSchema[None] = _absent()


class Deployment(Model):
    """A deployment of a project."""

    id: Ulid
    project_id: Ulid
    operation_id: Ulid
    commit_sha: str
    source_digest: str
    build_plan_digest: str
    status: str
    """An open set: queued is one value."""
    created_at: Timestamp
    updated_at: Timestamp
    artifact_digest: str | SkipJsonSchema[None] = _absent()
    url: str | SkipJsonSchema[None] = _absent()


class DeploymentPage(Model):
    """A page of deployments."""

    items: list[Deployment]
    next_cursor: Cursor | None = _absent()
    """Opaque continuation cursor; null on the last page."""


class UserApiKey(Model):
    """Metadata of a user API key."""

    id: Ulid
    organization_id: Ulid
    name: Annotated[str, Field(min_length=1, max_length=64)]
    obfuscated_value: str
    permissions: list[str]
    expires_at: Timestamp
    created_at: Timestamp
    last_used_at: Timestamp | SkipJsonSchema[None] = _absent()


class UserApiKeyCreation(Model):
    """A user API key was created, or its creation was replayed."""

    replayed: bool
    """False on the first creation, true on an exact replay."""
    value: str | None
    """The full token, returned only by the first creation; null on an exact replay."""
    request_id: Annotated[str, Field(min_length=1, max_length=128)]
    key: UserApiKey


class DnsAuthorization(Model):
    """The project-scoped DNS provider authorization, without credentials."""

    status: Literal["not_authorized", "pending", "authorized", "expired", "revoked"]
    zone: (
        Annotated[
            str,
            Field(min_length=4, max_length=253, pattern=r"^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$"),
        ]
        | None
    )
    """The customer's actual zone; null when status is not_authorized."""
    scopes: Annotated[list[Literal["dns.write", "zone.read"]], Field(max_length=2)]
    """Empty when status is not_authorized."""
    expires_at: Timestamp | None
    """Null when status is not_authorized."""


class DevAccessTicket(Model):
    """A single-use ticket for a project's dev origin, valid ten minutes."""

    ticket_id: Ulid
    project_id: Ulid
    environment_id: Ulid
    origin: Annotated[str, Field(pattern=r"^https://dev-[a-z]+-[a-z]+-[a-z]+\.[a-z0-9.:-]+$")]
    redeem_url: Annotated[
        str,
        Field(
            pattern=r"^https://[^/]+/\.service/dev-access/redeem\?stage=dev&ticket=[A-Za-z0-9_-]{43}$"
        ),
    ]
    expires_at: Timestamp


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
    region: str
    pending_state: str | SkipJsonSchema[None] = _absent()


class DatabaseCompute(Model):
    """The observed managed database compute configuration of one environment."""

    project_id: Ulid
    environment: Literal["dev", "prod"]
    data_mode: str
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
    request_id: Annotated[str, Field(min_length=1, max_length=128)]
    retryable: bool
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
