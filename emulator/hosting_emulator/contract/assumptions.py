"""Assumptions: named settings, each with a default, for the points on which the contract is silent.

This module declares all assumptions and their defaults, on which a client must not depend. Each
field's type contains an `Assumption` with the documentation, which `assumption_table.py` reads.
Choices that users cannot set are in `fixed_assumptions.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hosting_emulator.contract.access import PERMISSIONS, Role
from hosting_emulator.contract.assumption_declarations import Assumption, OutsideTheLetter
from hosting_emulator.contract.assumption_values import (
    parse_profile,
    parse_rate_limit,
    parse_retention_ms,
)
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.documents import plain_reason
from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.contract.fixed_assumptions import FIXED
from hosting_emulator.contract.json_schema import whole
from hosting_emulator.contract.path_templates import overlap
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import (
    DatabaseCompute,
    DeploymentPage,
    DevAccessTicket,
    DnsAuthorization,
    OperationResource,
    PoweredByFlag,
    UserApiKeyCreation,
)
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.contract.value_texts import quoted_value

#: The default code for each condition to which the contract assigns no code.
CONDITIONS = {
    "session_missing": "interactive_login_required",
    "no_permission_enabled": "api_key_permissions_unavailable",
    "generation_stale": "etag_mismatch",
    "domain_depends_on_flag": "powered_by_flag_required",
    "provider_failing": "service_unavailable",
    "request_in_flight": "service_unavailable",
    "wrong_media_type": "invalid_request",
    "body_too_long": "payload_too_large",
    "rate_exceeded": "rate_limited",
    "creation_uncertain": "api_key_creation_uncertain",
    "credits_used_up": "insufficient_organization_credits",
    "plan_too_small": "paid_plan_required",
}
#: The codes to which the contract assigns no condition.
_OPEN_CODES = tuple(
    code
    for code in PROBLEMS
    if code
    not in (
        "resource_not_found",
        "idempotency_key_reused",
        "unauthenticated",
        "organization_required",
    )
)
PHASES = ("queued", "building", "deploying", "verifying", "done")
RECONCILIATION_STATES = ("required", "running", "completed", "exhausted")
DEPLOYMENT_STATUSES = (
    "queued",
    "building",
    "deploying",
    "ready",
    "failed",
    "cancelled",
    "superseded",
)
DATABASE_STATES = ("init", "ready", "suspended", "resizing", "failed")
#: For each open set of words, the word that the contract names. It is the first of the default
#: words, and therefore must be the first word in any list for the set, because each word in a list
#: replaces the default word at its position.
CONTRACT_WORDS = {
    "progress_phases": "queued",
    "reconciliation_states": "required",
    "deployment_statuses": "queued",
    "database_states": "init",
}
#: The assumptions whose values are lists of words.
_WORD_LISTS = (*CONTRACT_WORDS, "key_permissions", "data_modes")


class AssumptionRefused(ValueError):
    """An assumption does not exist, or a value for it is not allowed.

    The message names the valid choices or says how to list them.
    """


#: The type of an assumption that is the name of a query parameter.
_Parameter = Annotated[str, whole(r"^[A-Za-z$_][A-Za-z0-9$_.\[\]-]{0,63}$")]
#: The characters allowed in a path segment.
_SEGMENT = "[A-Za-z0-9_.:~-]"
_LABEL = "[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?"
#: The characters, other than the slash, that a URI can contain before its query and fragment (RFC
#: 3986).
_URI = r"A-Za-z0-9._~:@!$&'()*+,;=%\[\]-"
_Zone = Annotated[str, whole(rf"^{_LABEL}(\.{_LABEL}){{0,5}}$")]


class Assumptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All of a world's assumptions.

    Instances are immutable. `changed()` returns a modified copy.
    """

    accepted_status: Annotated[
        Literal[202, 200, 201],
        Assumption(
            doc="The success status of the two calls that start an operation (calls 2 and 4).",
            sentence="Success status codes of operations 2, 3 and 4: not shown.",
        ),
    ] = 202
    key_created_status: Annotated[
        Literal[201, 200],
        Assumption(
            doc="The success status of creating an API key for the first time.",
            sentence="Success status codes of operations 2, 3 and 4: not shown.",
        ),
    ] = 201
    key_replayed_status: Annotated[
        Literal[200, 201],
        Assumption(
            doc="The success status of an exact replay of an API key creation.",
            sentence="Success status codes of operations 2, 3 and 4: not shown.",
        ),
    ] = 200
    ticket_created_status: Annotated[
        Literal[201, 200],
        Assumption(
            doc="The success status of creating a dev access ticket.",
            sentence="Response: DevAccessTicket. [no status given]",
        ),
    ] = 201
    operation_path: Annotated[
        str,
        whole(
            rf"^/v1(/{_SEGMENT}+)*(/\{{project_id\}}(/{_SEGMENT}+)*)?"
            rf"/\{{operation_id\}}{_SEGMENT}*(/{_SEGMENT}+)*$"
        ),
        Assumption(
            doc=(
                "The path at which an operation is polled. The path must be under /v1, and must "
                "contain {operation_id} exactly once. {project_id} is allowed before "
                "{operation_id}."
            ),
            sentence="poll the same operation [no path given]",
        ),
    ] = "/v1/operations/{operation_id}"
    cursor_parameter: Annotated[
        _Parameter,
        Assumption(
            doc="The name of the query parameter for the continuation cursor.",
            sentence=(
                "Query parameter names for the cursor and the page size, default page size and "
                "ordering: not shown."
            ),
        ),
    ] = "cursor"
    limit_parameter: Annotated[
        _Parameter,
        Assumption(
            doc="The name of the query parameter for the page size.",
            sentence=(
                "Query parameter names for the cursor and the page size, default page size and "
                "ordering: not shown."
            ),
        ),
    ] = "limit"
    default_page_size: Annotated[
        int,
        Meta(ge=1, le=100),
        Assumption(
            doc="The number of items on a page if the request does not specify a page size.",
            sentence=(
                "Query parameter names for the cursor and the page size, default page size and "
                "ordering: not shown."
            ),
        ),
    ] = 20
    deployment_order: Annotated[
        Literal["newest_first", "oldest_first"],
        Assumption(
            doc="The order in which deployments are listed.",
            sentence=(
                "Query parameter names for the cursor and the page size, default page size and "
                "ordering: not shown."
            ),
            affects=(DeploymentPage,),
        ),
    ] = "newest_first"
    last_page_cursor: Annotated[
        Literal["absent", "null"],
        Assumption(
            doc=(
                "Whether next_cursor is absent or null on the last page. The contract does not "
                'allow null for next_cursor: it says "or null" wherever null is allowed.'
            ),
            sentence="next_cursor (string, opaque continuation cursor [...])",
            affects=(DeploymentPage,),
            outside_the_letter=OutsideTheLetter(
                ("null",), "next_cursor (string, opaque continuation cursor, [...])"
            ),
        ),
    ] = "absent"
    environment_parameter: Annotated[
        _Parameter,
        Assumption(
            doc="The name of the query parameter that chooses dev or prod.",
            sentence="Its name, default and whether it is required: not shown.",
        ),
    ] = "environment"
    missing_environment: Annotated[
        Literal["refused", "dev", "prod"],
        Assumption(
            doc=(
                "How a request that does not choose an environment is handled: refused with 400 "
                "invalid_request, or treated as a request for dev or for prod."
            ),
            sentence="Its name, default and whether it is required: not shown.",
        ),
    ] = "refused"
    source_generation: Annotated[
        Literal["checked", "ignored", "any_integer", "optional"],
        Assumption(
            doc=(
                "How expected_source_generation is handled. `checked` requires a number of at "
                "least 0. The number is compared with the project's generation when the request "
                "arrives (409 etag_mismatch if the two differ), and again when the operation "
                "starts. `any_integer` also accepts negative numbers. `optional` compares the "
                "number only if it is present, and `ignored` never compares it."
            ),
            sentence="Meaning and bounds of expected_source_generation: not shown.",
            affects=("initialize_managed_source",),
        ),
    ] = "checked"
    idempotency_scope: Annotated[
        Literal["principal", "principal_and_call"],
        Assumption(
            doc="The scope in which an Idempotency-Key is unique.",
            sentence="Same key and same body: first result returned without switching again.",
            affects=("idempotent",),
        ),
    ] = "principal"
    idempotency_remembers: Annotated[
        Literal["successes", "all_answers"],
        Assumption(
            doc=(
                "Which responses are remembered for an Idempotency-Key: only successes, or also "
                "refusals by the call itself that are not retryable. A request that is invalid "
                "or lacks access never uses up its key."
            ),
            sentence="Same key and same body: first result returned without switching again.",
            affects=("idempotent",),
        ),
    ] = "successes"
    idempotency_retention: Annotated[
        str,
        Assumption(
            doc=(
                "How long a response is remembered for an Idempotency-Key: `forever`, or a "
                "duration of world time such as `24h`. After that, retrying an API key creation "
                "creates another key."
            ),
            sentence="Same key and same body: first result returned without switching again.",
            affects=("idempotent",),
            unseen="the check would have to wait until a response is forgotten",
            outside_the_letter=OutsideTheLetter(
                ("any duration",),
                "After any uncertainty the same name and Idempotency-Key are reused rather than "
                "creating another token.",
            ),
        ),
    ] = "forever"
    operation_replay: Annotated[
        Literal["first_response", "current"],
        Assumption(
            doc=(
                "What a repeated request to start an operation (calls 2 and 4) returns: the "
                "first response, byte for byte, or the operation in its current state."
            ),
            sentence="Same key and same body: first result returned without switching again.",
            affects=(
                "initialize_managed_source",
                "apply_project_domains",
            ),
        ),
    ] = "first_response"
    idempotency_in_flight: Annotated[
        Literal["wait", "refuse"],
        Assumption(
            doc=(
                "How a request is handled while another request with the same Idempotency-Key is "
                "in progress: it waits and gets the replay, or it is refused with "
                "service_unavailable."
            ),
            sentence="Same key and same body: first result returned without switching again.",
            affects=("idempotent",),
            unseen="the check would need two requests at exactly the same time",
        ),
    ] = "wait"
    source_profile: Annotated[
        str,
        Assumption(
            doc=(
                "How an operation that initializes a source progresses: `timed QUEUED RUNNING`, "
                "`immediate`, `per_poll N` or `manual`. An operation keeps the profile under "
                "which it was accepted."
            ),
            sentence="Transitions: not shown.",
            affects=("initialize_managed_source",),
            unseen="the check recognizes only operations that end immediately, because durations vary",
        ),
    ] = "timed 2s 8s"
    domains_profile: Annotated[
        str,
        Assumption(
            doc=(
                "How an operation that applies domains progresses: `timed QUEUED RUNNING`, "
                "`immediate`, `per_poll N` or `manual`. An operation keeps the profile under "
                "which it was accepted."
            ),
            sentence="Transitions: not shown.",
            affects=("apply_project_domains",),
            unseen="the check recognizes only operations that end immediately, because durations vary",
        ),
    ] = "timed 2s 8s"
    progress_phases: Annotated[
        tuple[str, str, str, str, str],
        Assumption(
            doc=(
                "The five words used for progress.phase. Each word replaces the default word at its "
                "position, and the first must be `queued`."
            ),
            sentence=(
                "Allowed values of progress.phase, reconciliation.state and error.code [...]: not "
                "shown."
            ),
            affects=(OperationResource,),
        ),
    ] = PHASES
    reconciliation_states: Annotated[
        tuple[str, str, str, str],
        Assumption(
            doc=(
                "The four words used for reconciliation.state. Each word replaces the default word "
                "at its position, and the first must be `required`."
            ),
            sentence=(
                "Allowed values of progress.phase, reconciliation.state and error.code [...]: not "
                "shown."
            ),
            affects=(OperationResource,),
        ),
    ] = RECONCILIATION_STATES
    deployment_statuses: Annotated[
        tuple[str, str, str, str, str, str, str],
        Assumption(
            doc=(
                "The seven words used for Deployment.status. Each word replaces the default word at "
                "its position, and the first must be `queued`."
            ),
            sentence="Deployment.status values beyond queued: not shown.",
            affects=(DeploymentPage,),
        ),
    ] = DEPLOYMENT_STATUSES
    data_modes: Annotated[
        tuple[Literal["shared"], str],
        Assumption(
            doc=(
                "The words used for data_mode: the contract's word for a database shared by both "
                "environments, and a word for separate databases."
            ),
            sentence="data_mode values beyond shared, [...]: not shown.",
            affects=(DatabaseCompute,),
        ),
    ] = ("shared", "separate")
    database_states: Annotated[
        tuple[str, str, str, str, str],
        Assumption(
            doc=(
                "The five words used for a database's state and pending_state. Each word replaces "
                "the default word at its position, and the first must be `init`."
            ),
            sentence="database state / pending_state values beyond init: not shown.",
            affects=(DatabaseCompute,),
        ),
    ] = DATABASE_STATES
    flag_reenabled: Annotated[
        Literal["kept", "renewed"],
        Assumption(
            doc="Whether switching on a flag that is already on changes enabled_at.",
            sentence="when the current owner switched the flag on",
            affects=(PoweredByFlag,),
        ),
    ] = "kept"
    zero_credits: Annotated[
        Literal["operations_refused", "nothing_refused"],
        Assumption(
            doc=(
                "Whether an organization without credits can start operations (calls 2 and 4) or "
                "is refused with 402 insufficient_organization_credits."
            ),
            sentence="Available at zero credits.",
            affects=(
                "initialize_managed_source",
                "apply_project_domains",
            ),
            unseen="no call shows credits",
        ),
    ] = "operations_refused"
    domains_plan: Annotated[
        Literal["any", "paid"],
        Assumption(
            doc=(
                "Which plan applying domains requires. With `paid`, a Free workspace is refused "
                "with 402 paid_plan_required."
            ),
            sentence="a Free workspace may connect its own domain to this project",
            affects=("apply_project_domains",),
            unseen="no call shows the plan",
        ),
    ] = "any"
    source_role: Annotated[
        Role,
        Assumption(
            doc="The minimum role for initializing the managed source.",
            sentence="Roles or permissions required by the remaining operations: not shown.",
            needs="--allow source, --maintainer-token and --reader-token",
        ),
    ] = "maintainer"
    domains_role: Annotated[
        Role,
        Assumption(
            doc="The minimum role for applying domains.",
            sentence="Roles or permissions required by the remaining operations: not shown.",
            needs="--allow domains, --maintainer-token and --reader-token",
        ),
    ] = "maintainer"
    dns_role: Annotated[
        Role,
        Assumption(
            doc="The minimum role for reading the DNS authorization status.",
            sentence="Roles or permissions required by the remaining operations: not shown.",
            needs="--maintainer-token and --reader-token",
        ),
    ] = "reader"
    deployments_role: Annotated[
        Role,
        Assumption(
            doc="The minimum role for listing deployments.",
            sentence="Roles or permissions required by the remaining operations: not shown.",
            needs="--maintainer-token and --reader-token",
        ),
    ] = "reader"
    operation_role: Annotated[
        Role,
        Assumption(
            doc="The minimum role for polling an operation.",
            sentence="Roles or permissions required by the remaining operations: not shown.",
            needs="--allow source or --allow domains, --maintainer-token and --reader-token",
        ),
    ] = "reader"
    key_permissions: Annotated[
        tuple[str, str, str, str, str, str, str],
        Assumption(
            doc=(
                "The names of the permissions that an API key can have, in this order: read "
                "projects, write projects, write domains, read deployments, read databases, read "
                "DNS, write dev access."
            ),
            sentence="Names of the permissions carried in key.permissions: not shown.",
            affects=(UserApiKeyCreation,),
            unseen="no call shows what the names mean",
        ),
    ] = PERMISSIONS
    key_prefix: Annotated[
        str,
        whole("^[a-z]{2,8}_$"),
        Assumption(
            doc="The prefix of an API key. The rest of the key has 43 characters.",
            sentence="the full token",
            affects=(UserApiKeyCreation,),
        ),
    ] = "phk_"
    token_lifetime: Annotated[
        Duration,
        Assumption(
            doc="The lifetime of an access token issued at a sign-in, in world time.",
            sentence="an access JWT [...]",
            unseen="the lifetime of one token says nothing about that of others",
        ),
    ] = "1h"
    token_audience: Annotated[
        str,
        Meta(min_length=1),
        Assumption(
            doc="The `aud` claim of access tokens.",
            sentence="an access JWT [...]",
            affects=("every",),
        ),
    ] = "hosting-control-api"
    request_id_invalid: Annotated[
        Literal["refused", "ignored"],
        Assumption(
            doc="How an X-Request-Id that is empty or longer than 128 characters is handled.",
            sentence="X-Request-Id (optional request header, string 1-128 characters [...])",
            affects=("every",),
        ),
    ] = "refused"
    request_id_on_success: Annotated[
        Literal["absent", "echoed"],
        Assumption(
            doc="Whether successful responses have an X-Request-Id header.",
            sentence="X-Request-Id (optional request header, string 1-128 characters [...])",
        ),
    ] = "absent"
    unknown_body_fields: Annotated[
        Literal["ignored", "refused"],
        Assumption(
            doc=(
                "How unknown fields in the body are handled when a source is initialized or "
                "a key is created."
            ),
            sentence="No additional properties [said of operation 1 alone].",
            affects=(
                "initialize_managed_source",
                "create_user_api_key",
            ),
        ),
    ] = "ignored"
    unexpected_body: Annotated[
        Literal["ignored", "refused"],
        Assumption(
            doc=(
                "How a request body is handled if the call does not take one. A body that is too "
                "long or cannot be decoded is always refused."
            ),
            sentence="No request body.",
            affects=(
                DeploymentPage,
                "apply_project_domains",
                DatabaseCompute,
                DnsAuthorization,
                DevAccessTicket,
            ),
        ),
    ] = "ignored"
    unknown_query_parameters: Annotated[
        Literal["ignored", "refused"],
        Assumption(
            doc="How query parameters that the call does not define are handled.",
            sentence="Query: [...]",
            affects=("every",),
        ),
    ] = "ignored"
    malformed_project_id: Annotated[
        Literal["not_found", "invalid_request"],
        Assumption(
            doc=(
                "How an id in the path that is not a Ulid is refused: with 404 "
                "resource_not_found or 400 invalid_request."
            ),
            sentence=(
                "Which HTTP status each other code uses, and which code follows which other "
                "condition: not shown."
            ),
            affects=("every",),
        ),
    ] = "not_found"
    condition_codes: Annotated[
        dict[str, str],
        Assumption(
            doc=(
                "The problem codes of the conditions to which the contract assigns no code: "
                "session_missing, no_permission_enabled, generation_stale, "
                "domain_depends_on_flag, provider_failing, request_in_flight, "
                "wrong_media_type, body_too_long, rate_exceeded, creation_uncertain, "
                "credits_used_up, plan_too_small."
            ),
            sentence=(
                "Which HTTP status each other code uses, and which code follows which other "
                "condition: not shown."
            ),
            unseen="the check recognizes a condition only by its code",
        ),
    ] = {}
    wrong_method: Annotated[
        Literal["method_not_allowed", "not_found"],
        Assumption(
            doc=(
                "How a method that the path does not support is refused: with 405 "
                "invalid_request and an Allow header, or with 404 resource_not_found."
            ),
            sentence=(
                "Which HTTP status each other code uses, and which code follows which other "
                "condition: not shown."
            ),
            unseen="the check only sends methods that the contract names",
        ),
    ] = "method_not_allowed"
    problem_statuses: Annotated[
        dict[str, int],
        Assumption(
            doc="The HTTP statuses of problem codes for which the contract leaves the status open.",
            sentence=(
                "Which HTTP status each other code uses, and which code follows which other "
                "condition: not shown."
            ),
        ),
    ] = {}
    listed_statuses: Annotated[
        Literal["closed", "open"],
        Assumption(
            doc=(
                "Whether the call that sets the flag (call 1) returns only the error statuses "
                "that the contract lists. With `closed`, a problem whose status is not listed "
                "gets the usual status of its code instead if that is listed, and 400 otherwise. "
                "A fault that sends a different response, such as `gateway_error`, can still send "
                "other statuses."
            ),
            sentence="Error statuses listed: 400, 401, 403, 404, 409, 503 (Problem Details).",
            affects=(PoweredByFlag,),
            unseen="the check sends no large body and does not test limits",
            outside_the_letter=OutsideTheLetter(
                ("open",), "Error statuses listed: 400, 401, 403, 404, 409, 503 (Problem Details)."
            ),
        ),
    ] = "closed"
    body_limit_bytes: Annotated[
        int,
        Meta(ge=1, le=67_108_864),
        Assumption(
            doc=(
                "The maximum length of a request body in bytes. A longer body is refused with "
                "413 payload_too_large."
            ),
            sentence="request-size limit (code payload_too_large exists) [...]: not shown.",
            affects=("every",),
            unseen="the check sends no large body",
        ),
    ] = 1_048_576
    rate_limit: Annotated[
        str,
        Assumption(
            doc=(
                "The number of requests that a user can send in a period of world time, such as "
                "`100/60s`, or `off`. A period starts with the user's first request after the "
                "end of the previous one. A call counts even if it is then refused, for example "
                "because of its body or for lack of access. Requests to other paths and requests "
                "with an oversized body do not count."
            ),
            sentence="Numeric rate-limit values (code rate_limited exists) [...]: not shown.",
            affects=("every",),
            unseen="the check does not test limits",
        ),
    ] = "off"
    timestamp_form: Annotated[
        Literal["milliseconds", "microseconds", "offset"],
        Assumption(
            doc="The format of timestamps.",
            sentence="date-time (ISO 8601 / RFC 3339)",
            affects=("every",),
        ),
    ] = "milliseconds"
    dev_zone: Annotated[
        _Zone,
        Assumption(
            doc=(
                "The DNS zone of dev origins. In worlds other than the default one, the zone is "
                "prefixed with the world's name."
            ),
            sentence="hostnames (derived by the server, not supplied)",
            affects=(
                "apply_project_domains",
                DevAccessTicket,
                "get_operation",
            ),
        ),
    ] = "dev.localhost"
    docs_url: Annotated[
        str,
        whole(rf"^(own|https?://[/{_URI}]*[{_URI}])$"),
        Assumption(
            doc=(
                "The base URL of a problem's `type`: an HTTP or HTTPS URL, or `own` for the "
                "emulator's documentation."
            ),
            sentence="documentation link of the form {docs_url}/errors/<code [...]>",
        ),
    ] = "own"

    def __post_init__(self) -> None:
        parse_retention_ms(self.idempotency_retention)
        parse_duration_ms(self.token_lifetime)
        parse_profile(self.source_profile)
        parse_profile(self.domains_profile)
        parse_rate_limit(self.rate_limit)
        self._check_path()
        _check_words("condition_codes", self.condition_codes, CONDITIONS, _OPEN_CODES)
        self._check_problems()
        self._check_distinct()

    def _check_path(self) -> None:
        path = self.operation_path
        if re.search(r"/\.\.?(/|$)", path):
            raise ValueError(
                "operation_path must not contain the segments `.` and `..`, because clients "
                "remove them"
            )
        for spec in CALLS.values():
            if overlap(path, spec.path):
                raise ValueError(f"operation_path overlaps {spec.path}, the path of another call")

    def _check_problems(self) -> None:
        for code in self.problem_statuses:
            if code not in PROBLEMS:
                raise ValueError(f"problem_statuses: there is no problem code {code!r}")
        for code, status in self.problem_statuses.items():
            try:
                PROBLEMS[code].check_status(status)
            except ValueError as error:
                raise ValueError(f"problem_statuses: {error}") from None

    def _check_distinct(self) -> None:
        for name in _WORD_LISTS:
            words = getattr(self, name)
            if len(set(words)) != len(words) or not all(words):
                raise ValueError(f"{name} must contain distinct, non-empty words")
            word = CONTRACT_WORDS.get(name)
            if word is not None and words[0] != word:
                raise ValueError(
                    f"{name} must begin with {word!r}, the word that the contract names, because "
                    "each word replaces the default word at its position"
                )
        if self.cursor_parameter == self.limit_parameter:
            raise ValueError("cursor_parameter and limit_parameter need different names")

    def code_of(self, condition: str) -> str:
        """Return the problem code for a condition, which must be in CONDITIONS."""
        return self.condition_codes.get(condition, CONDITIONS[condition])

    def changed(self, values: Mapping[str, Any]) -> Assumptions:
        """Return a copy of these assumptions with some values replaced by those in `values`.

        A value can be a string from the command line: a number, a word, comma-separated words, or
        pairs of the form `code=status,…`. Raises AssumptionRefused if an assumption does not exist
        or a value is not allowed.
        """
        merged = msgspec.structs.asdict(self)
        changed = convert(merged, Assumptions)  # this is the result if `values` is empty
        for name, value in values.items():
            if name not in merged:
                raise AssumptionRefused(_why_unknown(name, merged))
            try:
                merged[name] = _read_value(value, merged[name])
                changed = convert(merged, Assumptions)
            except ValueError as error:
                reason = str(error)
                if isinstance(error, msgspec.ValidationError):
                    plain = plain_reason(reason, Assumptions, name)
                    reason = re.sub("^.* is not allowed; ", "", plain)
                raise AssumptionRefused(
                    f"assumption {name} cannot be {quoted_value(value)}: {reason}"
                ) from None
        return changed

    def changes(self) -> dict[str, Any]:
        """Return the assumptions that differ from their defaults, as a mapping from names to values."""
        if self == DEFAULTS:
            return {}
        return {
            name: plain_value(getattr(self, name))
            for name in self.__struct_fields__
            if getattr(self, name) != getattr(DEFAULTS, name)
        }


def _why_unknown(name: str, names: Collection[str]) -> str:
    """Return why no assumption with this name can be set."""
    if name in FIXED:
        return f"{name} cannot be set: {FIXED[name].reason}"
    hint = nearest(name, names) or "; `hosting-emulator contract assumptions` lists all assumptions"
    return f"there is no assumption {name!r}{hint}"


def plain_value(value: Any) -> Any:
    """Return an assumption's value in its JSON form."""
    return list(value) if isinstance(value, tuple) else value


def _read_value(value: Any, current: Any) -> Any:
    """Convert a value, which may be a string from the command line, to the type of `current`.

    Raises ValueError if the string is a JSON array or a JSON object. As comma-separated words, an
    array would be accepted, and its brackets and quotes would be part of the words.
    """
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, str):
        return value
    if isinstance(current, tuple):
        if value.lstrip().startswith("["):
            raise ValueError(
                "write the words without brackets and quotes, separated by commas, for example "
                f"{','.join(current)}"
            )
        return tuple(part.strip() for part in value.split(","))
    if isinstance(current, dict):
        if value.lstrip().startswith("{"):
            raise ValueError(
                "write pairs of the form NAME=VALUE without braces and quotes, separated by commas"
            )
        return _read_pairs(value)
    if isinstance(current, int) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    return value


def _read_pairs(text: str) -> dict[str, Any]:
    """Parse comma-separated pairs, such as `code=status,code=status`."""
    pairs: dict[str, Any] = {}
    for part in text.split(","):
        if part.strip():
            key, _, word = part.partition("=")
            pairs[key.strip()] = _read_value(word.strip(), 0)
    return pairs


def _check_words(
    assumption: str, pairs: Mapping[str, str], keys: Collection[str], values: Collection[str]
) -> None:
    """Check the keys and values of an assumption that maps words to words. Raises ValueError for an
    unknown word.
    """
    for key, value in pairs.items():
        for word, allowed in ((key, keys), (value, values)):
            if word not in allowed:
                hint = nearest(word, allowed) or f"; the allowed words are {', '.join(allowed)}"
                raise ValueError(f"{assumption}: there is no {word!r}{hint}")


#: All assumptions with their default values.
DEFAULTS = Assumptions()
