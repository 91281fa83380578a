"""The resources of the contract, each declared once: the contract's own rows, and what is ours.

A row of the contract's tables, or its sentence about an object, is quoted as it is written: names,
types, what is required and what may be null are read from it. The OpenAPI document, the reading of
request bodies, the contract check, variation, conduct and the tests all read these declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.problems import PROBLEMS, RETRY_AFTER_MAX, RETRY_AFTER_MIN


class Kind(Struct, frozen=True):
    """A kind of value: its name and JSON Schema.

    `component` names the schema that fields refer to, for kinds that have one of their own; `items`
    is the kind of an array's items; `part` names the resource that an object, or each item, is.
    """

    name: str
    schema: dict[str, Any]
    component: str = ""
    items: Kind | None = None
    part: str = ""


class Field(Struct, frozen=True):
    """A field of a resource.

    Attributes:
        name: Its name on the wire.
        kind: What its values are.
        key: The key of the contract's sentence about it.
        required: Whether the contract says that it is always there.
        nullable: Whether null is one of its values.
        optional: Whether we leave it out, or write null (assumption `empty_fields`), without a value.
        kept: Whether a client cannot go on without it, so that no variation leaves it out.
        about: What the OpenAPI document says of it.
        assumption: The assumption that decides its value, or the words of its open set.
        keywords: Further keywords of its schema: ours, which the contract does not say.
        also: Keys of other sentences that a wrong value breaks as well.
        bound: The key of another sentence that bounds its length or value.
    """

    name: str
    kind: Kind
    key: str = ""
    required: bool = False
    nullable: bool = False
    optional: bool = False
    kept: bool = False
    about: str = ""
    assumption: str = ""
    keywords: dict[str, Any] = {}
    also: str = ""
    bound: str = ""


class Resource(Struct, frozen=True):
    """An object of the contract.

    `clauses` are the contract's sentences about its fields, by key. A `closed` one has no further
    properties. `open_presence`: the contract does not say which of its fields are required.
    """

    name: str
    about: str
    fields: tuple[Field, ...]
    clauses: dict[str, str] = {}
    closed: bool = False
    open_presence: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The names of its fields."""
        return frozenset(field.name for field in self.fields)

    @property
    def parts(self) -> dict[str, str]:
        """The resources of the fields that hold objects of the contract, alone or in a list."""
        return {field.name: field.kind.part for field in self.fields if field.kind.part}

    @property
    def times(self) -> tuple[str, ...]:
        """The fields that hold timestamps."""
        return tuple(field.name for field in self.fields if field.kind is _TIMESTAMP)

    @property
    def may_lack(self) -> tuple[str, ...]:
        """The fields that an answer may leave out although they have a value."""
        return tuple(f.name for f in self.fields if self.open_presence and not f.kept)

    @property
    def may_be_empty(self) -> tuple[str, ...]:
        """The fields that may as well be null as absent when they have no value."""
        return tuple(f.name for f in self.fields if self.open_presence and f.optional)


# --- Kinds ---------------------------------------------------------------------------------------


def _text(name: str = "text", **keywords: Any) -> Kind:
    return Kind(name, {"type": "string", **keywords})


def _integer(least: int, most: int | None = None) -> Kind:
    bounds = {"minimum": least} | ({} if most is None else {"maximum": most})
    return Kind("integer", {"type": "integer", **bounds})


def _enum(component: str, *words: str, **keywords: str) -> Kind:
    return Kind("enum", {"type": "string", "enum": list(words), **keywords}, component)


def _array(items: Kind, **keywords: Any) -> Kind:
    return Kind("array", {"type": "array", **keywords}, items=items, part=items.part)


def _part(resource: str) -> Kind:
    return Kind("object", {}, resource, part=resource)


_TEXT, _BOOLEAN = _text(), Kind("boolean", {"type": "boolean"})
_FILLED = _text(minLength=1)
_ULID = _text("ulid", minLength=26, maxLength=26, pattern=ULID_PATTERN)
_TIMESTAMP = _text("timestamp", format="date-time", **{"x-assumption": "timestamp_form"})
#: By the contract's word for them.
_KINDS = {
    "string": _TEXT,
    "string (URI reference)": _text("uri_reference", format="uri-reference"),
    "boolean": _BOOLEAN,
    "integer": Kind("integer", {"type": "integer"}),
    "number": Kind("number", {"type": "number"}),
    "Ulid": _ULID,
    "Ulid-like identifier string": _TEXT,
    "timestamp": _TIMESTAMP,
    "array of string": _array(_TEXT),
    "array of Deployment": _array(_part("Deployment")),
}
_RESULT = Kind(
    "object",
    {
        "type": "object",
        "additionalProperties": True,
        "description": "Outcome payload. The contract does not show what it holds.",
    },
    "OperationResult",
)
_STATE = _enum(
    "OperationState",
    *("queued", "running", "succeeded", "failed", "cancelled"),
    description="Terminal are succeeded, failed and cancelled.",
)
_DNS_STATUS = _enum(
    "DnsAuthorizationStatus", "not_authorized", "pending", "authorized", "expired", "revoked"
)
_DNS_SCOPES = _array(_enum("DnsScope", "dns.write", "zone.read"), maxItems=2)
_ZONE = _text("zone", minLength=4, maxLength=253, pattern=r"^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$")
_ORIGIN = _text("origin", pattern=r"^https://dev-[a-z]+-[a-z]+-[a-z]+\.[a-z0-9.:-]+$")
_REDEEM_URL = _text(
    "redeem_url",
    pattern=r"^https://[^/]+/\.service/dev-access/redeem\?stage=dev&ticket=[A-Za-z0-9_-]{43}$",
)

# --- Reading the contract's rows -----------------------------------------------------------------

_NAMED = re.compile(r"(\w+) \(([\w -]+)")
_OPEN_SET = re.compile(r"(\w+) is one value|a value (?:such as )?([a-z_]+) appears")


def _examples(*examples: Any) -> dict[str, Any]:
    return {"examples": list(examples)}


def _resource(
    resource: str,
    summary: str,
    prefix: str,
    contract: str,
    *,
    closed: bool = False,
    open_presence: bool = False,
    required: str = "",
    optional: str = "",
    kept: str = "",
    **ours: Mapping[str, Any],
) -> Resource:
    """Declare a resource by the contract's rows and sentences, one a line (or more, indented).

    What follows `=` is our own sentence about the field, for the OpenAPI document.
    `ours` are further attributes of its fields, each by field; `required`, `optional` and `kept`
    name fields.
    """
    clauses: dict[str, str] = {}
    fields = []
    for line in re.sub(r"\n      +", " ", contract).strip().splitlines():
        clause, _, about = line.strip().partition(" = ")
        found = list(_read(clause))
        several = prefix if clause[0] != "|" else f"{prefix}.times"
        clause_key = several if len(found) > 1 else f"{prefix}.{found[0][0]}"
        clauses[clause_key] = clause
        for field, kind, rest in found:
            word = _OPEN_SET.search(rest)
            also = {name: values[field] for name, values in ours.items() if field in values}
            usual = f"An open set: {word[1] or word[2]} is one value." if word else ""
            fields.append(
                Field(
                    field,
                    also.pop("kind", None) or _KINDS[kind.removesuffix(" or null")],
                    clause_key,
                    required="| yes |" in clause or field in required.split(),
                    nullable=kind.endswith(" or null"),
                    optional="| no |" in clause or field in optional.split(),
                    kept=field in kept.split(),
                    about=also.pop("about", about or usual),
                    **also,
                )
            )
    return Resource(resource, summary, tuple(fields), clauses, closed, open_presence)


def _read(clause: str) -> Iterator[tuple[str, str, str]]:
    """Yield each field that a row or sentence names, the contract's word for its type, and more."""
    if clause.startswith("|"):
        names, kind, *_ = (cell.strip() for cell in clause.strip("|").split("|"))
        kind = kind if kind in _KINDS else kind.partition(" (")[0]
        yield from ((name, kind, clause) for name in names.split(", "))
        return
    found = list(_NAMED.finditer(clause))
    ends = [match.start() for match in found[1:]] + [len(clause)]
    for match, end in zip(found, ends, strict=True):
        yield match[1], match[2], clause[match.start() : end]


# --- What calls send -----------------------------------------------------------------------------

_KEY_NAME = {"minLength": 1, "maxLength": 64, **_examples("ci")}
_SET_FLAG = Field(
    "enabled", _BOOLEAN, about="Whether the flag is to be shown.", keywords=_examples(True)
)
_GENERATION = Field(
    "expected_source_generation",
    _integer(0),
    about="The project's present source generation: 0 before the first initialization.",
    assumption="source_generation",
    keywords=_examples(0),
)
_NEW_KEY = Field("name", _TEXT, about="A name for people, 1 to 64 characters.", keywords=_KEY_NAME)
REQUESTS = (
    Resource(
        "SetPoweredByFlagRequest",
        "Whether a project's production site is to show the flag.",
        (_SET_FLAG,),
        closed=True,
    ),
    Resource(
        "InitializeManagedSourceRequest",
        "What the caller knows of the project's source.",
        (_GENERATION,),
    ),
    Resource("CreateUserApiKeyRequest", "The API key to create.", (_NEW_KEY,)),
)

# --- What they answer ------------------------------------------------------------------------------

_DIGEST = _examples("sha256:" + "0" * 64)
_REQUEST_ID: dict[str, Any] = {"minLength": 1, "maxLength": 128}
_REQUEST_ID_EXAMPLE = _examples("req_01JGFJJZ000000000000000002")
_DEV_ORIGIN = "https://dev-calm-green-river.dev.localhost"
_TICKET_URL = f"{_DEV_ORIGIN}/.service/dev-access/redeem?stage=dev&ticket={'A' * 43}"

_ANSWERS = (
    _resource(
        "PoweredByFlag",
        "The 'Powered by the service' flag of a project.",
        "flag",
        """
    | project_id | Ulid | yes | |
    | enabled | boolean | yes | whether the flag is shown |
      = Whether the flag is shown.
    | enabled_at | timestamp or null | yes | when the current owner switched the flag on; null while
      hidden |
      = When the current owner switched the flag on; null while hidden.
        """,
        closed=True,
    ),
    _resource(
        "Operation",
        "Durable record of an accepted asynchronous mutation. Poll it until its state is terminal.",
        "operation",
        """
    | id | Ulid | operation identifier |
    | state | enum queued, running, succeeded, failed, cancelled | |
    | created_at, updated_at | timestamp | |
    | blocking_operation_id | Ulid | the active operation that holds the project mutation claim this
      queued operation waits on (appears on operation 2's response) |
      = The active operation that holds the project mutation claim this queued one waits on.
    | deployment_id | Ulid | the deployment this operation created (deploy, promotion or rollback),
      present in every state; diagnostics of a failed one are read via deployment logs (appears on
      operation 2's response) |
      = The deployment this operation created.
    | result | object | outcome payload |
    | error | object | failure details, see below |
    | progress | object | current deployment dependency observation, separate from immutable
      operation history; poll the same operation; mail readiness does not mean application
      activation |
    | reconciliation | object | current observation for queued or running work, separate from the
      immutable terminal state; a completed reconciliation attempt alone does not mean the operation
      succeeded |
        """,
        open_presence=True,
        optional="blocking_operation_id deployment_id result error progress reconciliation",
        # Progress has a variation point of its own.
        kept="id state deployment_id progress",
        kind={
            "state": _STATE,
            "result": _RESULT,
            "error": _part("OperationError"),
            "progress": _part("Progress"),
            "reconciliation": _part("Reconciliation"),
        },
        also={"state": "states.operation"},
    ),
    _resource(
        "OperationError",
        "Why an operation failed.",
        "error-object",
        """
    error object: code (string; a value such as operation_failed appears), message (string),
      retryable (boolean), suggested_action (string).
        """,
        keywords={"code": _examples("operation_failed")},
    ),
    _resource(
        "Progress",
        "Current deployment dependency observation. "
        "Mail readiness does not mean application activation.",
        "progress-object",
        """
    progress object: phase (string; a value queued appears), project_id (Ulid), deployment_id
      (Ulid), observed_at (timestamp), next_poll_after_seconds (integer; a value of 60 appears),
      suggested_action (string), build_completed_at (timestamp).
        """,
        open_presence=True,
        optional="deployment_id next_poll_after_seconds build_completed_at",
        about={"next_poll_after_seconds": "How long to wait before polling again."},
        assumption={"phase": "progress_phases"},
        keywords={"next_poll_after_seconds": {"minimum": 0}},
    ),
    _resource(
        "Reconciliation",
        "Current observation for queued or running work. A completed attempt alone is no success.",
        "reconciliation-object",
        """
    reconciliation object: state (string; a value required appears), attempt_id (Ulid-like
      identifier string), observed_at (timestamp), suggested_action (string).
        """,
        open_presence=True,
        optional="attempt_id observed_at suggested_action",
        assumption={"state": "reconciliation_states"},
    ),
    _resource(
        "Deployment",
        "A deployment of a project.",
        "deployment",
        """
    | id | Ulid |
    | project_id | Ulid |
    | operation_id | Ulid |
      = The operation that created it.
    | commit_sha | string |
    | source_digest | string |
    | build_plan_digest | string |
    | status | string (queued is one value) |
    | created_at, updated_at | timestamp |
    | artifact_digest | string |
    | url | string |
        """,
        open_presence=True,
        optional="artifact_digest url",
        kept="id",
        assumption={"status": "deployment_statuses"},
        keywords={
            "commit_sha": _examples("0" * 40),
            **dict.fromkeys(("source_digest", "build_plan_digest", "artifact_digest"), _DIGEST),
        },
    ),
    _resource(
        "DeploymentPage",
        "A page of deployments.",
        "page",
        """
    items (array of Deployment)
    next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -).
      = Opaque continuation cursor; null or absent on the last page.
        """,
        required="items",
        optional="next_cursor",
        kind={"next_cursor": _text("cursor", pattern="^[A-Za-z0-9_-]+$")},
        assumption={"items": "deployment_order", "next_cursor": "last_page_cursor"},
        keywords={"next_cursor": _examples("bmV4dC1wYWdl")},
        also={"items": "deployments.response"},
    ),
    _resource(
        "UserApiKeyCreation",
        "A user API key was created, or its creation was replayed.",
        "key",
        """
    | replayed | boolean | false on the first creation; true-valued on an exact replay |
      = False on the first creation, true on an exact replay.
    | value | string or null | the full token; returned only by the first creation; null on an exact
      replay |
      = The full token, returned only by the first creation; null on an exact replay.
    | request_id | string | correlation identifier |
    | key | object | key metadata |
        """,
        required="replayed value key",
        kind={"value": _text("secret"), "key": _part("UserApiKey")},
        assumption={"value": "key_prefix"},
        keywords={"request_id": _REQUEST_ID | _REQUEST_ID_EXAMPLE},
    ),
    _resource(
        "UserApiKey",
        "Metadata of a user API key.",
        "key.metadata",
        """
    key: id (Ulid), organization_id (Ulid), name (string), obfuscated_value (string), permissions
      (array of string), expires_at (timestamp), created_at (timestamp), last_used_at (timestamp).
        """,
        open_presence=True,
        optional="last_used_at",
        kept="id",
        about={
            "obfuscated_value": "Enough of the token to tell it from others.",
            "expires_at": "90 days after its creation.",
        },
        assumption={"permissions": "key_permissions"},
        keywords={"name": _KEY_NAME},
    ),
    _resource(
        "DnsAuthorization",
        "The project-scoped DNS provider authorization, without credentials.",
        "dns",
        """
    | status | enum not_authorized, pending, authorized, expired, revoked | |
    | zone | string or null | hostname, length 4 to 253, lowercase labels separated by dots, last
      label 2 to 63 letters; the customer's actual zone; null when status is not_authorized |
      = The customer's actual zone; null when status is not_authorized.
    | scopes | array of enum dns.write, zone.read | at most 2 entries; empty when status is
      not_authorized; closed set |
      = Empty when status is not_authorized.
    | expires_at | timestamp or null | null when status is not_authorized |
      = Null when status is not_authorized.
        """,
        required="status zone scopes expires_at",
        kind={"status": _DNS_STATUS, "zone": _ZONE, "scopes": _DNS_SCOPES},
        keywords={"zone": _examples("shop.example")},
        also={"status": "states.dns"},
        bound={"zone": "limit.zone", "scopes": "limit.scopes"},
    ),
    _resource(
        "DevAccessTicket",
        "A single-use ticket for a project's dev origin, valid ten minutes.",
        "ticket",
        """
    | ticket_id | Ulid | |
    | project_id | Ulid | |
    | environment_id | Ulid | |
    | origin | string | https origin of the immutable dev project host, of the form
      https://dev-<word>-<word>-<word>.<dev_zone> (lowercase letters in each word) |
      = Https origin of the immutable dev project host.
    | redeem_url | string | <origin>/.service/dev-access/redeem?stage=dev&ticket=<ticket>, where
      <ticket> is 43 characters from A-Z a-z 0-9 _ - |
      = Opens the dev origin, once. It holds the ticket itself, which is not shown again.
    | expires_at | timestamp | ten minutes after issuance |
      = Ten minutes after issuance.
        """,
        open_presence=True,
        kept="redeem_url",
        kind={"origin": _ORIGIN, "redeem_url": _REDEEM_URL},
        assumption={"origin": "dev_zone"},
        keywords={"origin": _examples(_DEV_ORIGIN), "redeem_url": _examples(_TICKET_URL)},
    ),
    _resource(
        "DatabaseCompute",
        "The observed managed database compute configuration of one environment.",
        "compute",
        """
    | project_id | Ulid | |
    | environment | enum dev, prod | |
    | data_mode | string | shared is one value; explicitly shared data resolves to the same physical
      database for both environments |
      = An open set: with shared, both environments resolve to the same physical database.
    | observed_at | timestamp | fresh, tenant-scoped observation |
    | database | object or null | null means the owned environment has no confirmed managed
      placement |
      = Null means the owned environment has no confirmed managed placement.
        """,
        open_presence=True,
        kept="database",
        kind={
            "environment": _enum("Environment", "dev", "prod"),
            "database": _part("DatabasePlacement"),
        },
        keywords={"data_mode": _examples("shared", "separate")},
    ),
    _resource(
        "DatabasePlacement",
        "Observed settings of a managed database; not a completed resize operation.",
        "compute.placement",
        """
    database: min_cu (number), max_cu (number), min_memory_gb (number), max_memory_gb (number),
      suspend_timeout_seconds (integer: 0 means provider default, -1 means never suspend, otherwise
      the configured provider value), state (string; init is one value), pending_state (string),
      disabled (boolean), region (string).
        """,
        open_presence=True,
        optional="pending_state",
        kind={"suspend_timeout_seconds": _integer(-1)},
        about={
            "suspend_timeout_seconds": "0 means provider default, -1 never suspend, otherwise the "
            "configured provider value.",
            "pending_state": "The state it is changing to. An open set, like state.",
        },
        assumption={"state": "database_states", "pending_state": "database_states"},
        keywords={"region": _examples("eu-central-1")},
    ),
    _resource(
        "ProblemDetails",
        "RFC 9457 Problem Details, extended with recovery fields.",
        "problem",
        """
    | type | string (URI reference) | yes | documentation link of the form {docs_url}/errors/<code
      with hyphens instead of underscores> |
      = Documentation link: {docs_url}/errors/<code with hyphens instead of underscores>.
    | title | string | yes | minimum length 1 |
    | status | integer | yes | 400 to 599 |
    | detail | string | no | |
    | instance | string (URI reference) | no | |
    | code | string | yes | one of the codes below |
    | request_id | string | yes | 1 to 128 characters |
      = Equal to the header X-Request-Id.
    | retryable | boolean | yes | |
      = Whether the same request, sent again unchanged, can succeed.
    | retry_after_seconds | integer | no | 1 to 86400; for a rate limit; matches Retry-After |
      = For a rate limit; matches Retry-After.
    | suggested_action | string | yes | minimum length 1 |
        """,
        kind={
            "title": _FILLED,
            "status": _integer(400, 599),
            "code": _enum("ProblemCode", *PROBLEMS),
            "request_id": _text(**_REQUEST_ID),
            "retry_after_seconds": _integer(RETRY_AFTER_MIN, RETRY_AFTER_MAX),
            "suggested_action": _FILLED,
        },
        assumption={"type": "docs_url"},
        keywords={"request_id": _REQUEST_ID_EXAMPLE},
        also={"code": "problem.codes"},
        bound={"retry_after_seconds": "limit.retry-after"},
    ),
)

#: What calls send and answer, and the objects in that, by name.
RESOURCES: Mapping[str, Resource] = {found.name: found for found in (*REQUESTS, *_ANSWERS)}
