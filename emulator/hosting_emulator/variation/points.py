"""The points at which answers can vary: one for each freedom that the contract leaves.

A point is a freedom and nothing more: how it is used is decided elsewhere. What a client must know
before its first request (names of parameters, where an operation is polled, roles, zones, claims of
a token) is no point: a client cannot find it out from an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hosting_emulator.contract.words import nearest


class Point(NamedTuple):
    """A freedom: its `id`, what is done with it, and the sentence of the contract that leaves it.

    `calls` are those whose answers it can vary; none named: every call, and every problem too.
    `assumptions` are those that decide it, for a world as a whole; without any, each answer is
    drawn for by itself.
    """

    id: str
    about: str
    sentence: str
    calls: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


class VariationRefused(ValueError):
    """A point that there is not, or a seed that is none; the message says what would be right."""


_STATUSES = "Success status codes of operations 2, 3 and 4: not shown."
_QUERY = (
    "Query parameter names for the cursor and the page size, default page size and ordering: "
    "not shown."
)
_CURSOR = "next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -)"
_OPTIONAL = (
    "Which fields of Operation, progress, reconciliation, Deployment, compute, key and ticket are "
    "required or optional: not shown."
)
_SETS = (
    "Allowed values of progress.phase, reconciliation.state and error.code beyond those given "
    "above: not shown."
)
_COMPUTE_SETS = (
    "data_mode values beyond shared, and database state / pending_state values beyond init: "
    "not shown."
)
_JSON = "All bodies are JSON."
_SCOPES = (
    "array of enum dns.write, zone.read | at most 2 entries; empty when status is not_authorized; "
    "closed set"
)
_CODES = "Which HTTP status each other code uses [...]: not shown."
_SOURCE, _DOMAINS, _POLL = "initialize_managed_source", "apply_project_domains", "get_operation"
_OPERATIONS = (_SOURCE, _DOMAINS, _POLL)
_KEY, _PAGE = "create_user_api_key", "list_deployments"
_DATABASE = "read_database_compute"

_TABLE = (
    Point(
        "accepted-status",
        "an accepted operation is answered with another success status",
        _STATUSES,
        (_SOURCE, _DOMAINS),
        ("accepted_status",),
    ),
    Point(
        "key-created-status",
        "the first creation of a key is answered with another success status",
        _STATUSES,
        (_KEY,),
        ("key_created_status",),
    ),
    Point(
        "key-replayed-status",
        "the exact replay of a key creation is answered with another success status",
        _STATUSES,
        (_KEY,),
        ("key_replayed_status",),
    ),
    Point(
        "ticket-created-status",
        "a new ticket is answered with another success status",
        "Response: DevAccessTicket. [no status given]",
        ("create_dev_access_ticket",),
        ("ticket_created_status",),
    ),
    Point(
        "problem-status",
        "a problem whose status the contract leaves open has another one",
        _CODES,
        (),
        ("problem_statuses",),
    ),
    Point(
        "deployment-order",
        "deployments are listed in another order",
        _QUERY,
        (_PAGE,),
        ("deployment_order",),
    ),
    Point(
        "permission-names",
        "the permissions of a key have other names",
        "Names of the permissions carried in key.permissions: not shown.",
        (_KEY,),
        ("key_permissions",),
    ),
    Point(
        "source-deployment",
        "initializing the source creates no deployment",
        "the deployment this operation created (deploy, promotion or rollback)",
        (_SOURCE,),
        ("source_creates_deployment",),
    ),
    Point(
        "lifecycle-longer",
        "operations stay queued and running for longer",
        "Transitions: not shown.",
        _OPERATIONS,
        ("source_profile", "domains_profile"),
    ),
    Point(
        "operation-replay",
        "a replay of calls 2 and 4 shows the operation as it now is",
        "Same key and same body: first result returned without switching again. [said of call 1]",
        (_SOURCE, _DOMAINS),
        ("operation_replay",),
    ),
    Point(
        "flag-reenabled",
        "enabled_at moves when a flag that is on is switched on again",
        "when the current owner switched the flag on",
        ("set_project_powered_by_flag",),
        ("flag_reenabled",),
    ),
    Point(
        "unknown-body-fields",
        "a body with a field that the call does not name is refused",
        "Body (application/json): { name: string, length 1 to 64 }.",
        (_SOURCE, _KEY),
        ("unknown_body_fields",),
    ),
    Point(
        "unexpected-body",
        "a body is refused where the call has none",
        "No request body.",
        (_DOMAINS, _POLL, "get_dns_authorization", _PAGE, "create_dev_access_ticket", _DATABASE),
        ("unexpected_body",),
    ),
    Point(
        "unknown-query-parameters",
        "a query parameter that the call does not name is refused",
        "Query: one parameter choosing the environment, allowed values dev, prod.",
        (),
        ("unknown_query_parameters",),
    ),
    Point(
        "malformed-id",
        "an id in the path that is no Ulid is answered with 400 invalid_request",
        "which code follows which other condition: not shown.",
        (),
        ("malformed_project_id",),
    ),
    Point("page-size", "a page holds fewer items than it may", _QUERY, (_PAGE,)),
    Point(
        "last-page-cursor",
        "the last page leaves next_cursor out, or writes null",
        _CURSOR,
        (_PAGE,),
    ),
    Point("cursor-form", "a cursor is longer, and begins with - or _", _CURSOR, (_PAGE,)),
    Point(
        "empty-fields",
        "fields without a value are null instead of absent, or the other way round",
        _OPTIONAL,
        (*_OPERATIONS, _KEY, _PAGE, _DATABASE),
    ),
    Point(
        "absent-fields",
        "fields that have a value are left out, where none must be there",
        _OPTIONAL,
        (*_OPERATIONS, _KEY, _PAGE, "create_dev_access_ticket", _DATABASE),
    ),
    Point("scope-order", "scopes come in another order", _SCOPES, ("get_dns_authorization",)),
    Point("progress-absent", "an operation shows no progress", _OPTIONAL, _OPERATIONS),
    Point(
        "unknown-phase", "progress.phase is a word of which nothing is known", _SETS, _OPERATIONS
    ),
    Point(
        "unknown-reconciliation-state",
        "reconciliation.state is a word of which nothing is known",
        _SETS,
        _OPERATIONS,
    ),
    Point(
        "unknown-error-code",
        "error.code of a failed operation is a word of which nothing is known",
        _SETS,
        _OPERATIONS,
    ),
    Point(
        "unknown-deployment-status",
        "the status of a deployment is a word of which nothing is known",
        "Deployment.status values beyond queued: not shown.",
        (_PAGE,),
    ),
    Point(
        "unknown-database-state",
        "state or pending_state of a database is a word of which nothing is known",
        _COMPUTE_SETS,
        (_DATABASE,),
    ),
    Point(
        "unknown-data-mode",
        "data_mode is a word of which nothing is known",
        _COMPUTE_SETS,
        (_DATABASE,),
    ),
    Point(
        "result-content",
        "the result of an operation that succeeded holds something else, or nothing",
        "Operation.result: content not shown.",
        _OPERATIONS,
    ),
    Point(
        "next-poll",
        "progress asks for another time before the next poll",
        "next_poll_after_seconds (integer; a value of 60 appears)",
        _OPERATIONS,
    ),
    Point(
        "extra-fields",
        "objects that the contract does not close hold a field of which nothing is known",
        "No additional properties [said of PoweredByFlag alone].",
        (*_OPERATIONS, _KEY, "get_dns_authorization", _PAGE, "create_dev_access_ticket", _DATABASE),
    ),
    Point(
        "timestamp-form",
        "timestamps are spelled in another form of RFC 3339",
        "date-time (ISO 8601 / RFC 3339)",
    ),
    Point("key-order", "the members of objects come in another order", _JSON),
    Point("json-whitespace", "the body is laid out with other white space", _JSON),
    Point("json-escapes", "the body writes / and letters beyond ASCII as escapes", _JSON),
    Point(
        "content-type-parameter",
        "the media type carries a charset",
        "Errors use the media type application/problem+json.",
    ),
    Point(
        "request-id-on-success",
        "an answer that is no problem carries X-Request-Id as well",
        "a response header X-Request-Id is returned with error responses",
    ),
    Point(
        "extra-headers",
        "the answer carries headers of which nothing is known",
        "Common headers: [no header of an answer but X-Request-Id is spoken of]",
    ),
    Point(
        "problem-wording",
        "title, detail and suggested_action have other words, or detail is absent",
        "title | string | yes | minimum length 1; detail | string | no; suggested_action | string | "
        "yes | minimum length 1",
    ),
    Point(
        "problem-extras",
        "a problem has an instance and members of which nothing is known",
        "RFC 9457 Problem Details extended with recovery fields; instance | string (URI reference) | "
        "no",
    ),
)

#: Every point by its id, in the order in which documents name them.
POINTS = {point.id: point for point in _TABLE}
#: Those that are drawn once for a world, as assumptions; the others are drawn for each answer.
ASSUMED = tuple(point for point in _TABLE if point.assumptions)


def read_points(names: Iterable[str]) -> tuple[str, ...]:
    """Return points by name, in the table's order, each once. Raises VariationRefused."""
    wanted = set(names)
    for name in sorted(wanted):
        if name not in POINTS:
            hint = (
                nearest(name, POINTS) or "; `hosting-emulator contract variation-points` lists them"
            )
            raise VariationRefused(f"no variation point is named {name[:60]!r}{hint}")
    return tuple(name for name in POINTS if name in wanted)
