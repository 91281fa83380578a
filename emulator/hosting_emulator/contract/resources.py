"""Declares the contract's resources. Each declaration quotes the corresponding row in the
contract's tables.

`declarations.py` explains how types declare presence, null and bounds. `tests/contract` checks each
declaration against the rows that it quotes, and `tests/lab` checks the rows against the contract.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from hosting_emulator.contract.declarations import (
    Component,
    FieldSpec,
    Format,
    ResourceSpec,
    Sentence,
    resource,
)
from hosting_emulator.contract.fields import Resource, read_resource, resource_name
from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.problems import PROBLEMS, RETRY_AFTER_MAX, RETRY_AFTER_MIN

# --- Types ---------------------------------------------------------------------------------------

Ulid = Annotated[str, Format("ulid"), Meta(min_length=26, max_length=26, pattern=ULID_PATTERN)]
Timestamp = Annotated[
    str,
    Format("timestamp"),
    Meta(extra_json_schema={"format": "date-time", "x-assumption": "timestamp_form"}),
]
UriReference = Annotated[
    str, Format("uri_reference"), Meta(extra_json_schema={"format": "uri-reference"})
]
#: A string that is secret, so reports must not show it.
Secret = Annotated[str, Format("secret")]
#: A string that an alteration can replace with any other string.
AnyValue = Annotated[str, FieldSpec(may_differ="value")]
AnyNumber = Annotated[float, FieldSpec(may_differ="value")]
FilledText = Annotated[str, Meta(min_length=1)]
RequestId = Annotated[str, Meta(min_length=1, max_length=128)]
ApiKeyName = Annotated[str, Meta(min_length=1, max_length=64)]
Cursor = Annotated[str, Format("cursor"), Meta(pattern="^[A-Za-z0-9_-]+$")]
Zone = Annotated[
    str,
    Format("zone"),
    Meta(min_length=4, max_length=253, pattern=r"^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$"),
]
_DEV_ORIGIN = r"https://dev-[a-z]+-[a-z]+-[a-z]+\.[a-z0-9.-]+"
DevOrigin = Annotated[str, Format("origin"), Meta(pattern=f"^{_DEV_ORIGIN}$")]
RedeemUrl = Annotated[
    str,
    Format("redeem_url"),
    Meta(
        pattern=rf"^{_DEV_ORIGIN}/\.service/dev-access/redeem"
        r"\?stage=dev&ticket=[A-Za-z0-9_-]{43}$"
    ),
]
ErrorStatus = Annotated[int, Meta(ge=400, le=599)]
WaitSeconds = Annotated[int, Meta(ge=RETRY_AFTER_MIN, le=RETRY_AFTER_MAX)]
SuspendTimeout = Annotated[int, Meta(ge=-1)]
Environment = Annotated[Literal["dev", "prod"], Component(name="Environment")]
DnsScope = Annotated[Literal["dns.write", "zone.read"], Component(name="DnsScope")]
DnsScopes = Annotated[list[DnsScope], Meta(max_length=2)]
DnsAuthorizationStatus = Annotated[
    Literal["not_authorized", "pending", "authorized", "expired", "revoked"],
    Component(name="DnsAuthorizationStatus"),
]
ProblemCode = Annotated[
    str,
    Format("enum"),
    Component(name="ProblemCode"),
    Meta(extra_json_schema={"enum": list(PROBLEMS)}),
]
OperationResult = Annotated[
    dict[str, Any],
    Component(
        name="OperationResult",
        description="Outcome payload. The contract does not show its content.",
    ),
    Meta(extra_json_schema={"additionalProperties": True}),
]

# --- States of an operation ----------------------------------------------------------------------

State = Literal["queued", "running", "succeeded", "failed", "cancelled"]
#: All operation states, the terminal states, and the terminal states that count as failures.
STATES: tuple[State, ...] = get_args(State)
TERMINAL: tuple[State, ...] = ("succeeded", "failed", "cancelled")
FAILURES = tuple(state for state in TERMINAL if state != "succeeded")
_TERMINAL_LIST = f"{', '.join(TERMINAL[:-1])} and {TERMINAL[-1]}"
OperationState = Annotated[
    State,
    Component(name="OperationState", description=f"The terminal states are {_TERMINAL_LIST}."),
]


def with_states(text: str) -> str:
    """Replace {states} with the operation states, and {ends} with the terminal states."""
    ends = f"{', '.join(TERMINAL[:-1])} or {TERMINAL[-1]}"
    return text.replace("{states}", ", ".join(STATES)).replace("{ends}", ends)


# --- Requests and responses ----------------------------------------------------------------------


@resource(is_request=True)
class SetPoweredByFlagRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The desired state of a project's flag."""

    enabled: Annotated[
        bool,
        FieldSpec(description="Whether to show the flag.", required=True, examples=(True,)),
    ]


@resource(is_request=True)
class InitializeManagedSourceRequest(Struct, frozen=True, kw_only=True):
    """The source generation that the caller expects the project to have."""

    expected_source_generation: Annotated[
        int,
        FieldSpec(
            description=(
                "The project's current source generation, which is 0 before the first "
                "initialization."
            ),
            assumption="source_generation",
            examples=(0,),
            our_bounds=Meta(ge=0),
        ),
    ]


@resource(is_request=True)
class CreateUserApiKeyRequest(Struct, frozen=True, kw_only=True):
    """The API key to create."""

    name: Annotated[
        ApiKeyName,
        FieldSpec(
            description="A descriptive name of 1 to 64 characters.",
            assumption="required_body",
            examples=("ci",),
        ),
    ]


@resource(key="flag")
class PoweredByFlag(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The 'Powered by the service' flag of a project."""

    project_id: Annotated[Ulid, FieldSpec(sentence="| project_id | Ulid | yes | |", required=True)]
    enabled: Annotated[
        bool,
        FieldSpec(
            sentence="| enabled | boolean | yes | whether the flag is shown |",
            description="Whether the flag is shown.",
            required=True,
        ),
    ]
    enabled_at: Annotated[
        Timestamp | None,
        FieldSpec(
            sentence=(
                "| enabled_at | timestamp or null | yes | when the current owner switched the flag "
                "on; null while hidden |"
            ),
            description="When the current owner switched the flag on; null while hidden.",
            required=True,
        ),
    ]


@resource(
    key="error-object",
    sentence=(
        "error object: code (string; a value such as operation_failed appears), message (string), "
        "retryable (boolean), suggested_action (string)."
    ),
    presence="assumed",
)
class OperationError(Struct, frozen=True, kw_only=True):
    """The reason why an operation failed."""

    code: Annotated[
        str,
        FieldSpec(
            contract_word="operation_failed", examples=("operation_failed",), may_differ="value"
        ),
    ]
    message: AnyValue
    retryable: Annotated[bool, FieldSpec(may_differ="value")]
    suggested_action: AnyValue


@resource(
    key="progress-object",
    sentence=(
        "progress object: phase (string; a value queued appears), project_id (Ulid), deployment_id "
        "(Ulid), observed_at (timestamp), next_poll_after_seconds (integer; a value of 60 "
        "appears), suggested_action (string), build_completed_at (timestamp)."
    ),
    presence="open",
)
class ProgressResource(Struct, frozen=True, kw_only=True):
    """Current observation of a deployment's dependencies.

    Mail readiness does not mean application activation.
    """

    phase: Annotated[
        str,
        FieldSpec(contract_word="queued", assumption="progress_phases", may_differ="word"),
    ]
    project_id: Ulid
    deployment_id: Ulid | UnsetType = UNSET
    observed_at: Timestamp
    next_poll_after_seconds: Annotated[
        int | UnsetType,
        FieldSpec(
            description="The number of seconds to wait before polling again.",
            assumption="next_poll",
            our_bounds=Meta(ge=0),
            may_differ="value",
        ),
    ] = UNSET
    suggested_action: AnyValue
    build_completed_at: Timestamp | UnsetType = UNSET


@resource(
    key="reconciliation-object",
    sentence=(
        "reconciliation object: state (string; a value required appears), attempt_id (Ulid-like "
        "identifier string), observed_at (timestamp), suggested_action (string)."
    ),
    presence="open",
)
class ReconciliationResource(Struct, frozen=True, kw_only=True):
    """Current observation for queued or running work.

    A completed attempt alone does not mean success.
    """

    state: Annotated[
        str,
        FieldSpec(contract_word="required", assumption="reconciliation_states", may_differ="word"),
    ]
    attempt_id: str | UnsetType = UNSET
    observed_at: Timestamp | UnsetType = UNSET
    suggested_action: Annotated[str | UnsetType, FieldSpec(may_differ="value")] = UNSET


_OPERATION_TIMES = Sentence(key="operation.times", text="| created_at, updated_at | timestamp | |")


@resource(key="operation", presence="open")
class OperationResource(Struct, frozen=True, kw_only=True):
    """Durable record of an accepted asynchronous mutation.

    Poll the operation until its state is terminal.
    """

    id: Annotated[Ulid, FieldSpec(sentence="| id | Ulid | operation identifier |", essential=True)]
    state: Annotated[
        OperationState,
        FieldSpec(
            sentence="| state | enum queued, running, succeeded, failed, cancelled | |",
            essential=True,
            related_keys=("states.operation",),
        ),
    ]
    created_at: Annotated[Timestamp, FieldSpec(sentence=_OPERATION_TIMES)]
    updated_at: Annotated[Timestamp, FieldSpec(sentence=_OPERATION_TIMES)]
    blocking_operation_id: Annotated[
        Ulid | UnsetType,
        FieldSpec(
            sentence=(
                "| blocking_operation_id | Ulid | the active operation that holds the project "
                "mutation claim this queued operation waits on (appears on operation 2's response) "
                "|"
            ),
            description=(
                "The active operation that holds the project mutation claim for which this "
                "queued operation waits."
            ),
        ),
    ] = UNSET
    deployment_id: Annotated[
        Ulid | UnsetType,
        FieldSpec(
            sentence=(
                "| deployment_id | Ulid | the deployment this operation created (deploy, promotion "
                "or rollback), present in every state; diagnostics of a failed one are read via "
                "deployment logs (appears on operation 2's response) |"
            ),
            description="The deployment that this operation created.",
            essential=True,
        ),
    ] = UNSET
    result: Annotated[
        OperationResult | UnsetType,
        FieldSpec(sentence="| result | object | outcome payload |", may_differ="value"),
    ] = UNSET
    error: Annotated[
        OperationError | UnsetType,
        FieldSpec(sentence="| error | object | failure details, see below |"),
    ] = UNSET
    progress: Annotated[
        ProgressResource | UnsetType,
        FieldSpec(
            sentence=(
                "| progress | object | current deployment dependency observation, separate from "
                "immutable operation history; poll the same operation; mail readiness does not "
                "mean application activation |"
            ),
            essential=True,
        ),
    ] = UNSET
    reconciliation: Annotated[
        ReconciliationResource | UnsetType,
        FieldSpec(
            sentence=(
                "| reconciliation | object | current observation for queued or running work, "
                "separate from the immutable terminal state; a completed reconciliation attempt "
                "alone does not mean the operation succeeded |"
            )
        ),
    ] = UNSET


_DEPLOYMENT_TIMES = Sentence(key="deployment.times", text="| created_at, updated_at | timestamp |")


@resource(key="deployment", presence="open")
class DeploymentResource(Struct, frozen=True, kw_only=True):
    """A deployment of a project."""

    id: Annotated[Ulid, FieldSpec(sentence="| id | Ulid |", essential=True)]
    project_id: Annotated[Ulid, FieldSpec(sentence="| project_id | Ulid |")]
    operation_id: Annotated[
        Ulid,
        FieldSpec(
            sentence="| operation_id | Ulid |",
            description="The operation that created the deployment.",
        ),
    ]
    commit_sha: Annotated[
        str,
        FieldSpec(
            sentence="| commit_sha | string |",
            examples=("0000000000000000000000000000000000000000",),
        ),
    ]
    source_digest: Annotated[
        str,
        FieldSpec(
            sentence="| source_digest | string |",
            examples=("sha256:0000000000000000000000000000000000000000000000000000000000000000",),
        ),
    ]
    build_plan_digest: Annotated[
        str,
        FieldSpec(
            sentence="| build_plan_digest | string |",
            examples=("sha256:0000000000000000000000000000000000000000000000000000000000000000",),
        ),
    ]
    status: Annotated[
        str,
        FieldSpec(
            sentence="| status | string (queued is one value) |",
            contract_word="queued",
            assumption="deployment_statuses",
            may_differ="word",
        ),
    ]
    created_at: Annotated[Timestamp, FieldSpec(sentence=_DEPLOYMENT_TIMES)]
    updated_at: Annotated[Timestamp, FieldSpec(sentence=_DEPLOYMENT_TIMES)]
    artifact_digest: Annotated[
        str | UnsetType,
        FieldSpec(
            sentence="| artifact_digest | string |",
            examples=("sha256:0000000000000000000000000000000000000000000000000000000000000000",),
        ),
    ] = UNSET
    url: Annotated[str | UnsetType, FieldSpec(sentence="| url | string |")] = UNSET


@resource(key="page", presence="assumed")
class DeploymentPage(Struct, frozen=True, kw_only=True):
    """A page of deployments."""

    items: Annotated[
        list[DeploymentResource],
        FieldSpec(
            sentence="items (array of Deployment)",
            required=True,
            assumption="deployment_order",
            related_keys=("deployments.response",),
        ),
    ]
    next_cursor: Annotated[
        Cursor | UnsetType,
        FieldSpec(
            sentence=(
                "next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -)."
            ),
            description="Opaque continuation cursor; absent on the last page.",
            assumption="last_page_cursor",
            examples=("bmV4dC1wYWdl",),
        ),
    ] = UNSET


@resource(
    key="key.metadata",
    sentence=(
        "key: id (Ulid), organization_id (Ulid), name (string), obfuscated_value (string), "
        "permissions (array of string), expires_at (timestamp), created_at (timestamp), "
        "last_used_at (timestamp)."
    ),
    presence="open",
)
class UserApiKey(Struct, frozen=True, kw_only=True):
    """Metadata of a user API key."""

    id: Annotated[Ulid, FieldSpec(essential=True)]
    organization_id: Ulid
    name: Annotated[str, FieldSpec(examples=("ci",), our_bounds=Meta(min_length=1, max_length=64))]
    obfuscated_value: Annotated[
        str, FieldSpec(description="The key's value with most characters hidden.")
    ]
    permissions: Annotated[list[str], FieldSpec(assumption="key_permissions", may_differ="value")]
    expires_at: Annotated[
        Timestamp, FieldSpec(description="The time of expiry, 90 days after creation.")
    ]
    created_at: Timestamp
    last_used_at: Timestamp | UnsetType = UNSET


@resource(key="key", presence="assumed")
class UserApiKeyCreation(Struct, frozen=True, kw_only=True):
    """The result of creating a user API key, or of replaying the creation."""

    replayed: Annotated[
        bool,
        FieldSpec(
            sentence=(
                "| replayed | boolean | false on the first creation; true-valued on an exact "
                "replay |"
            ),
            description="False on the first creation, true on an exact replay.",
            required=True,
        ),
    ]
    value: Annotated[
        Secret | None,
        FieldSpec(
            sentence=(
                "| value | string or null | the full token; returned only by the first creation; "
                "null on an exact replay |"
            ),
            description=(
                "The full token, returned only by the first creation; null on an exact replay."
            ),
            required=True,
            assumption="key_prefix",
        ),
    ]
    request_id: Annotated[
        str,
        FieldSpec(
            sentence="| request_id | string | correlation identifier |",
            assumption="request_id",
            may_differ="value",
            examples=("req_01JGFJJZ000000000000000002",),
            our_bounds=Meta(min_length=1, max_length=128),
        ),
    ]
    key: Annotated[UserApiKey, FieldSpec(sentence="| key | object | key metadata |", required=True)]


@resource(key="dns", presence="assumed")
class DnsAuthorization(Struct, frozen=True, kw_only=True):
    """The project-scoped DNS provider authorization, without credentials."""

    status: Annotated[
        DnsAuthorizationStatus,
        FieldSpec(
            sentence="| status | enum not_authorized, pending, authorized, expired, revoked | |",
            required=True,
            related_keys=("states.dns",),
        ),
    ]
    zone: Annotated[
        Zone | None,
        FieldSpec(
            sentence=(
                "| zone | string or null | hostname, length 4 to 253, lowercase labels separated "
                "by dots, last label 2 to 63 letters; the customer's actual zone; null when status "
                "is not_authorized |"
            ),
            description="The customer's actual zone; null when status is not_authorized.",
            required=True,
            examples=("shop.example",),
            bound_key="limit.zone",
        ),
    ]
    scopes: Annotated[
        DnsScopes,
        FieldSpec(
            sentence=(
                "| scopes | array of enum dns.write, zone.read | at most 2 entries; empty when "
                "status is not_authorized; closed set |"
            ),
            description="Empty when status is not_authorized.",
            required=True,
            bound_key="limit.scopes",
        ),
    ]
    expires_at: Annotated[
        Timestamp | None,
        FieldSpec(
            sentence="| expires_at | timestamp or null | null when status is not_authorized |",
            description="Null when status is not_authorized.",
            required=True,
        ),
    ]


@resource(key="ticket", presence="open")
class DevAccessTicket(Struct, frozen=True, kw_only=True):
    """A single-use ticket for a project's dev origin, valid for ten minutes."""

    ticket_id: Annotated[Ulid, FieldSpec(sentence="| ticket_id | Ulid | |")]
    project_id: Annotated[Ulid, FieldSpec(sentence="| project_id | Ulid | |")]
    environment_id: Annotated[Ulid, FieldSpec(sentence="| environment_id | Ulid | |")]
    origin: Annotated[
        DevOrigin,
        FieldSpec(
            sentence=(
                "| origin | string | https origin of the immutable dev project host, of the form "
                "https://dev-<word>-<word>-<word>.<dev_zone> (lowercase letters in each word) |"
            ),
            description="The https origin of the immutable dev project host.",
            essential=True,
            assumption="dev_zone",
            examples=("https://dev-calm-green-river.dev.localhost",),
        ),
    ]
    redeem_url: Annotated[
        RedeemUrl,
        FieldSpec(
            sentence=(
                "| redeem_url | string | "
                "<origin>/.service/dev-access/redeem?stage=dev&ticket=<ticket>, where <ticket> is "
                "43 characters from A-Z a-z 0-9 _ - |"
            ),
            description=(
                "The single-use URL that opens the dev origin. The ticket in the URL is never "
                "shown again."
            ),
            essential=True,
            assumption="dev_origin_port",
            examples=(
                "https://dev-calm-green-river.dev.localhost/.service/dev-access/redeem?stage=dev&ticket=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            ),
        ),
    ]
    expires_at: Annotated[
        Timestamp,
        FieldSpec(
            sentence="| expires_at | timestamp | ten minutes after issuance |",
            description="The time of expiry, ten minutes after issuance.",
        ),
    ]


@resource(
    key="compute.placement",
    sentence=(
        "database: min_cu (number), max_cu (number), min_memory_gb (number), max_memory_gb "
        "(number), suspend_timeout_seconds (integer: 0 means provider default, -1 means never "
        "suspend, otherwise the configured provider value), state (string; init is one value), "
        "pending_state (string), disabled (boolean), region (string)."
    ),
    presence="open",
)
class DatabasePlacement(Struct, frozen=True, kw_only=True):
    """The settings of a managed database as last observed.

    The observed settings do not show that a resize operation has completed.
    """

    min_cu: AnyNumber
    max_cu: AnyNumber
    min_memory_gb: AnyNumber
    max_memory_gb: AnyNumber
    suspend_timeout_seconds: Annotated[
        SuspendTimeout,
        FieldSpec(
            description=(
                "0 means the provider's default, and -1 means never suspend. Any other value "
                "is the configured provider value."
            ),
            assumption="suspend_timeout",
            may_differ="value",
        ),
    ]
    state: Annotated[
        str, FieldSpec(contract_word="init", assumption="database_states", may_differ="word")
    ]
    pending_state: Annotated[
        str | UnsetType,
        FieldSpec(
            description="The state to which the database is changing. An open set, like `state`.",
            assumption="database_states",
            may_differ="word",
        ),
    ] = UNSET
    disabled: Annotated[bool, FieldSpec(may_differ="value")]
    region: Annotated[str, FieldSpec(examples=("eu-central-1",), may_differ="value")]


@resource(key="compute", presence="open")
class DatabaseCompute(Struct, frozen=True, kw_only=True):
    """The observed managed database compute configuration of an environment."""

    project_id: Annotated[Ulid, FieldSpec(sentence="| project_id | Ulid | |")]
    environment: Annotated[Environment, FieldSpec(sentence="| environment | enum dev, prod | |")]
    data_mode: Annotated[
        str,
        FieldSpec(
            sentence=(
                "| data_mode | string | shared is one value; explicitly shared data resolves to "
                "the same physical database for both environments |"
            ),
            description=(
                "An open set. With `shared`, both environments resolve to the same physical "
                "database."
            ),
            assumption="data_modes",
            may_differ="word",
            meaningful_words=("shared",),
            examples=(
                "shared",
                "separate",
            ),
        ),
    ]
    observed_at: Annotated[
        Timestamp,
        FieldSpec(sentence="| observed_at | timestamp | fresh, tenant-scoped observation |"),
    ]
    database: Annotated[
        DatabasePlacement | None,
        FieldSpec(
            sentence=(
                "| database | object or null | null means the owned environment has no confirmed "
                "managed placement |"
            ),
            description="Null means that the owned environment has no confirmed managed placement.",
            essential=True,
        ),
    ]


@resource(key="problem")
class ProblemDetails(Struct, frozen=True, kw_only=True):
    """RFC 9457 Problem Details, extended with recovery fields."""

    type: Annotated[
        UriReference,
        FieldSpec(
            sentence=(
                "| type | string (URI reference) | yes | documentation link of the form "
                "{docs_url}/errors/<code with hyphens instead of underscores> |"
            ),
            description=(
                "Documentation link: {docs_url}/errors/<code with hyphens instead of underscores>."
            ),
            required=True,
            may_differ="value",
            assumption="docs_url",
        ),
    ]
    title: Annotated[
        FilledText,
        FieldSpec(
            sentence="| title | string | yes | minimum length 1 |",
            required=True,
            may_differ="value",
        ),
    ]
    status: Annotated[
        ErrorStatus,
        FieldSpec(
            sentence="| status | integer | yes | 400 to 599 |", required=True, may_differ="value"
        ),
    ]
    detail: Annotated[
        str | UnsetType, FieldSpec(sentence="| detail | string | no | |", may_differ="value")
    ] = UNSET
    instance: Annotated[
        UriReference | UnsetType,
        FieldSpec(sentence="| instance | string (URI reference) | no | |", may_differ="value"),
    ] = UNSET
    code: Annotated[
        ProblemCode,
        FieldSpec(
            sentence="| code | string | yes | one of the codes below |",
            required=True,
            may_differ="value",
            related_keys=("problem.codes",),
        ),
    ]
    request_id: Annotated[
        RequestId,
        FieldSpec(
            sentence="| request_id | string | yes | 1 to 128 characters |",
            description="Correlation identifier, equal to the X-Request-Id header.",
            required=True,
            may_differ="value",
            examples=("req_01JGFJJZ000000000000000002",),
        ),
    ]
    retryable: Annotated[
        bool,
        FieldSpec(
            sentence="| retryable | boolean | yes | |",
            description="Whether the same request can succeed if it is retried unchanged.",
            required=True,
            assumption="problem_retryable",
            may_differ="value",
        ),
    ]
    retry_after_seconds: Annotated[
        WaitSeconds | UnsetType,
        FieldSpec(
            sentence=(
                "| retry_after_seconds | integer | no | 1 to 86400; for a rate limit; matches "
                "Retry-After |"
            ),
            description=(
                "The number of seconds to wait after a rate limit, equal to the Retry-After header."
            ),
            may_differ="value",
            bound_key="limit.retry-after",
        ),
    ] = UNSET
    suggested_action: Annotated[
        FilledText,
        FieldSpec(
            sentence="| suggested_action | string | yes | minimum length 1 |",
            required=True,
            may_differ="value",
        ),
    ]


#: All resources by name: request bodies, response bodies, and the objects in them.
RESOURCES: Mapping[str, Resource] = {
    resource_name(declaration): read_resource(declaration, spec)
    for declaration, spec in ResourceSpec.declared.items()
}
