"""The points at which responses can vary. Each point is a choice that the contract leaves open.

Parameter names, the polling path, roles, zones and token claims do not vary, because a client must
know them before it sends its first request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from hosting_emulator.contract.assumption_table import affects_call
from hosting_emulator.contract.calls import ALL_CALLS, CallSpec
from hosting_emulator.contract.fields import Resource
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.messages import VariationPoint

#: A function that returns whether a point can vary the responses to a call.
Responses: TypeAlias = Callable[[CallSpec], bool]


#: The possible scopes of a choice. Within its scope, a choice stays the same once it has been made.
WORLD = "the world"
EACH_KIND = "the world, separately for each kind of object"
EACH_CODE = "the world, separately for each problem code (`detail`: for a single response)"
OPERATION = "the operation"
PHASE = "the operation, until its original word changes"
DEPLOYMENT = "the deployment"
STATUS = "the deployment, until its original word changes"
DATABASE = "the database, until its original word changes"
RESPONSE = "a single response"


class VariationRefused(ValueError):
    """A variation has an invalid seed or invalid points. The message says what is valid."""


@dataclass(frozen=True, kw_only=True)
class OpenWords:
    """The words that a point can substitute in a field whose set of words is open.

    The point never replaces `contract_word`, because that word is in the contract. If
    `contract_word` is None, the point can replace any word.
    """

    resource: str
    field: str
    contract_word: str | None
    others: tuple[str, ...]


#: Unusual but valid words for any open set. Some contain a word that has a meaning elsewhere in the
#: API, and some have a meaning in a programming language.
UNUSUAL_WORDS = (
    "not_failed",
    "QUARANTINED",
    "partiallyDegraded",
    "awaiting-quorum",
    "on hold",
    "v2.finalize/edge",
    "succeeded_with_warnings",
    "404",
    "überprüft",
    "null",
    "awaiting" + "_the_next_dependency" * 12,
)


@dataclass(frozen=True, kw_only=True)
class Point:
    """A choice that the contract leaves open, at which responses can vary.

    `about` describes the variation, and `sentence` quotes the part of the contract that leaves the
    choice open. `lasts_for` names the scope within which the choice stays the same. If the point
    has `assumptions`, their values are drawn once for the whole world.

    `varies` selects the calls whose responses the point can vary. If `varies` is None, the point
    can vary the responses that the assumptions affect. A point with neither `varies` nor
    assumptions can vary the responses of every call, and every problem. `statuses` (by problem
    code) and `words` contain the values that can be drawn at the point.
    """

    id: str
    about: str
    sentence: str
    lasts_for: str = WORLD
    assumptions: tuple[str, ...] = ()
    varies: Responses | None = None
    statuses: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    words: tuple[OpenWords, ...] = ()


# --- Which responses a point can vary ----------------------------------------------------------


def _responses_of(resource: str) -> Responses:
    return lambda spec: spec.response == resource


def _of_calls_without_body(spec: CallSpec) -> bool:
    return spec.body is None


def _with_omissible_fields(spec: CallSpec) -> bool:
    return any(resource.omissible_fields for resource in _objects(spec.response))


def _with_deployment_ids(spec: CallSpec) -> bool:
    return any(resource.deployment_ids for resource in _objects(spec.response))


def _with_open_objects(spec: CallSpec) -> bool:
    return any(not resource.closed for resource in _objects(spec.response))


def _objects(resource_name: str) -> Iterator[Resource]:
    """Yield a resource and all the resources that it contains."""
    resource = RESOURCES[resource_name]
    yield resource
    for part in resource.parts.values():
        yield from _objects(part)


@cache
def varied_calls(point_id: str) -> list[str]:
    """Return the names of the calls whose responses a point can vary.

    An empty list means all calls and all problems.
    """
    point = POINTS[point_id]
    # Put calls that return an operation first.
    specs = sorted(ALL_CALLS.values(), key=lambda spec: spec.response != "Operation")
    return [spec.call_id for spec in specs if _varies(point, spec)]


def _varies(point: Point, spec: CallSpec) -> bool:
    if point.varies is not None:
        return point.varies(spec)
    return any(affects_call(name, spec) for name in point.assumptions)


def list_points() -> list[VariationPoint]:
    """Return all points, in the form that the control API and the CLI show."""
    return [
        VariationPoint(
            id=point.id,
            about=point.about,
            sentence=point.sentence,
            lasts_for=point.lasts_for,
            calls=varied_calls(point.id),
            assumptions=list(point.assumptions),
        )
        for point in POINTS.values()
    ]


def read_points(names: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct point names in the order of POINTS.

    Raises VariationRefused if a name is not the id of a point.
    """
    chosen_names = set(names)
    for name in sorted(chosen_names - POINTS.keys()):
        hint = (
            nearest(name, POINTS)
            or "; `hosting-emulator contract variation-points` lists all points"
        )
        raise VariationRefused(f"there is no variation point {name[:60]!r}{hint}")
    return tuple(name for name in POINTS if name in chosen_names)


# --- The table ---------------------------------------------------------------------------------

_ROWS = (
    Point(
        id="accepted-status",
        about="a call that starts an operation returns a different success status",
        sentence="Success status codes of operations 2, 3 and 4: not shown.",
        assumptions=("accepted_status",),
    ),
    Point(
        id="key-created-status",
        about="creating a key for the first time returns a different success status",
        sentence="Success status codes of operations 2, 3 and 4: not shown.",
        assumptions=("key_created_status",),
    ),
    Point(
        id="key-replayed-status",
        about="an exact replay of a key creation returns a different success status",
        sentence="Success status codes of operations 2, 3 and 4: not shown.",
        assumptions=("key_replayed_status",),
    ),
    Point(
        id="ticket-created-status",
        about="creating a ticket returns a different success status",
        sentence="Response: DevAccessTicket. [no status given]",
        assumptions=("ticket_created_status",),
    ),
    Point(
        id="problem-status",
        about="a problem whose status the contract leaves open has a different status",
        sentence="Which HTTP status each other code uses [...]: not shown.",
        assumptions=("problem_statuses",),
        # HTTP defines the statuses for `unauthenticated`, `forbidden` and `rate_limited`, so they
        # do not vary.
        statuses={
            "invalid_request": (422,),
            "service_unavailable": (
                500,
                502,
                504,
            ),
            "payload_too_large": (400,),
            "project_handle_unavailable": (
                500,
                502,
            ),
            "project_identity_unavailable": (
                500,
                504,
            ),
            "mail_capacity_unavailable": (
                502,
                507,
            ),
            "database_access_limit": (503,),
            "deployment_plan_incompatible": (
                400,
                422,
            ),
            "promotion_source_stale": (412,),
            "promotion_target_stale": (412,),
            "mail_domain_required": (
                400,
                422,
            ),
            "storage_jurisdiction_conflict": (
                403,
                422,
            ),
            "shared_data_requires_promotion": (422,),
            "production_deployment_required": (
                404,
                422,
            ),
            "framework_conversion_required": (422,),
            "repository_configuration_missing": (
                404,
                422,
            ),
            "environment_secret_mutation_blocked": (
                403,
                423,
            ),
            "workers_runtime_incompatible": (
                400,
                422,
            ),
            "project_handle_unchanged": (
                400,
                422,
            ),
            "project_rename_blocked": (
                403,
                423,
            ),
            "compute_change_conflict": (412,),
            "billing_purchase_conflict": (
                402,
                422,
            ),
            "billing_recharge_conflict": (
                402,
                422,
            ),
            "git_host_connection_required": (
                403,
                424,
            ),
            "git_host_connection_revoked": (
                403,
                424,
            ),
            "repository_not_installed": (
                403,
                424,
            ),
            "edge_zone_not_bound": (
                404,
                422,
            ),
            "edge_authorization_closed": (
                403,
                410,
            ),
            "project_notes_conflict": (412,),
            "reconciliation_exhausted": (
                500,
                504,
            ),
            "organization_required": (400,),
            "powered_by_flag_required": (403,),
            "etag_mismatch": (412,),
            "interactive_login_required": (401,),
            "api_key_permissions_unavailable": (
                403,
                409,
            ),
            "api_key_creation_uncertain": (
                500,
                504,
            ),
            "compute_performance_unavailable": (
                502,
                504,
            ),
            "insufficient_organization_credits": (
                403,
                409,
            ),
            "paid_plan_required": (403,),
            "project_budget_exceeded": (
                403,
                409,
            ),
            "compute_performance_paid_required": (403,),
            "database_write_pending": (
                423,
                503,
            ),
            "compute_change_pending": (
                423,
                503,
            ),
            "confirmation_expired": (
                410,
                412,
            ),
            "confirmation_invalid": (
                409,
                422,
            ),
            "deployment_plan_expired": (
                410,
                412,
            ),
            "promotion_invalid_target": (422,),
            "project_handle_invalid": (422,),
            "project_handle_taken": (422,),
            "migration_filename_noncanonical": (422,),
            "mail_domain_conflict": (422,),
            "project_export_not_ready": (
                404,
                425,
            ),
        },
    ),
    Point(
        id="deployment-order",
        about="deployments are listed in a different order",
        sentence=(
            "Query parameter names for the cursor and the page size, default page size and "
            "ordering: not shown."
        ),
        assumptions=("deployment_order",),
    ),
    Point(
        id="permission-names",
        about="the permissions of a key have different names",
        sentence="Names of the permissions carried in key.permissions: not shown.",
        assumptions=("key_permissions",),
    ),
    Point(
        id="lifecycle-longer",
        about="operations take longer to end",
        sentence="Transitions: not shown.",
        assumptions=(
            "source_profile",
            "domains_profile",
        ),
        varies=_responses_of("Operation"),
    ),
    Point(
        id="operation-replay",
        about=(
            "replaying a call that starts an operation returns the operation in its current state"
        ),
        sentence=(
            "Same key and same body: first result returned without switching again. [said of call "
            "1]"
        ),
        assumptions=("operation_replay",),
    ),
    Point(
        id="flag-reenabled",
        about="switching on a flag that is already on changes its `enabled_at`",
        sentence="when the current owner switched the flag on",
        assumptions=("flag_reenabled",),
    ),
    Point(
        id="unknown-body-fields",
        about="a body with an unknown field is refused",
        sentence="Body (application/json): { name: string, length 1 to 64 }.",
        assumptions=("unknown_body_fields",),
    ),
    Point(
        id="unexpected-body",
        about="a body is refused if the call takes no body",
        sentence="No request body.",
        assumptions=("unexpected_body",),
        varies=_of_calls_without_body,
    ),
    Point(
        id="unknown-query-parameters",
        about="a query with an unknown parameter is refused",
        sentence="Query: one parameter choosing the environment, allowed values dev, prod.",
        assumptions=("unknown_query_parameters",),
    ),
    Point(
        id="malformed-id",
        about="a path id that is not a Ulid gets 400 invalid_request",
        sentence="which code follows which other condition: not shown.",
        assumptions=("malformed_project_id",),
    ),
    Point(
        id="wrong-method",
        about=(
            "a request with a method that its path does not support is refused like one for "
            "an unknown path"
        ),
        sentence="which code follows which other condition: not shown.",
        assumptions=("wrong_method",),
    ),
    Point(
        id="page-size",
        about="a page has fewer items than the maximum",
        sentence=(
            "Query parameter names for the cursor and the page size, default page size and "
            "ordering: not shown."
        ),
        lasts_for=RESPONSE,
        varies=_responses_of("DeploymentPage"),
    ),
    Point(
        id="cursor-form",
        about="cursors are longer, and start with - or _",
        sentence="next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -)",
        varies=_responses_of("DeploymentPage"),
    ),
    Point(
        id="id-order",
        about="the id of a deployment does not show its creation time",
        sentence="exactly 26 characters matching ^[0-9A-HJKMNP-TV-Z]{26}$",
        lasts_for=DEPLOYMENT,
        varies=_with_deployment_ids,
    ),
    Point(
        id="absent-fields",
        about="optional fields are omitted even if they have a value",
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        lasts_for=EACH_KIND,
        varies=_with_omissible_fields,
    ),
    Point(
        id="scope-order",
        about="scopes are in a different order",
        sentence=(
            "array of enum dns.write, zone.read | at most 2 entries; empty when status is "
            "not_authorized; closed set"
        ),
        varies=_responses_of("DnsAuthorization"),
    ),
    Point(
        id="starts-running",
        about="an operation that waits for no other operation is already running, never queued",
        sentence="States: queued, running, succeeded, failed, cancelled. [...] Transitions: not shown.",
        lasts_for=OPERATION,
        varies=_responses_of("Operation"),
    ),
    Point(
        id="progress-absent",
        about="the progress of an operation is absent",
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        lasts_for=OPERATION,
        varies=_responses_of("Operation"),
    ),
    Point(
        id="unknown-phase",
        about="`progress.phase` has an unknown value",
        sentence=(
            "Allowed values of progress.phase, reconciliation.state and error.code beyond those "
            "given above: not shown."
        ),
        lasts_for=PHASE,
        varies=_responses_of("Operation"),
        words=(
            OpenWords(
                resource="Progress",
                field="phase",
                contract_word="queued",
                others=(
                    "awaiting_capacity",
                    "attesting",
                    "phase_17",
                    "warming caches",
                    "Propagating",
                    *UNUSUAL_WORDS,
                ),
            ),
        ),
    ),
    Point(
        id="unknown-reconciliation-state",
        about="`reconciliation.state` has an unknown value",
        sentence=(
            "Allowed values of progress.phase, reconciliation.state and error.code beyond those "
            "given above: not shown."
        ),
        lasts_for=PHASE,
        varies=_responses_of("Operation"),
        words=(
            OpenWords(
                resource="Reconciliation",
                field="state",
                contract_word="required",
                others=(
                    "comparing",
                    "suspended_by_operator",
                    "state_9",
                    "Deferred",
                    *UNUSUAL_WORDS,
                ),
            ),
        ),
    ),
    Point(
        id="unknown-error-code",
        about="the `error.code` of a failed operation has an unknown value",
        sentence=(
            "Allowed values of progress.phase, reconciliation.state and error.code beyond those "
            "given above: not shown."
        ),
        lasts_for=OPERATION,
        varies=_responses_of("Operation"),
        words=(
            OpenWords(
                resource="OperationError",
                field="code",
                contract_word=None,
                others=(
                    "upstream_quota_exhausted",
                    "E4107",
                    "dependency-timeout",
                    "artifact_rejected",
                    *UNUSUAL_WORDS,
                ),
            ),
        ),
    ),
    Point(
        id="unknown-deployment-status",
        about="the status of a deployment has an unknown value",
        sentence="Deployment.status values beyond queued: not shown.",
        lasts_for=STATUS,
        varies=_responses_of("DeploymentPage"),
        words=(
            OpenWords(
                resource="Deployment",
                field="status",
                contract_word="queued",
                others=(
                    "superseded",
                    "canary",
                    "rolled_back",
                    "status_12",
                    "Archived",
                    *UNUSUAL_WORDS,
                ),
            ),
        ),
    ),
    Point(
        id="unknown-database-state",
        about="the `state` or `pending_state` of a database has an unknown value",
        sentence=(
            "data_mode values beyond shared, and database state / pending_state values beyond "
            "init: not shown."
        ),
        lasts_for=DATABASE,
        varies=_responses_of("DatabaseCompute"),
        words=(
            OpenWords(
                resource="DatabasePlacement",
                field="state",
                contract_word="init",
                others=(
                    "migrating",
                    "read_only",
                    "state_5",
                    "Draining",
                    *UNUSUAL_WORDS,
                ),
            ),
            OpenWords(
                resource="DatabasePlacement",
                field="pending_state",
                contract_word="init",
                others=(
                    "migrating",
                    "read_only",
                    "state_5",
                    "Draining",
                    *UNUSUAL_WORDS,
                ),
            ),
        ),
    ),
    Point(
        id="unknown-data-mode",
        about="`data_mode` has an unknown value",
        sentence=(
            "data_mode values beyond shared, and database state / pending_state values beyond "
            "init: not shown."
        ),
        lasts_for=DATABASE,
        varies=_responses_of("DatabaseCompute"),
        words=(
            OpenWords(
                resource="DatabaseCompute",
                field="data_mode",
                contract_word="shared",
                others=(
                    "branched",
                    "mode_3",
                    "Isolated",
                    *UNUSUAL_WORDS,
                ),
            ),
        ),
    ),
    Point(
        id="result-content",
        about="the result of a successful operation has different content, or none",
        sentence="Operation.result: content not shown.",
        lasts_for=OPERATION,
        varies=_responses_of("Operation"),
    ),
    Point(
        id="next-poll",
        about="`progress` contains a different time until the next poll",
        sentence="next_poll_after_seconds (integer; a value of 60 appears)",
        lasts_for=OPERATION,
        varies=_responses_of("Operation"),
    ),
    Point(
        id="extra-fields",
        about="objects have additional, unknown fields where the contract allows them",
        sentence="No additional properties [said of PoweredByFlag alone].",
        lasts_for=EACH_KIND,
        varies=_with_open_objects,
    ),
    Point(
        id="timestamp-form",
        about=(
            "timestamps have other offsets and other numbers of fraction digits, which can differ "
            "from field to field"
        ),
        sentence="date-time (ISO 8601 / RFC 3339)",
    ),
    Point(
        id="key-order",
        about="the members of objects are in a different order",
        sentence="All bodies are JSON.",
    ),
    Point(
        id="json-whitespace",
        about="the body has different whitespace",
        sentence="All bodies are JSON.",
    ),
    Point(
        id="json-escapes",
        about="the body escapes characters that do not need escaping, such as / or <",
        sentence="All bodies are JSON.",
    ),
    Point(
        id="content-type-parameter",
        about="the media type has parameters, such as a charset",
        sentence="Errors use the media type application/problem+json.",
    ),
    Point(
        id="request-id-on-success",
        about="a successful response also has X-Request-Id",
        sentence="a response header X-Request-Id is returned with error responses",
    ),
    Point(
        id="extra-headers",
        about="the response has additional headers",
        sentence="Common headers: [no response header except X-Request-Id is mentioned]",
    ),
    Point(
        id="problem-wording",
        about="`title`, `detail` and `suggested_action` have different wording, or `detail` is absent",
        sentence=(
            "title | string | yes | minimum length 1; detail | string | no; suggested_action | "
            "string | yes | minimum length 1"
        ),
        lasts_for=EACH_CODE,
    ),
    Point(
        id="problem-extras",
        about="a problem has an `instance`, unknown members, or both",
        sentence=(
            "RFC 9457 Problem Details extended with recovery fields; instance | string (URI "
            "reference) | no"
        ),
    ),
)
#: All points by id, in the order in which the documentation lists them.
POINTS = {point.id: point for point in _ROWS}
#: The points with assumptions, whose values are drawn once per world.
ASSUMED = tuple(point for point in _ROWS if point.assumptions)
