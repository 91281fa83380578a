"""Assumptions: our answer wherever the contract is silent, each a named setting.

This is the one place where such an answer has a default. A client must not depend on any of them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec import Meta

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.words import nearest

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
#: The calls that an API key can make.
_KEY_CALLS = (
    *("set_project_powered_by_flag", "initialize_managed_source", "apply_project_domains"),
    *("get_dns_authorization", "list_deployments", "create_dev_access_ticket"),
    *("read_database_compute", "get_operation"),
)
#: The code of each condition that the contract names none for.
CONDITIONS = {
    "session_missing": "interactive_login_required",
    "no_permission_enabled": "api_key_permissions_unavailable",
    "generation_stale": "etag_mismatch",
    "domain_depends_on_flag": "powered_by_flag_required",
    "provider_failing": "service_unavailable",
    "request_in_flight": "service_unavailable",
    "wrong_media_type": "invalid_request",
}
#: The codes that the contract gives no condition of their own.
_OPEN_CODES = tuple(
    code
    for code in PROBLEMS
    if code not in ("resource_not_found", "idempotency_key_reused", "unauthenticated")
)
DNS_STATUSES = ("not_authorized", "pending", "authorized", "expired", "revoked")
PHASES = ("queued", "building", "deploying", "verifying", "done")
RECONCILIATION_STATES = ("required", "running", "completed", "exhausted")
DEPLOYMENT_STATUSES = ("queued", "building", "deploying", "ready", "failed", "cancelled")
DATABASE_STATES = ("init", "ready", "suspended", "resizing", "failed")

#: Under each sentence of the contract that leaves something open, the assumptions that answer it:
#: what they are about and, of some, why the contract check does not find them out.
_PROSE = """
> Success status codes of operations 2, 3 and 4: not shown.
- accepted_status: Status of an accepted operation (calls 2, 4).
- key_created_status: Status of the first creation of an API key.
- key_replayed_status: Status of the exact replay of a key creation.
> Response: DevAccessTicket. [no status given]
- ticket_created_status: Status of ticket creation.
> poll the same operation [no path given]
- operation_path: Where an operation is polled: a path under /v1 that holds {operation_id} once.
> Query parameter names for the cursor and the page size, default page size and ordering: not shown.
- cursor_parameter: Name of the continuation cursor's query parameter.
- limit_parameter: Name of the page size's query parameter.
- default_page_size: Items on a page when no size is asked for.
- deployment_order: Order of listed deployments.
> next_cursor (string, opaque continuation cursor [...])
- last_page_cursor: How the last page writes next_cursor: null is outside the letter, which writes
  "or null" where it allows that.
> Its name, default and whether it is required: not shown.
- environment_parameter: Name of the query parameter that chooses dev or prod.
- missing_environment: Answer when it is missing: 400 invalid_request, or that environment.
> Meaning and bounds of expected_source_generation: not shown.
- source_generation: expected_source_generation, 0 or more, is compared with the project's (else 409
  etag_mismatch), or ignored; or it may be any integer, and is compared.
> Same key and same body: first result returned without switching again.
- idempotency_scope: What an Idempotency-Key is unique within.
- idempotency_remembers: Which answers are remembered under a key; never a refusal that says it is
  retryable.
- idempotency_retention: How long (world time) an answer is remembered: `forever`, or a span like
  `24h`. (unseen: it would have to pass)
- operation_replay: What a replay of calls 2 and 4 returns: the first response, byte for byte, or
  the operation as it now is.
- idempotency_in_flight: Same key while the first is in flight: wait and replay it, or refused with
  service_unavailable. (unseen: it would need two requests at the very same time)
- request_identity: What makes it the same request: what a call reads of it, or also a query and a
  body that the call does not read. (unseen: of those nothing is promised)
- replay_access: Whether who asks again must still be one who may. (unseen: somebody would have to
  lose a role meanwhile)
- changed_and_invalid: Whether a retry whose body is invalid is told that, or that its key was
  used. (unseen: both are refusals that leave everything as it is)
> Issuing a new ticket revokes unused tickets previously issued to the same principal.
- same_principal: Who is one principal, to an Idempotency-Key and to tickets: a person, a person in
  one organization, or each API key by itself and a person's access tokens together. (unseen: it
  needs a person with two keys)
> Transitions: not shown.
- source_profile: How an initialization moves: `timed QUEUED RUNNING`, `immediate`, `per_poll N` or
  `manual`. (unseen: it did not end at once, and how long it takes is different each time)
- domains_profile: How applying domains moves: `timed QUEUED RUNNING`, `immediate`, `per_poll N` or
  `manual`. (unseen: it did not end at once, and how long it takes is different each time)
- dns_transitions: What a DNS authorization may become, by its status, instead of what it usually
  may: `pending=authorized revoked expired` lets one that is pending from then on expire. (unseen: no
  call moves it)
> Allowed values of progress.phase, reconciliation.state and error.code [...]: not shown.
- progress_phases: Words of progress.phase, in order.
- reconciliation_states: Words of reconciliation.state.
> Deployment.status values beyond queued: not shown.
- deployment_statuses: Words of Deployment.status.
> data_mode values beyond shared, [...]: not shown.
- data_modes: Words of data_mode: that of one database for both environments, which the contract
  fixes, and that of two.
> database state / pending_state values beyond init: not shown.
- database_states: Words of database state and pending_state.
> when the current owner switched the flag on
- flag_reenabled: enabled_at when a current owner's flag that is on is switched on again.
> Roles or permissions required by the remaining operations: not shown.
- source_role: Least role for call 2. (unseen: it needs --allow source, and --maintainer-token and
  --reader-token)
- domains_role: Least role for call 4. (unseen: it needs --allow domains, and --maintainer-token and
  --reader-token)
- dns_role: Least role for call 5.
- deployments_role: Least role for call 6.
- operation_role: Least role to poll an operation. (unseen: it needs an operation, and
  --maintainer-token and --reader-token)
- key_creation_role: Least role in the organization for call 3. (unseen: it needs a token of a
  member who does not own the organization)
- organization_owner: Whether an organization's owner is owner of all its projects, or only where
  that was granted. (unseen: who owns what is not shown)
- keys_on_owner_calls: Whether an API key of the owner may make owner-only calls. (unseen: a check
  makes few calls with a key)
- call_permissions: The permission of key_permissions, by its usual name, that a call asks of an API
  key instead of its usual one. (unseen: it needs keys with some permissions only)
> A user key is bound to one organization and restricted to its enabled product permissions.
- new_key_permissions: What a new key carries of the permissions that its organization has enabled:
  all, or those that read. (unseen: which the organization has enabled is not shown)
> Resource missing or outside the caller's access scope
- access_scope: Whether a person's access token reaches the one organization that it is for, or all
  that the person is a member of. (unseen: it needs a member of two organizations)
> Names of the permissions carried in key.permissions: not shown.
- key_permissions: Names of a key's permissions, in the order read projects, write projects, write
  domains, read deployments, read databases, read DNS, write dev access. (unseen: which of the names
  is which is not shown)
> value: the full token
- key_prefix: Text an API key begins with.
> an access JWT [...]
- token_lifetime: How long (world time) an access token is valid. (unseen: one token does not tell
  how long others live)
- token_audience: The `aud` claim of access tokens.
> X-Request-Id (optional request header, string 1-128 characters [...])
- request_id_invalid: X-Request-Id that is empty or over 128 characters.
- request_id: Whether an answer's request id is the one that the client gave, if any. (unseen: a
  check tells its own requests by it)
- request_id_on_success: X-Request-Id on successful answers.
> No additional properties [said of operation 1 alone].
- unknown_body_fields: Unknown body fields of calls 2 and 3.
> No request body.
- unexpected_body: A body on a call that has none.
> Query: [...]
- unknown_query_parameters: Query parameters a call does not list.
> Which HTTP status each other code uses, and which code follows which other condition: not shown.
- malformed_project_id: A path id that is no Ulid: 404 resource_not_found or 400 invalid_request.
- judgement_order: Whether a request's headers, query and body are judged before its access, or
  after (then replay_access is checked). (unseen: both are refusals that leave everything as it is)
- condition_codes: Other problem codes for conditions of which the contract names none:
  session_missing, no_permission_enabled, generation_stale, domain_depends_on_flag,
  provider_failing, request_in_flight, wrong_media_type. (unseen: a check knows a condition by its
  code)
- problem_retryable: Other values of `retryable`, by problem code. (unseen: a check takes it as told)
- wrong_method: A method that a path does not take: 405 invalid_request with Allow, or 404
  resource_not_found. (unseen: a check sends the methods of the contract)
- wrong_media_type: A body of another media type than application/json: refused, or read all the
  same. (unseen: a check sends JSON)
- problem_statuses: Other HTTP statuses for problem codes whose status the contract leaves open.
> Error statuses listed: 400, 401, 403, 404, 409, 503 (Problem Details).
- listed_statuses: Whether call 1, whose error statuses are listed, has no others: a problem whose
  status is another one is then answered there with 400. (unseen: a check sends nothing large, and
  does not try how much a server bears)
> A ticket is single use and valid ten minutes.
- expiry_instant: Whether what expires is still good in the very millisecond in which it does: a
  ticket, key, token, DNS authorization or remembered answer, and a sign-in's code and session.
  (unseen: it would have to pass)
- former_owners_ticket: Whether a ticket may still be redeemed when who got it is no longer owner.
  (unseen: somebody would have to lose a role meanwhile)
- redemption_status: Status of the redirect that redeems a ticket. (unseen: a dev origin is no part
  of the API)
> No cookie session is assumed.
- dev_session_cookie: Name of the cookie that a redeemed ticket sets at the dev origin. (unseen: a dev
  origin is no part of the API)
- dev_session_lifetime: How long (world time) it opens the dev origin. (unseen: it would have to pass)
> request-size limit (code payload_too_large exists) [...]: not shown.
- body_limit_bytes: Longest request body; more is 413 payload_too_large. (unseen: a check sends
  nothing large)
> Numeric rate-limit values (code rate_limited exists) [...]: not shown.
- rate_limit: `off`, or requests per world time for one principal, like `100/60s`. (unseen: a check
  does not try how much a server bears)
> date-time (ISO 8601 / RFC 3339)
- timestamp_form: How timestamps are spelled.
> of the form https://dev-<word>-<word>-<word>.<dev_zone>
- dev_origin_port: Whether origin and redeem_url show the port that dev origins answer at, as if it
  belonged to <dev_zone>, where that is not 443 (`--tls-port`): without it they open nowhere.
  (unseen: only a server whose dev origins have a port of their own shows it)
> hostnames (derived by the server, not supplied)
- dev_zone: Zone of dev origins (other worlds put their name before it).
- production_zone: Zone of production hostnames. (unseen: no field names it)
- mail_zone: Zone of mail hostnames. (unseen: no field names it)
> documentation link of the form {docs_url}/errors/<code [...]>
- docs_url: Where `type` of a problem points: `own` is the emulator's pages, or any URL.
"""


#: Likewise what else we chose and cannot be set: what it is, and why.
_FIXED = """
> Operations other than those listed: not shown.
- other_calls: There are none but polling. (why: what another call would do is not shown)
> Operation.result: content not shown.
- operation_result: The new source generation, or the three hostnames; what is there is varied by the
  point result-content. (why: any content is as good, so a client can go by none)
> Which fields of Operation, progress, reconciliation, Deployment, compute, key and ticket are
  required or optional: not shown.
- optional_fields: All are there that have a value; the points absent-fields and progress-absent leave
  some out. (why: which are missing differs from answer to answer, not from service to service)
> Names of ticket states are not given in the interface.
- ticket_states: unused, used, expired, revoked, in the log and the control API. (why: no answer of a
  call shows them)
> Transitions: not shown.
- operation_transitions: An operation is queued, running, then succeeded, failed or cancelled.
  (why: its plan moves it, whose times source_profile and domains_profile set; another plan would be
  another service)
- deployment_transitions: A deployment follows its operation from state to state. (why: the plan of
  the operation moves it; deployment_statuses names its states)
- database_transitions: A database moves by interventions alone, from any state to any. (why: nothing
  that a call does moves it)
> Event kinds, delivery and payloads: not shown.
- service_events: None are delivered. (why: nothing of them is shown)
> The set of error statuses for endpoints other than the flag endpoint: not shown.
- other_error_statuses: Calls 2 to 8 answer with the status of each code, problem_statuses, and may
  answer with any code of their own in the document. (why: a set of its own would say nothing more)
> credit or plan quotas including bonus credit amounts: not shown.
- quotas: There are none. (why: no call shows credits)
> Deprecation policy and the way later versions are introduced: not shown.
- later_versions: There are none. (why: nothing of them is shown)
> PUT /v1/projects/{project_id}/powered-by-flag
- head_method: HEAD is a method like any other that a path does not take. (why: what answers a GET
  with HEAD is a matter of proxies; wrong_method decides for both)
> last_used_at (timestamp)
- last_use: It is written to the second, and absent before a key is used. (why: no client can tell)
> obfuscated_value (string)
- obfuscated_key: key_prefix, an ellipsis and the last four characters. (why: any text is as good)
> Only the first creation returns the full value.
- replayed_key: A replay shows the key as it now is, under a request id of its own. (why: the value
  is kept nowhere, so the first answer cannot come again)
> API key name length
- key_names: Two keys may have one name. (why: nothing says that names are of one key)
> Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such header is listed
  for operations 5 to 8)
- key_on_other_calls: There an Idempotency-Key is not looked at. (why: nothing is remembered of them)
> opaque continuation cursor
- cursor_life: A cursor is good for ever, in its own project and order. (why: deployments never go, so
  what it points at is there)
> Hiding is refused while a Free workspace's domain depends on the flag.
- flag_dependency: A domain of its own on a project of an organization of plan free. (why: nothing else
  in the contract is a Free workspace's domain)
> blocking_operation_id
- mutation_claim: One operation of a project at a time, in the order they came. (why: the claim that
  the field names is of a project, and another order would be another service)
> diagnostics of a failed one are read via deployment logs
- deployment_logs: There are none. (why: no call reads them)
"""


class AssumptionRefused(ValueError):
    """A name no assumption has, or a value one cannot take; the message says what would be right."""


#: The name of a query parameter, and a DNS zone.
_Parameter = Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]
_LABEL = "[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?"
_Zone = Annotated[str, Meta(pattern=rf"^{_LABEL}(\.{_LABEL}){{0,5}}$")]


class Assumptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All assumptions of one world. Immutable: `changed()` returns another."""

    accepted_status: Literal[202, 200, 201] = 202
    key_created_status: Literal[201, 200] = 201
    key_replayed_status: Literal[200, 201] = 200
    ticket_created_status: Literal[201, 200] = 201
    operation_path: Annotated[
        str, Meta(pattern=r"^/v1(/[A-Za-z0-9_.:~-]+)*/\{operation_id\}(/[A-Za-z0-9_.:~-]+)*$")
    ] = "/v1/operations/{operation_id}"
    cursor_parameter: _Parameter = "cursor"
    limit_parameter: _Parameter = "limit"
    default_page_size: Annotated[int, Meta(ge=1, le=100)] = 20
    deployment_order: Literal["newest_first", "oldest_first"] = "newest_first"
    last_page_cursor: Literal["absent", "null"] = "absent"
    environment_parameter: _Parameter = "environment"
    missing_environment: Literal["refused", "dev", "prod"] = "refused"
    source_generation: Literal["checked", "ignored", "any_integer"] = "checked"
    idempotency_scope: Literal["principal", "principal_and_call"] = "principal"
    idempotency_remembers: Literal["successes", "all_answers"] = "successes"
    idempotency_retention: str = "forever"
    operation_replay: Literal["first_response", "current"] = "first_response"
    idempotency_in_flight: Literal["wait", "refuse"] = "wait"
    request_identity: Literal["what_is_read", "all_that_is_sent"] = "what_is_read"
    replay_access: Literal["checked", "not_checked"] = "checked"
    judgement_order: Literal["inputs_first", "access_first"] = "inputs_first"
    changed_and_invalid: Literal["invalid_request", "key_reused"] = "invalid_request"
    same_principal: Literal["person", "person_in_organization", "credential"] = "person"
    source_profile: str = "timed 2s 8s"
    domains_profile: str = "timed 2s 8s"
    progress_phases: tuple[str, str, str, str, str] = PHASES
    reconciliation_states: tuple[str, str, str, str] = RECONCILIATION_STATES
    deployment_statuses: tuple[str, str, str, str, str, str] = DEPLOYMENT_STATUSES
    dns_transitions: dict[str, str] = {}
    data_modes: tuple[Literal["shared"], str] = ("shared", "separate")
    database_states: tuple[str, str, str, str, str] = DATABASE_STATES
    flag_reenabled: Literal["kept", "renewed"] = "kept"
    source_role: Role = "maintainer"
    domains_role: Role = "maintainer"
    dns_role: Role = "reader"
    deployments_role: Role = "reader"
    operation_role: Role = "reader"
    key_creation_role: Literal["member", "owner"] = "member"
    organization_owner: Literal["owns_projects", "by_grant"] = "owns_projects"
    keys_on_owner_calls: Literal["allowed", "refused"] = "allowed"
    call_permissions: dict[str, str] = {}
    new_key_permissions: Literal["all", "reading"] = "all"
    access_scope: Literal["organization", "memberships"] = "organization"
    key_permissions: tuple[str, str, str, str, str, str, str] = PERMISSIONS
    key_prefix: Annotated[str, Meta(pattern="^[a-z]{2,8}_$")] = "phk_"
    token_lifetime: str = "1h"
    token_audience: Annotated[str, Meta(min_length=1)] = "hosting-control-api"
    request_id_invalid: Literal["refused", "ignored"] = "refused"
    request_id: Literal["client", "own"] = "client"
    request_id_on_success: Literal["absent", "echoed"] = "absent"
    unknown_body_fields: Literal["ignored", "refused"] = "ignored"
    unexpected_body: Literal["ignored", "refused"] = "ignored"
    unknown_query_parameters: Literal["ignored", "refused"] = "ignored"
    malformed_project_id: Literal["not_found", "invalid_request"] = "not_found"
    condition_codes: dict[str, str] = {}
    problem_retryable: dict[str, bool] = {}
    wrong_method: Literal["method_not_allowed", "not_found"] = "method_not_allowed"
    wrong_media_type: Literal["refused", "ignored"] = "refused"
    expiry_instant: Literal["outside", "inside"] = "outside"
    former_owners_ticket: Literal["redeemed", "refused"] = "redeemed"
    redemption_status: Literal[303, 302, 307] = 303
    dev_session_cookie: Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z0-9_-]{0,63}$")] = "dev_access"
    dev_session_lifetime: str = "12h"
    problem_statuses: dict[str, int] = {}
    listed_statuses: Literal["closed", "open"] = "closed"
    body_limit_bytes: Annotated[int, Meta(ge=1, le=67_108_864)] = 1_048_576
    rate_limit: str = "off"
    timestamp_form: Literal["milliseconds", "microseconds", "offset"] = "milliseconds"
    dev_origin_port: Literal["shown", "absent"] = "shown"
    dev_zone: _Zone = "dev.localhost"
    production_zone: _Zone = "prod.localhost"
    mail_zone: _Zone = "mail.localhost"
    docs_url: Annotated[str, Meta(pattern="^(own|https?://[^ ]+[^ /])$")] = "own"

    def __post_init__(self) -> None:
        parse_retention_ms(self.idempotency_retention)
        parse_duration_ms(self.token_lifetime)
        parse_duration_ms(self.dev_session_lifetime)
        parse_profile(self.source_profile)
        parse_profile(self.domains_profile)
        parse_rate_limit(self.rate_limit)
        _check_statuses(self.problem_statuses)
        _check_words("call_permissions", self.call_permissions, _KEY_CALLS, PERMISSIONS)
        _check_words("condition_codes", self.condition_codes, CONDITIONS, _OPEN_CODES)
        _check_retryable(self.problem_retryable)
        _check_transitions(self.dns_transitions)
        _check_distinct(self)

    def code_of(self, condition: str) -> str:
        """Return the problem code that answers a condition (of CONDITIONS)."""
        return self.condition_codes.get(condition, CONDITIONS[condition])

    def is_over(self, expires_ms: int, now_ms: int) -> bool:
        """Tell whether what expires at a moment is good no more."""
        return expires_ms < now_ms + (self.expiry_instant == "outside")

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


@lru_cache(maxsize=64)
def parse_retention_ms(text: str) -> int | None:
    """Read how long an answer is remembered, in milliseconds; None: for ever.

    Raises ValueError for anything else.
    """
    return None if text == "forever" else parse_duration_ms(text)


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
    """Return every assumption as a row: name, value, default, alternatives, about, sentence.

    `outside_the_letter` are alternatives that the contract forbids: they are there to be tried.
    Behind them come our choices that cannot be set: `fixed` says why.
    """
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "value": _plain(getattr(assumptions, name)),
            "default": _plain(getattr(DEFAULTS, name)),
            "alternatives": alternatives(name) or "any",
            "outside_the_letter": [
                value
                for value in alternatives(name)
                if f"{value} is outside the letter" in _prose()[name].about
            ],
            "about": _prose()[name].about,
            "sentence": _prose()[name].sentence,
            "fixed": "",
        }
        for name in Assumptions.__struct_fields__
    ]
    for name, text in _read_prose(_FIXED, "why").items():
        row = {"name": name, "value": "fixed", "default": "fixed", "alternatives": []}
        row |= {"outside_the_letter": [], "about": text.about, "sentence": text.sentence}
        found.append(row | {"fixed": text.note})
    return found


class _Text(NamedTuple):
    about: str
    sentence: str
    note: str


@lru_cache(maxsize=1)
def _prose() -> dict[str, _Text]:
    return _read_prose(_PROSE, "unseen")


def _read_prose(text: str, note: str) -> dict[str, _Text]:
    found, sentence = {}, ""
    for line in text.replace("\n  ", " ").strip().splitlines():
        if line.startswith("> "):
            sentence = line[2:]
        else:
            name, _, about = line[2:].partition(": ")
            about, _, noted = about.partition(f" ({note}: ")
            found[name] = _Text(about, sentence, noted.removesuffix(")"))
    return found


def why_unseen(name: str) -> str:
    """Return why the contract check may not find an assumption out; empty: nothing stands against."""
    if unseen := _prose()[name].note:
        return unseen
    if isinstance(getattr(DEFAULTS, name), tuple):
        return "in which order words are used is not shown"
    return "it needs --reader-token and --maintainer-token" if name.endswith("_role") else ""


def alternatives(name: str) -> list[Any]:
    """Return the other values that an assumption may have; none: it may be anything of its kind."""
    default = getattr(DEFAULTS, name)
    choices = get_args(_types()[name])
    return [] if isinstance(default, tuple | dict) else [c for c in choices if c != default]


@lru_cache(maxsize=1)
def _types() -> dict[str, Any]:
    return get_type_hints(Assumptions)


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
        return {key.strip(): _read_word(word.strip()) for key, _, word in pairs}
    return _number(value) if isinstance(current, int) else value


def _read_word(word: str) -> bool | int | str:
    return word == "true" if word in ("true", "false") else _number(word)


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
    if fixed := _read_prose(_FIXED, "why").get(name):
        return f"{name} cannot be set: {fixed.note}"
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; `contract assumptions` lists them"
    return f"no assumption is named {name!r}{hint}"


def _check_statuses(statuses: dict[str, int]) -> None:
    for code, status in statuses.items():
        problem = PROBLEMS.get(code)
        if problem is None:
            raise ValueError(f"problem_statuses: no problem has the code {code!r}")
        try:
            problem.check_status(status)
        except ValueError as error:
            raise ValueError(f"problem_statuses: {error}") from None


def _check_words(
    table: str, found: Mapping[str, str], keys: Collection[str], values: Collection[str]
) -> None:
    for key, value in found.items():
        for word, known in ((key, keys), (value, values)):
            if word not in known:
                hint = nearest(word, known) or f"; it is one of {', '.join(known)}"
                raise ValueError(f"{table}: there is no {word!r}{hint}")


def _check_retryable(found: Mapping[str, bool]) -> None:
    for code in found:
        if code not in PROBLEMS:
            raise ValueError(f"problem_retryable: no problem has the code {code!r}")
        if "retryable" in PROBLEMS[code].specified:
            raise ValueError(f"problem_retryable: the contract fixes that of {code}")


def _check_transitions(found: Mapping[str, str]) -> None:
    for status, following in found.items():
        words = dict.fromkeys(following.split(), status)
        _check_words("dns_transitions", {status: status, **words}, DNS_STATUSES, DNS_STATUSES)


def _check_distinct(found: Assumptions) -> None:
    for name in (
        "progress_phases",
        "deployment_statuses",
        "database_states",
        "key_permissions",
        "data_modes",
    ):
        words = getattr(found, name)
        if len(set(words)) != len(words) or not all(words):
            raise ValueError(f"{name} needs distinct, non-empty words")
    if found.judgement_order == "access_first" and found.replay_access == "not_checked":
        raise ValueError("judgement_order access_first needs replay_access checked")
    if found.cursor_parameter == found.limit_parameter:
        raise ValueError("cursor_parameter and limit_parameter need different names")


#: Every assumption as it is unless told otherwise.
DEFAULTS = Assumptions()
