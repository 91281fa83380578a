"""Assumptions: our answer wherever the contract is silent, each a named setting.

This is the one place where such an answer has a default. A client must not depend on any of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
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
    if code not in ("resource_not_found", "idempotency_key_reused", "unauthenticated")
)
DNS_STATUSES = ("not_authorized", "pending", "authorized", "expired", "revoked")
PHASES = ("queued", "building", "deploying", "verifying", "done")
RECONCILIATION_STATES = ("required", "running", "completed", "exhausted")
DEPLOYMENT_STATUSES = ("queued", "building", "deploying", "ready", "failed", "cancelled")
#: Those of a deployment that has not ended.
_STAGES = DEPLOYMENT_STATUSES[:3]
DATABASE_STATES = ("init", "ready", "suspended", "resizing", "failed")

#: What each assumption is about, under the sentence of the contract that leaves it open; and what
#: else was chosen.
_TEXT = Path(__file__).with_name("assumptions.md")


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
    source_generation: Literal["checked", "ignored", "any_integer", "optional"] = "checked"
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
    deployment_transitions: dict[str, str] = {}
    database_transitions: dict[str, str] = {}
    dns_details: Literal["always", "authorized"] = "always"
    data_modes: tuple[Literal["shared"], str] = ("shared", "separate")
    database_states: tuple[str, str, str, str, str] = DATABASE_STATES
    flag_reenabled: Literal["kept", "renewed"] = "kept"
    zero_credits: Literal["operations_refused", "nothing_refused"] = "operations_refused"
    domains_plan: Literal["any", "paid"] = "any"
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
    unshared_project: Literal["not_found", "forbidden"] = "not_found"
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
        _check_problems("problem_statuses", self.problem_statuses)
        if self.call_permissions:
            # Imported here: the table of calls is made with the defaults below.
            from hosting_emulator.contract.calls import ALL_CALLS

            by_keys = [call_id for call_id, spec in ALL_CALLS.items() if spec.permission]
            _check_words("call_permissions", self.call_permissions, by_keys, PERMISSIONS)
        _check_words("condition_codes", self.condition_codes, CONDITIONS, _OPEN_CODES)
        _check_problems("problem_retryable", self.problem_retryable)
        _check_transitions("dns_transitions", self.dns_transitions, DNS_STATUSES)
        _check_transitions("deployment_transitions", self.deployment_transitions, _STAGES)
        _check_transitions("database_transitions", self.database_transitions, DATABASE_STATES)
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
        found = msgspec.convert(merged, Assumptions)  # an export of it names each list of words
        for name, value in values.items():
            if name not in merged:
                raise AssumptionRefused(_unknown(name, merged))
            merged[name] = _read_value(value, merged[name])
            try:
                found = msgspec.convert(merged, Assumptions)
            except msgspec.ValidationError as error:
                reason = re.sub(r" - at `\$(\.[a-z_]+)?.*`$", "", str(error))
                known = [str(word) for word in (getattr(DEFAULTS, name), *alternatives(name))]
                hint = f" (one of {', '.join(known)})" if len(known) > 1 else ""
                raise AssumptionRefused(
                    f"assumption {name} cannot be {merged[name]!r}: {reason}{hint}"
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

    `outside_the_letter` are alternatives that the contract forbids: they are there to be tried.
    Behind them come our choices that cannot be set: `fixed` says why.
    """
    rows: list[dict[str, Any]] = []
    for name in Assumptions.__struct_fields__:
        others, text = alternatives(name), _texts()[name]
        rows.append(
            {
                "name": name,
                "value": _plain(getattr(assumptions, name)),
                "default": _plain(getattr(DEFAULTS, name)),
                "alternatives": others or "any",
                "outside_the_letter": [
                    value for value in others if f"{value} is outside the contract" in text.about
                ],
                "about": text.about,
                "sentence": text.sentence,
                "fixed": "",
            }
        )
    for name, text in _texts().items():
        if name not in Assumptions.__struct_fields__:
            row = {"name": name, "value": "fixed", "default": "fixed", "alternatives": []}
            row |= {"outside_the_letter": [], "about": text.about, "sentence": text.sentence}
            rows.append(row | {"fixed": text.note})
    return rows


class _Text(NamedTuple):
    about: str
    sentence: str
    note: str


@lru_cache(maxsize=1)
def _texts() -> dict[str, _Text]:
    """Return what is said of the settings, and of what is fixed, each by name."""
    found, sentence = {}, ""
    for line in _TEXT.read_text(encoding="utf-8").replace("\n  ", " ").splitlines():
        if line.startswith("> "):
            sentence = line[2:]
        elif line.startswith("- "):
            name, _, about = line[2:].partition(": ")
            about, _, noted = about.partition(" (unseen: " if " (unseen: " in about else " (why: ")
            found[name] = _Text(about, sentence, noted.removesuffix(")"))
    return found


def why_unseen(name: str) -> str:
    """Return why the contract check may not find an assumption out; empty: nothing stands against."""
    if unseen := _texts()[name].note:
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
        words = {key.strip(): word.strip() for key, _, word in pairs}
        booleans = {"true": True, "false": False}
        return {key: booleans.get(word, _number(word)) for key, word in words.items()}
    return _number(value) if isinstance(current, int) else value


def _number(text: str) -> int | str:
    return int(text) if re.fullmatch(r"\s*[0-9]{1,9}\s*", text) else text


def _unknown(name: str, known: Collection[str]) -> str:
    if name in _texts():
        return f"{name} cannot be set: {_texts()[name].note}"
    hint = nearest(name, known) or "; `hosting-emulator contract assumptions` lists them"
    return f"no assumption is named {name!r}{hint}"


def _check_problems(table: str, found: Mapping[str, Any]) -> None:
    for code, value in found.items():
        if code not in PROBLEMS:
            raise ValueError(f"{table}: no problem has the code {code!r}")
        if table == "problem_retryable":
            if "retryable" in PROBLEMS[code].specified:
                raise ValueError(f"{table}: the contract fixes that of {code}")
            continue
        try:
            PROBLEMS[code].check_status(value)
        except ValueError as error:
            raise ValueError(f"{table}: {error}") from None


def _check_words(
    table: str, found: Mapping[str, str], keys: Collection[str], values: Collection[str]
) -> None:
    for key, value in found.items():
        for word, known in ((key, keys), (value, values)):
            if word not in known:
                hint = nearest(word, known) or f"; it is one of {', '.join(known)}"
                raise ValueError(f"{table}: there is no {word!r}{hint}")


def _check_transitions(table: str, found: Mapping[str, str], states: Collection[str]) -> None:
    for state, following in found.items():
        words = dict.fromkeys(following.split(), state)
        _check_words(table, {state: state, **words}, states, states)


def _check_distinct(found: Assumptions) -> None:
    words = "progress_phases deployment_statuses database_states key_permissions data_modes"
    for name in words.split():
        given = getattr(found, name)
        if len(set(given)) != len(given) or not all(given):
            raise ValueError(f"{name} needs distinct, non-empty words")
    if found.judgement_order == "access_first" and found.replay_access == "not_checked":
        raise ValueError("judgement_order access_first needs replay_access checked")
    if found.cursor_parameter == found.limit_parameter:
        raise ValueError("cursor_parameter and limit_parameter need different names")


#: Every assumption as it is unless told otherwise.
DEFAULTS = Assumptions()
