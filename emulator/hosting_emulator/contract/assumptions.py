"""Assumptions: our answer wherever the contract is silent, each a named setting.

This is the one place where such an answer has a default. A client must not depend on any of them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import PROBLEMS

Role = Literal["owner", "maintainer", "reader"]

#: The seven product permissions of an API key, in the order `key_permissions` renames them.
PERMISSIONS = (
    "projects.read",
    "projects.write",
    "domains.write",
    "deployments.read",
    "database.read",
    "dns.read",
    "dev_access.write",
)
PHASES = ("queued", "building", "deploying", "verifying", "done")
RECONCILIATION_STATES = ("required", "running", "completed", "exhausted")
DEPLOYMENT_STATUSES = ("queued", "building", "deploying", "ready", "failed", "cancelled")
DATABASE_STATES = ("init", "ready", "suspended", "resizing", "failed")

_NOT_SHOWN = "Success status codes of operations 2, 3 and 4: not shown."
_QUERY = (
    "Query parameter names for the cursor and the page size, default page size and ordering: "
    "not shown."
)
_SETS = "Allowed values of progress.phase, reconciliation.state and error.code [...]: not shown."
_OPTIONAL = (
    "Which fields of Operation, progress, reconciliation, Deployment, compute, key and ticket are "
    "required or optional: not shown."
)
_ROLES = "Roles or permissions required by the remaining operations: not shown."
_CODES = (
    "Which HTTP status each other code uses, and which code follows which other condition: "
    "not shown."
)
_COMPUTE = "Its name, default and whether it is required: not shown."
_BODY = "No additional properties [said of operation 1 alone]."
_REQUEST_ID = "X-Request-Id (optional request header, string 1-128 characters [...])"
_IDEMPOTENCY = "Same key and same body: first result returned without switching again."
_DERIVED = "hostnames (derived by the server, not supplied)"

_LASTS = "it did not end at once, and how long it takes is different each time"


class AssumptionRefused(ValueError):
    """A name no assumption has, or a value one cannot take; the message says what would be right."""


#: The name of a query parameter, and a DNS zone.
_Parameter = Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]
_LABEL = "[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?"
_Zone = Annotated[str, Meta(pattern=rf"^{_LABEL}(\.{_LABEL}){{0,5}}$")]


class Assumptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All assumptions of one world. Immutable: `changed()` returns another."""

    # Each with what it is about, the sentence of the contract that leaves it open and, of some, why
    # the contract check does not find it out.

    accepted_status: Annotated[
        Literal[202, 200, 201], "Status of an accepted operation (calls 2, 4).", _NOT_SHOWN
    ] = 202
    key_created_status: Annotated[
        Literal[201, 200], "Status of the first creation of an API key.", _NOT_SHOWN
    ] = 201
    key_replayed_status: Annotated[
        Literal[200, 201], "Status of the exact replay of a key creation.", _NOT_SHOWN
    ] = 200
    ticket_created_status: Annotated[
        Literal[201, 200],
        "Status of ticket creation.",
        "Response: DevAccessTicket. [no status given]",
    ] = 201
    operation_path: Annotated[
        str,
        "Where an operation is polled: a path under /v1 that holds {operation_id} once.",
        "poll the same operation [no path given]",
        Meta(pattern=r"^/v1(/[A-Za-z0-9_.:~-]+)*/\{operation_id\}(/[A-Za-z0-9_.:~-]+)*$"),
    ] = "/v1/operations/{operation_id}"
    cursor_parameter: Annotated[
        _Parameter, "Name of the continuation cursor's query parameter.", _QUERY
    ] = "cursor"
    limit_parameter: Annotated[_Parameter, "Name of the page size's query parameter.", _QUERY] = (
        "limit"
    )
    default_page_size: Annotated[
        int, "Items on a page when no size is asked for.", _QUERY, Meta(ge=1, le=100)
    ] = 20
    deployment_order: Annotated[
        Literal["newest_first", "oldest_first"], "Order of listed deployments.", _QUERY
    ] = "newest_first"
    last_page_cursor: Annotated[
        Literal["null", "absent"],
        "How the last page writes next_cursor.",
        "next_cursor (string, opaque continuation cursor [...])",
    ] = "null"
    environment_parameter: Annotated[
        _Parameter, "Name of the query parameter that chooses dev or prod.", _COMPUTE
    ] = "environment"
    missing_environment: Annotated[
        Literal["refused", "dev", "prod"],
        "Answer when it is missing: 400 invalid_request, or that environment.",
        _COMPUTE,
    ] = "refused"
    empty_fields: Annotated[
        Literal["absent", "null"], "How an optional field without a value is written.", _OPTIONAL
    ] = "absent"
    source_generation: Annotated[
        Literal["checked", "ignored"],
        "expected_source_generation is compared with the project's (else 409 etag_mismatch), "
        "or ignored.",
        "Meaning and bounds of expected_source_generation: not shown.",
    ] = "checked"
    source_creates_deployment: Annotated[
        bool,
        "Whether initializing the source creates a deployment.",
        "the deployment this operation created (deploy, promotion or rollback)",
    ] = True
    idempotency_scope: Annotated[
        Literal["principal", "principal_and_call"],
        "What an Idempotency-Key is unique within.",
        _IDEMPOTENCY,
    ] = "principal"
    idempotency_remembers: Annotated[
        Literal["successes", "all_answers"],
        "Which answers are remembered under a key.",
        _IDEMPOTENCY,
    ] = "successes"
    idempotency_retention: Annotated[
        str,
        "How long (world time) an answer is remembered.",
        _IDEMPOTENCY,
        "a day would have to pass",
    ] = "24h"
    operation_replay: Annotated[
        Literal["first_response", "current"],
        "What a replay of calls 2 and 4 returns: the first response, byte for byte, or the "
        "operation as it now is.",
        _IDEMPOTENCY,
    ] = "first_response"
    idempotency_in_flight: Annotated[
        Literal["wait", "refuse"],
        "Same key while the first is in flight: wait and replay it, or 409 idempotency_key_reused.",
        _IDEMPOTENCY,
        "it would need two requests at the very same time",
    ] = "wait"
    source_profile: Annotated[
        str,
        "How an initialization moves: `timed QUEUED RUNNING`, `immediate`, `per_poll N` or "
        "`manual`.",
        "Transitions: not shown.",
        _LASTS,
    ] = "timed 2s 8s"
    domains_profile: Annotated[
        str,
        "How applying domains moves: `timed QUEUED RUNNING`, `immediate`, `per_poll N` or "
        "`manual`.",
        "Transitions: not shown.",
        _LASTS,
    ] = "timed 2s 8s"
    progress_phases: Annotated[
        tuple[str, str, str, str, str], "Words of progress.phase, in order.", _SETS
    ] = PHASES
    reconciliation_states: Annotated[
        tuple[str, str, str, str], "Words of reconciliation.state.", _SETS
    ] = RECONCILIATION_STATES
    deployment_statuses: Annotated[
        tuple[str, str, str, str, str, str],
        "Words of Deployment.status.",
        "Deployment.status values beyond queued: not shown.",
    ] = DEPLOYMENT_STATUSES
    database_states: Annotated[
        tuple[str, str, str, str, str],
        "Words of database state and pending_state.",
        "database state / pending_state values beyond init: not shown.",
    ] = DATABASE_STATES
    flag_reenabled: Annotated[
        Literal["kept", "renewed"],
        "enabled_at when a flag that is on is switched on again.",
        "when the current owner switched the flag on",
    ] = "kept"
    source_role: Annotated[
        Role,
        "Least role for call 2.",
        _ROLES,
        "it needs --allow source, and --maintainer-token and --reader-token",
    ] = "maintainer"
    domains_role: Annotated[
        Role,
        "Least role for call 4.",
        _ROLES,
        "it needs --allow domains, and --maintainer-token and --reader-token",
    ] = "maintainer"
    dns_role: Annotated[Role, "Least role for call 5.", _ROLES] = "reader"
    deployments_role: Annotated[Role, "Least role for call 6.", _ROLES] = "reader"
    operation_role: Annotated[
        Role,
        "Least role to poll an operation.",
        _ROLES,
        "it needs an operation, and --maintainer-token and --reader-token",
    ] = "reader"
    key_permissions: Annotated[
        tuple[str, str, str, str, str, str, str],
        "Names of a key's permissions, in the order "
        "read projects, write projects, write domains, read deployments, read databases, "
        "read DNS, write dev access.",
        "Names of the permissions carried in key.permissions: not shown.",
        "which of the names is which is not shown",
    ] = PERMISSIONS
    key_prefix: Annotated[
        str, "Text an API key begins with.", "value: the full token", Meta(pattern="^[a-z]{2,8}_$")
    ] = "phk_"
    token_lifetime: Annotated[
        str,
        "How long (world time) an access token is valid.",
        "an access JWT [...]",
        "one token does not tell how long others live",
    ] = "1h"
    token_audience: Annotated[
        str, "The `aud` claim of access tokens.", "an access JWT [...]", Meta(min_length=1)
    ] = "hosting-control-api"
    request_id_invalid: Annotated[
        Literal["refused", "ignored"],
        "X-Request-Id that is empty or over 128 characters.",
        _REQUEST_ID,
    ] = "refused"
    request_id_on_success: Annotated[
        Literal["absent", "echoed"], "X-Request-Id on successful answers.", _REQUEST_ID
    ] = "absent"
    unknown_body_fields: Annotated[
        Literal["ignored", "refused"], "Unknown body fields of calls 2 and 3.", _BODY
    ] = "ignored"
    unexpected_body: Annotated[
        Literal["ignored", "refused"], "A body on a call that has none.", "No request body."
    ] = "ignored"
    unknown_query_parameters: Annotated[
        Literal["ignored", "refused"], "Query parameters a call does not list.", "Query: [...]"
    ] = "ignored"
    malformed_project_id: Annotated[
        Literal["not_found", "invalid_request"],
        "A path id that is no Ulid: 404 resource_not_found or 400 invalid_request.",
        _CODES,
    ] = "not_found"
    problem_statuses: Annotated[
        dict[str, int],
        "Other HTTP statuses for problem codes whose status the contract leaves open.",
        _CODES,
    ] = {}
    ticket_refused_status: Annotated[
        Literal[404, 410],
        "Status for a ticket that is unknown, used, expired or revoked (all alike).",
        "Names of ticket states are not given in the interface.",
    ] = 404
    body_limit_bytes: Annotated[
        int,
        "Longest request body; more is 413 payload_too_large.",
        "request-size limit (code payload_too_large exists) [...]: not shown.",
        "a check sends nothing large",
        Meta(ge=1, le=67_108_864),
    ] = 1_048_576
    rate_limit: Annotated[
        str,
        "`off`, or requests per world time for one principal, like `100/60s`.",
        "Numeric rate-limit values (code rate_limited exists) [...]: not shown.",
        "a check does not try how much a server bears",
    ] = "off"
    timestamp_form: Annotated[
        Literal["milliseconds", "microseconds", "offset"],
        "How timestamps are spelled.",
        "date-time (ISO 8601 / RFC 3339)",
    ] = "milliseconds"
    dev_zone: Annotated[
        _Zone, "Zone of dev origins (other worlds put their name before it).", _DERIVED
    ] = "dev.localhost"
    production_zone: Annotated[
        _Zone, "Zone of production hostnames.", _DERIVED, "no field names it"
    ] = "prod.localhost"
    mail_zone: Annotated[_Zone, "Zone of mail hostnames.", _DERIVED, "no field names it"] = (
        "mail.localhost"
    )
    docs_url: Annotated[
        str,
        "Where `type` of a problem points: `own` is the emulator's pages, or any URL.",
        "documentation link of the form {docs_url}/errors/<code [...]>",
        Meta(pattern="^(own|https?://[^ ]+[^ /])$"),
    ] = "own"

    def __post_init__(self) -> None:
        parse_duration_ms(self.idempotency_retention)
        parse_duration_ms(self.token_lifetime)
        parse_profile(self.source_profile)
        parse_profile(self.domains_profile)
        parse_rate_limit(self.rate_limit)
        _check_statuses(self.problem_statuses)
        _check_distinct(self)

    def changed(self, values: Mapping[str, Any]) -> Assumptions:
        """Return these assumptions with some values replaced.

        Values may be text, as a command line gives them: numbers and booleans are read, lists are
        split at commas, `problem_statuses` is written `code=status,…`.
        Raises AssumptionRefused, naming the assumption, what was found and what would be right.
        """
        merged = msgspec.structs.asdict(self)
        for name, value in values.items():
            if name not in merged:
                raise AssumptionRefused(_unknown(name, list(merged)))
            merged[name] = _read_value(value, merged[name])
            _convert(merged, name)
        return _convert(merged, "")

    def changes(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, by name."""
        if self == DEFAULTS:
            return {}
        return {
            name: _plain(getattr(self, name))
            for name in self.__struct_fields__
            if getattr(self, name) != getattr(DEFAULTS, name)
        }


@lru_cache(maxsize=64)
def parse_profile(text: str) -> tuple[str, int, int]:
    """Read a lifecycle profile: (`timed`, queued ms, running ms), (`per_poll`, n, 0), (word, 0, 0).

    Raises ValueError for anything else.
    """
    words = text.split()
    if words in (["immediate"], ["manual"]):
        return words[0], 0, 0
    if len(words) == 3 and words[0] == "timed":
        return "timed", parse_duration_ms(words[1]), parse_duration_ms(words[2])
    if len(words) == 2 and words[0] == "per_poll" and re.fullmatch("[1-9][0-9]{0,3}", words[1]):
        return "per_poll", int(words[1]), 0
    raise ValueError(
        f"{text!r} is not a profile: write `timed 2s 8s`, `immediate`, `per_poll 2` or `manual`"
    )


def parse_rate_limit(text: str) -> tuple[int, int] | None:
    """Read a rate limit as (requests, window in ms); None when it is `off`.

    Raises ValueError for anything else.
    """
    if text == "off":
        return None
    count, _, window = text.partition("/")
    if re.fullmatch("[1-9][0-9]{0,8}", count) and window:
        length = parse_duration_ms(window)
        if 1_000 <= length <= 86_400_000:
            return int(count), length
    raise ValueError(f"{text!r} is not a rate limit: write `off` or `100/60s` (1s to 24h)")


def describe(assumptions: Assumptions) -> list[dict[str, Any]]:
    """Return every assumption as a row: name, value, default, alternatives, about, sentence."""
    return [
        {
            "name": name,
            "value": _plain(getattr(assumptions, name)),
            "default": _plain(getattr(DEFAULTS, name)),
            "alternatives": alternatives(name) or "any",
            "about": texts[0],
            "sentence": texts[1],
        }
        for name, (_, texts) in _declarations().items()
    ]


@lru_cache(maxsize=1)
def _declarations() -> dict[str, tuple[Any, list[str]]]:
    """Return the type of each assumption, and what is said of it."""
    hints = get_type_hints(Assumptions, include_extras=True)
    return {
        name: (hint.__origin__, [text for text in hint.__metadata__ if isinstance(text, str)])
        for name, hint in hints.items()
    }


def why_unseen(name: str) -> str:
    """Return why the contract check may not find an assumption out; empty: nothing stands against."""
    kind, texts = _declarations()[name]
    if len(texts) > 2:
        return texts[2]
    if isinstance(getattr(DEFAULTS, name), tuple):
        return "in which order words are used is not shown"
    return "it needs --reader-token and --maintainer-token" if kind == Role else ""


def alternatives(name: str) -> list[Any]:
    """Return the other values that an assumption may have; none: it may be anything of its kind."""
    kind, default = _declarations()[name][0], getattr(DEFAULTS, name)
    if kind is bool:
        return [not default]
    if isinstance(default, tuple | dict):
        return []
    return [choice for choice in getattr(kind, "__args__", ()) if choice != default]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _read_value(value: Any, current: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, str):
        return value
    if isinstance(current, tuple):
        return tuple(part.strip() for part in value.split(","))
    if isinstance(current, dict):
        pairs = (part.partition("=") for part in value.split(",") if part.strip())
        return {code.strip(): _number(status) for code, _, status in pairs}
    if isinstance(current, bool):
        return {"true": True, "false": False}.get(value.lower(), value)
    return _number(value) if isinstance(current, int) else value


def _number(text: str) -> int | str:
    return int(text) if re.fullmatch(r"\s*[0-9]{1,9}\s*", text) else text


def _convert(values: dict[str, Any], name: str) -> Assumptions:
    try:
        return msgspec.convert(values, Assumptions)
    except msgspec.ValidationError as error:
        reason = re.sub(r" - at `\$(\.[a-z_]+)?.*`$", "", str(error))
        hint = ""
        if name and (allowed := alternatives(name)):
            known = [getattr(DEFAULTS, name), *allowed]
            hint = f" (one of {', '.join(str(value) for value in known)})"
        raise AssumptionRefused(
            f"assumption {name} cannot be {values.get(name)!r}: {reason}{hint}"
        ) from None


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; `contract assumptions` lists them"
    return f"no assumption is named {name!r}{hint}"


def _check_statuses(statuses: dict[str, int]) -> None:
    for code, status in statuses.items():
        problem = PROBLEMS.get(code)
        if problem is None:
            raise ValueError(f"problem_statuses: no problem has the code {code!r}")
        if "status" in problem.specified and status != problem.status:
            raise ValueError(f"problem_statuses: the contract fixes {code} to {problem.status}")
        if not 400 <= status <= 599:
            raise ValueError(f"problem_statuses: {code} needs a status from 400 to 599")


def _check_distinct(found: Assumptions) -> None:
    for name in ("progress_phases", "deployment_statuses", "database_states", "key_permissions"):
        words = getattr(found, name)
        if len(set(words)) != len(words) or not all(words):
            raise ValueError(f"{name} needs distinct, non-empty words")
    if found.cursor_parameter == found.limit_parameter:
        raise ValueError("cursor_parameter and limit_parameter need different names")


#: Every assumption as it is unless told otherwise.
DEFAULTS = Assumptions()
