"""Assumptions: our answer wherever the contract is silent, each a named setting.

This is the one place where such an answer has a default. A client must not depend on any of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec import Meta

from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.documents import plain_reason
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.json_schema import whole
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.suggestions import nearest

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
#: The code of each condition that the contract names none for.
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
#: The codes that the contract gives no condition of their own.
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
DEPLOYMENT_STATUSES = ("queued", "building", "deploying", "ready", "failed", "cancelled")
DATABASE_STATES = ("init", "ready", "suspended", "resizing", "failed")
#: The word that the contract names for each open set. Every list of such words contains it.
CONTRACT_WORDS = {
    "progress_phases": "queued",
    "reconciliation_states": "required",
    "deployment_statuses": "queued",
    "database_states": "init",
}


class OutsideTheLetter(NamedTuple):
    """The alternatives of an assumption that contradict a sentence of the contract.

    `alternatives` are listed as a user reads them. Only the default is within the contract.
    """

    alternatives: tuple[str, ...]
    sentence: str


class AssumptionRefused(ValueError):
    """A name no assumption has, or a value one cannot take; the message says what would be right."""


#: The name of a query parameter, and a DNS zone.
_Parameter = Annotated[str, whole(r"^[A-Za-z$_][A-Za-z0-9$_.\[\]-]{0,63}$")]
#: What a segment of a path is made of, here.
_SEGMENT = "[A-Za-z0-9_.:~-]"
_LABEL = "[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?"
#: What may stand in a URI before its query and fragment (RFC 3986), but for the slash.
_URI = r"A-Za-z0-9._~:@!$&'()*+,;=%\[\]-"
_Zone = Annotated[str, whole(rf"^{_LABEL}(\.{_LABEL}){{0,5}}$")]


class Assumptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All assumptions of one world. Immutable: `changed()` returns another."""

    # The text below each field is shown to users: what the assumption decides; after `unseen` why the
    # contract check never observes it, or after `needs` the options that the check needs to observe it;
    # and between brackets the calls whose responses it shapes, as `CallSpec.is_shaped_by` knows them.
    # The sentence of the contract that leaves it, and those after it, open stands above.

    """> Success status codes of operations 2, 3 and 4: not shown."""
    accepted_status: Literal[202, 200, 201] = 202
    """Status of an accepted operation (calls 2, 4)."""
    key_created_status: Literal[201, 200] = 201
    """Status of the first creation of an API key."""
    key_replayed_status: Literal[200, 201] = 200
    """Status of the exact replay of a key creation."""
    """> Response: DevAccessTicket. [no status given]"""
    ticket_created_status: Literal[201, 200] = 201
    """Status of ticket creation."""
    """> poll the same operation [no path given]"""
    operation_path: Annotated[
        str,
        whole(
            rf"^/v1(/{_SEGMENT}+)*(/\{{project_id\}}(/{_SEGMENT}+)*)?"
            rf"/\{{operation_id\}}{_SEGMENT}*(/{_SEGMENT}+)*$"
        ),
    ] = "/v1/operations/{operation_id}"
    """Where an operation is polled: a path under /v1 that contains {operation_id} once, and may
    contain {project_id} before it."""
    """> Query parameter names for the cursor and the page size, default page size and ordering: not
    shown."""
    cursor_parameter: _Parameter = "cursor"
    """Name of the continuation cursor's query parameter."""
    limit_parameter: _Parameter = "limit"
    """Name of the page size's query parameter."""
    default_page_size: Annotated[int, Meta(ge=1, le=100)] = 20
    """Items on a page when the request sets no size."""
    deployment_order: Literal["newest_first", "oldest_first"] = "newest_first"
    """Order of listed deployments. [DeploymentPage]"""
    """> next_cursor (string, opaque continuation cursor [...])"""
    last_page_cursor: Annotated[
        Literal["absent", "null"],
        OutsideTheLetter(("null",), "next_cursor (string, opaque continuation cursor, [...])"),
    ] = "absent"
    """How the last page writes next_cursor. The contract writes "or null" where it allows null.
    [DeploymentPage]"""
    """> Its name, default and whether it is required: not shown."""
    environment_parameter: _Parameter = "environment"
    """Name of the query parameter that chooses dev or prod."""
    missing_environment: Literal["refused", "dev", "prod"] = "refused"
    """Response when it is missing: 400 invalid_request, or that environment."""
    """> Meaning and bounds of expected_source_generation: not shown."""
    source_generation: Literal["checked", "ignored", "any_integer", "optional"] = "checked"
    """expected_source_generation, 0 or more, is compared with the project's, on the request and
    again when the operation starts (if it differs, 409 etag_mismatch), or ignored; or it may be any
    integer, and is compared; or the field is optional, and is compared if present.
    [initialize_managed_source]"""
    """> Same key and same body: first result returned without switching again."""
    idempotency_scope: Literal["principal", "principal_and_call"] = "principal"
    """The scope in which an Idempotency-Key is unique. [idempotent]"""
    idempotency_remembers: Literal["successes", "all_answers"] = "successes"
    """Which responses are remembered for a key: successes, or also the call's own refusals, but none
    that says it is retryable. An invalid request, or one without access, leaves its key free.
    [idempotent]"""
    idempotency_retention: Annotated[
        str,
        OutsideTheLetter(
            ("any duration",),
            "After any uncertainty the same name and Idempotency-Key are reused rather than creating "
            "another token.",
        ),
    ] = "forever"
    """How long (world time) a response is remembered: `forever`, or a duration like `24h`, after
    which a retry of call 3 creates another token. (unseen: that time would have to pass)
    [idempotent]"""
    operation_replay: Literal["first_response", "current"] = "first_response"
    """What a replay of calls 2 and 4 returns: the first response, byte for byte, or the operation
    as it now is. [initialize_managed_source apply_project_domains]"""
    idempotency_in_flight: Literal["wait", "refuse"] = "wait"
    """Same key while the first request is in progress: wait and replay it, or refuse with
    service_unavailable. (unseen: it needs two requests at exactly the same time) [idempotent]"""
    """> Transitions: not shown."""
    source_profile: str = "timed 2s 8s"
    """How an initialization moves: `timed QUEUED RUNNING`, `immediate`, `per_poll N` or `manual`. An
    operation keeps the profile under which it was accepted.
    (unseen: it did not end at once, and its duration varies) [initialize_managed_source]"""
    domains_profile: str = "timed 2s 8s"
    """How applying domains moves: `timed QUEUED RUNNING`, `immediate`, `per_poll N` or `manual`. An
    operation keeps the profile under which it was accepted.
    (unseen: it did not end at once, and its duration varies) [apply_project_domains]"""
    """> Allowed values of progress.phase, reconciliation.state and error.code [...]: not shown."""
    progress_phases: tuple[str, str, str, str, str] = PHASES
    """Words of progress.phase, in order; `queued` is one of them. [Operation]"""
    reconciliation_states: tuple[str, str, str, str] = RECONCILIATION_STATES
    """Words of reconciliation.state; `required` is one of them. [Operation]"""
    """> Deployment.status values beyond queued: not shown."""
    deployment_statuses: tuple[str, str, str, str, str, str] = DEPLOYMENT_STATUSES
    """Words of Deployment.status; `queued` is one of them. [DeploymentPage]"""
    """> data_mode values beyond shared, [...]: not shown."""
    data_modes: tuple[Literal["shared"], str] = ("shared", "separate")
    """Words of data_mode: for one database shared by both environments, which the contract fixes,
    and for two. [DatabaseCompute]"""
    """> database state / pending_state values beyond init: not shown."""
    database_states: tuple[str, str, str, str, str] = DATABASE_STATES
    """Words of database state and pending_state; `init` is one of them. [DatabaseCompute]"""
    """> when the current owner switched the flag on"""
    flag_reenabled: Literal["kept", "renewed"] = "kept"
    """enabled_at when a flag that is on is switched on again by its owner. [PoweredByFlag]"""
    """> Available at zero credits."""
    zero_credits: Literal["operations_refused", "nothing_refused"] = "operations_refused"
    """Whether an organization without credits may start operations (calls 2 and 4), or is refused:
    402 insufficient_organization_credits. (unseen: no call shows credits)
    [initialize_managed_source apply_project_domains]"""
    """> a Free workspace may connect its own domain to this project"""
    domains_plan: Literal["any", "paid"] = "any"
    """Which plan applying domains needs: any, or a paid one, otherwise 402 paid_plan_required.
    (unseen: no call shows the plan) [apply_project_domains]"""
    """> Roles or permissions required by the remaining operations: not shown."""
    source_role: Role = "maintainer"
    """Least role for call 2. (needs: --allow source, --maintainer-token and --reader-token)"""
    domains_role: Role = "maintainer"
    """Least role for call 4. (needs: --allow domains, --maintainer-token and --reader-token)"""
    dns_role: Role = "reader"
    """Least role for call 5. (needs: --maintainer-token and --reader-token)"""
    deployments_role: Role = "reader"
    """Least role for call 6. (needs: --maintainer-token and --reader-token)"""
    operation_role: Role = "reader"
    """Least role to poll an operation. (needs: --allow source or --allow domains, --maintainer-token
    and --reader-token)"""
    """> Names of the permissions carried in key.permissions: not shown."""
    key_permissions: tuple[str, str, str, str, str, str, str] = PERMISSIONS
    """Names of a key's permissions, in the order read projects, write projects, write domains, read
    deployments, read databases, read DNS, write dev access. (unseen: no call shows what each name
    means) [UserApiKeyCreation]"""
    """> the full token"""
    key_prefix: Annotated[str, whole("^[a-z]{2,8}_$")] = "phk_"
    """Text an API key starts with; 43 characters follow. [UserApiKeyCreation]"""
    """> an access JWT [...]"""
    token_lifetime: str = "1h"
    """How long (world time) an access token is valid. (unseen: one token does not show how long
    others are valid)"""
    token_audience: Annotated[str, Meta(min_length=1)] = "hosting-control-api"
    """The `aud` claim of access tokens. [every]"""
    """> X-Request-Id (optional request header, string 1-128 characters [...])"""
    request_id_invalid: Literal["refused", "ignored"] = "refused"
    """X-Request-Id that is empty or over 128 characters. [every]"""
    request_id_on_success: Literal["absent", "echoed"] = "absent"
    """X-Request-Id on successful responses."""
    """> No additional properties [said of operation 1 alone]."""
    unknown_body_fields: Literal["ignored", "refused"] = "ignored"
    """Unknown body fields of calls 2 and 3. [initialize_managed_source create_user_api_key]"""
    """> No request body."""
    unexpected_body: Literal["ignored", "refused"] = "ignored"
    """A body on a call that has none. [apply_project_domains DnsAuthorization DeploymentPage
    DevAccessTicket DatabaseCompute]"""
    """> Query: [...]"""
    unknown_query_parameters: Literal["ignored", "refused"] = "ignored"
    """Query parameters a call does not list. [every]"""
    """> Which HTTP status each other code uses, and which code follows which other condition: not
    shown."""
    malformed_project_id: Literal["not_found", "invalid_request"] = "not_found"
    """A path id that is not a Ulid: 404 resource_not_found or 400 invalid_request. [every]"""
    condition_codes: dict[str, str] = {}
    """Other problem codes for conditions that have no code in the contract: session_missing,
    no_permission_enabled, generation_stale, domain_depends_on_flag, provider_failing,
    request_in_flight, wrong_media_type, body_too_long, rate_exceeded, creation_uncertain,
    credits_used_up, plan_too_small. (unseen: the check recognizes a condition by its code)"""
    wrong_method: Literal["method_not_allowed", "not_found"] = "method_not_allowed"
    """A method that a path does not support: 405 invalid_request with Allow, or 404
    resource_not_found. (unseen: the check sends only the contract's methods)"""
    """> Which HTTP status each other code uses, and which code follows which other condition: not
    shown."""
    problem_statuses: dict[str, int] = {}
    """Other HTTP statuses for problem codes whose status the contract leaves open."""
    """> Error statuses listed: 400, 401, 403, 404, 409, 503 (Problem Details)."""
    listed_statuses: Annotated[
        Literal["closed", "open"],
        OutsideTheLetter(
            ("open",), "Error statuses listed: 400, 401, 403, 404, 409, 503 (Problem Details)."
        ),
    ] = "closed"
    """Whether call 1, whose error statuses are listed, uses no others: a problem with another
    status then gets 400 there. (unseen: the check sends nothing large, and does not test limits)
    [PoweredByFlag]"""
    """> request-size limit (code payload_too_large exists) [...]: not shown."""
    body_limit_bytes: Annotated[int, Meta(ge=1, le=67_108_864)] = 1_048_576
    """Longest request body; more is 413 payload_too_large. (unseen: the check sends nothing large)
    [every]"""
    """> Numeric rate-limit values (code rate_limited exists) [...]: not shown."""
    rate_limit: str = "off"
    """`off`, or requests per world time for one user, like `100/60s`, in windows that each start
    with a request. Every call counts, refused or not; other paths and requests that are too long do
    not. (unseen: the check does not test limits) [every]"""
    """> date-time (ISO 8601 / RFC 3339)"""
    timestamp_form: Literal["milliseconds", "microseconds", "offset"] = "milliseconds"
    """Format of timestamps. [every]"""
    """> hostnames (derived by the server, not supplied)"""
    dev_zone: _Zone = "dev.localhost"
    """Zone of dev origins (other worlds put their name before it). [apply_project_domains
    DevAccessTicket get_operation]"""
    """> documentation link of the form {docs_url}/errors/<code [...]>"""
    docs_url: Annotated[str, whole(rf"^(own|https?://[/{_URI}]*[{_URI}])$")] = "own"
    """Where a problem's `type` points: `own` for the emulator's pages, or any URL."""

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
        if re.search(r"/\.\.?(/|$)", path := self.operation_path):
            raise ValueError("operation_path has a segment that clients leave out")
        if not path.startswith("/v1/operations/"):
            from hosting_emulator.contract.calls import CALLS

            for spec in CALLS.values():
                if _overlaps(path, spec.path):
                    raise ValueError(
                        f"operation_path overlaps {spec.path}, the path of another call"
                    )

    def _check_problems(self) -> None:
        for code in self.problem_statuses:
            if code not in PROBLEMS:
                raise ValueError(f"problem_statuses: no problem has the code {code!r}")
        for code, status in self.problem_statuses.items():
            try:
                PROBLEMS[code].check_status(status)
            except ValueError as error:
                raise ValueError(f"problem_statuses: {error}") from None

    def _check_distinct(self) -> None:
        words = "progress_phases reconciliation_states deployment_statuses database_states"
        for name in (*words.split(), "key_permissions", "data_modes"):
            given = getattr(self, name)
            if len(set(given)) != len(given) or not all(given):
                raise ValueError(f"{name} needs distinct, non-empty words")
            word = CONTRACT_WORDS.get(name)
            if word is not None and word not in given:
                raise ValueError(f"{name} must contain {word!r}, the word that the contract names")
        if self.cursor_parameter == self.limit_parameter:
            raise ValueError("cursor_parameter and limit_parameter need different names")

    def code_of(self, condition: str) -> str:
        """Return the problem code that answers a condition (of CONDITIONS)."""
        return self.condition_codes.get(condition, CONDITIONS[condition])

    def changed(self, values: Mapping[str, Any]) -> Assumptions:
        """Return these assumptions with some values replaced.

        Values may be text, as a command line gives them: numbers and booleans are read, lists are
        split at commas, `problem_statuses` is written `code=status,…`.
        Raises AssumptionRefused, naming the assumption, what was found and what would be right.
        """
        merged = msgspec.structs.asdict(self)
        found = convert(merged, Assumptions)  # an export of it names each list of words
        for name, value in values.items():
            if name not in merged and name in _texts():
                raise AssumptionRefused(f"{name} cannot be set: {_texts()[name].note}")
            if name not in merged:
                hint = (
                    nearest(name, merged) or "; `hosting-emulator contract assumptions` lists them"
                )
                raise AssumptionRefused(f"no assumption is named {name!r}{hint}")
            merged[name] = _read_value(value, merged[name])
            try:
                found = convert(merged, Assumptions)
            except msgspec.ValidationError as error:
                reason = re.sub(
                    "^it cannot be [^;]*; ", "", plain_reason(str(error), Assumptions, name)
                )
                raise AssumptionRefused(
                    f"assumption {name} cannot be {value!r}: {reason}"
                ) from None
        return found

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
    """Read a profile: (`timed`, queued, running ms), (`per_poll`, n, 0), (word, 0, 0). Or ValueError."""
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
    """Read how long an answer is remembered, in ms; None: for ever. Raises ValueError."""
    return None if text == "forever" else parse_duration_ms(text)


def parse_rate_limit(text: str) -> tuple[int, int] | None:
    """Read a rate limit as (requests, window in ms); None when it is `off`. Raises ValueError."""
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

    `outside_the_letter` are the alternatives that contradict the contract, and `contradicts` is the
    sentence that they contradict. `warning` is empty unless the value is such an alternative.
    Behind them come our choices that cannot be set: `fixed` says why.
    """
    rows: list[dict[str, Any]] = []
    for name, text in _texts().items():
        row = {"name": name, "value": "fixed", "default": "fixed", "alternatives": []}
        row |= {"outside_the_letter": [], "contradicts": "", "warning": ""}
        row |= {"about": text.about, "sentence": text.sentence, "fixed": text.note}
        if name in Assumptions.__struct_fields__:
            others = alternatives(name)
            row["value"] = _plain(getattr(assumptions, name))
            row["default"] = _plain(getattr(DEFAULTS, name))
            row["alternatives"] = others or "any"
            row["fixed"] = ""
            row["warning"] = _warning(name, getattr(assumptions, name))
            outside = outside_the_letter(name)
            if outside is not None:
                row["outside_the_letter"] = list(outside.alternatives)
                row["contradicts"] = outside.sentence
        rows.append(row)
    return rows


def is_outside_the_letter(name: str, value: Any) -> bool:
    """Return whether a value of an assumption contradicts a sentence of the contract."""
    return outside_the_letter(name) is not None and value != getattr(DEFAULTS, name)


def warnings_of(assumptions: Assumptions) -> list[str]:
    """Return a warning for each assumption whose value contradicts a sentence of the contract."""
    found = [_warning(name, value) for name, value in assumptions.changes().items()]
    return [warning for warning in found if warning]


def _warning(name: str, value: Any) -> str:
    outside = outside_the_letter(name)
    if outside is None or not is_outside_the_letter(name, value):
        return ""
    default = getattr(DEFAULTS, name)
    return (
        f"The assumption {name}={value} contradicts the contract, which says: "
        f'"{outside.sentence}" Only the default, {default}, is within the contract.'
    )


class _Text(NamedTuple):
    about: str
    sentence: str
    note: str
    needs: str
    calls: frozenset[str]


@lru_cache(maxsize=1)
def _texts() -> dict[str, _Text]:
    """Return what is said of the settings, below each field of the class above, and of what is fixed."""
    source = Path(__file__).read_text(encoding="utf-8")
    classes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    said, declared = [], ""
    for node in next(one for one in classes if one.name == "Assumptions").body:
        if isinstance(node, ast.AnnAssign):
            declared = ast.unparse(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said.append((declared, " ".join(str(node.value.value).split())))
    fixed = Path(__file__).with_name("assumptions.md").read_text(encoding="utf-8")
    said += re.findall(r"^(?:- (\w+): )?(.+)", fixed.replace("\n  ", " "), re.MULTILINE)
    found, sentence = {}, ""
    for name, text in said:
        if text.startswith("> "):
            sentence = text[2:]
        elif name:
            text, _, calls = text.removesuffix("]").partition(" [")
            about, *notes = re.split(r" \((?:unseen|why): ", text)
            about, *needs = about.split(" (needs: ")
            found[name] = _Text(
                about,
                sentence,
                notes[0].removesuffix(")") if notes else "",
                needs[0].removesuffix(")") if needs else "",
                frozenset(calls.split()),
            )
    return found


def shaped_by(name: str) -> frozenset[str]:
    """Return the words for the calls whose answers an assumption shapes (see `CallSpec`)."""
    return _texts()[name].calls


def why_unseen(name: str) -> str:
    """Return why the contract check never observes an assumption; empty if it can observe it."""
    if isinstance(getattr(DEFAULTS, name), tuple) and not _texts()[name].note:
        return "in which order words are used is not shown"
    return _texts()[name].note


def needed_to_observe(name: str) -> str:
    """Return the options that the contract check needs to observe an assumption, if it needs any."""
    return _texts()[name].needs


def alternatives(name: str) -> list[Any]:
    """Return the other values that an assumption may have; none: it may be anything of its kind."""
    default = getattr(DEFAULTS, name)
    choices = get_args(_types()[name])
    return [] if isinstance(default, tuple | dict) else [c for c in choices if c != default]


@lru_cache(maxsize=1)
def _types() -> dict[str, Any]:
    return get_type_hints(Assumptions)


@lru_cache(maxsize=1)
def _annotations() -> dict[str, tuple[Any, ...]]:
    hints = get_type_hints(Assumptions, include_extras=True)
    return {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}


def outside_the_letter(name: str) -> OutsideTheLetter | None:
    """Return which alternatives of an assumption contradict the contract, if any."""
    marks = (mark for mark in _annotations()[name] if isinstance(mark, OutsideTheLetter))
    return next(marks, None)


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
        booleans = {"true": True, "false": False}
        return {
            key.strip(): booleans.get(word.strip(), _read_value(word.strip(), 0))
            for key, _, word in pairs
        }
    number = isinstance(current, int) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value)
    return int(value) if number else value


def _overlaps(path: str, other: str) -> bool:
    """Return whether a request's path can match both of two path templates."""
    segments, others = path.split("/"), other.split("/")
    if len(segments) != len(others):
        return False
    return all(_segments_overlap(*pair) for pair in zip(segments, others, strict=True))


def _segments_overlap(segment: str, other: str) -> bool:
    if "{" not in segment:
        segment, other = other, segment
    if "{" not in segment:
        return segment == other
    start, end = segment.partition("{")[0], segment.rpartition("}")[2]
    if "{" not in other:
        has_room = len(other) > len(start) + len(end)
        return has_room and other.startswith(start) and other.endswith(end)
    other_start, other_end = other.partition("{")[0], other.rpartition("}")[2]
    starts_agree = start.startswith(other_start) or other_start.startswith(start)
    ends_agree = end.endswith(other_end) or other_end.endswith(end)
    return starts_agree and ends_agree


def _check_words(
    table: str, found: Mapping[str, str], keys: Collection[str], values: Collection[str]
) -> None:
    for key, value in found.items():
        for word, known in ((key, keys), (value, values)):
            if word not in known:
                hint = nearest(word, known) or f"; it is one of {', '.join(known)}"
                raise ValueError(f"{table}: there is no {word!r}{hint}")


#: Every assumption as it is unless told otherwise.
DEFAULTS = Assumptions()
