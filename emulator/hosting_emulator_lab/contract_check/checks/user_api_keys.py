"""Creates user API keys, requests the same key again, and uses a key."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check.checks.authentication import replay_as_others
from hosting_emulator_lab.contract_check.checks.idempotency_keys import (
    accepts_key,
    judge_other_case,
    send_short_key,
)
from hosting_emulator_lab.contract_check.checks.request_ids import accept_request_ids
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse, same_value
from hosting_emulator_lab.contract_check.run import PREFIX, CheckRun, UsedKey

#: The lifetime of a key, and how far the key's times may deviate from it, in milliseconds.
_VALID_MS = 90 * 86_400_000
_VALID_TOLERANCE_MS = 1_000
_DAY_MS = 86_400_000
#: The minimum length in characters of a part of the value that `obfuscated_value` must not show.
_SHOWN_LENGTH = 20
_REPLAY_KEYS = ("keys.replay", "keys.uncertainty")
_SESSION_KEYS = ("keys.session", "auth.session")
_NAME_KEYS = ("keys.body", "limit.key-name")
_KEYS = (
    "keys.call",
    "keys.response",
    "keys.days",
    "limit.key",
    "keys.value-once",
    *_REPLAY_KEYS,
    "key.replayed",
    "key.value",
    "key.request_id",
    "key.key",
    "key.metadata",
    "auth.key-bound",
)
#: The fields of a key that a replay must repeat.
_REPEATED_FIELDS = ("name", "organization_id", "obfuscated_value", "created_at", "expires_at")


@declare_check(allow=("keys",), judges=_KEYS)
def create_user_api_key(run: CheckRun) -> None:
    """Create a user API key, repeat the request, and create keys with other names and keys."""
    name = f"{PREFIX}{run.options.run_id}-".ljust(64, "x")
    key = run.new_key()
    body: dict[str, object] = {"name": name, "hosting_emulator_check": 1}

    def create(purpose: str, *, name: str = "", **request: Any) -> ServerResponse:
        content = {**body, "name": name} if name else body
        return run.call("create_user_api_key", purpose, body=content, **{"key": key, **request})

    first = create("a name of 64, an additional field")
    run.expect.ignored_or_refused("unknown_body_fields", first)
    if first.is_invalid_input:
        body = {"name": name}
        key = run.new_key()
        first = create("a name of 64")
    if first.code in ("interactive_login_required", "forbidden"):
        reason = f"{first}: --token must be from an interactive session"
        run.evidence.skips(_KEYS, reason)
        return
    if not run.expect.success(("keys.call", *_NAME_KEYS), first):
        return
    run.evidence.holds(_NAME_KEYS, first)
    run.behavior.record("key_created_status", first.status)
    if run.used_key is None:
        run.used_key = UsedKey(key, first.call_id)
    _judge_creation(run, first, name)
    _judge_replay(run, first, create("exact replay"))
    accept_request_ids(run, create)
    replay_as_others(run, create, partial(run.expect.refusal, "keys.session"))
    value = first.text("value")
    if value:
        replay = create("exact replay, with the user API key it created", token=value)
        run.expect.refusal(_SESSION_KEYS, replay)
    reused = create("the same key, another name", name=f"{name[:-1]}y")
    run.expect.refusal_with_code(
        "condition.reused", reused, "condition.reused", "idempotency_key_reused"
    )
    _create_keys_at_bounds(run, create)


def _create_keys_at_bounds(run: CheckRun, create: Callable[..., ServerResponse]) -> None:
    """Create keys with the shortest and longest names and Idempotency-Keys."""
    long_key = run.new_long_key()
    purpose = "an Idempotency-Key of 128"
    short_name = create(f"{purpose}, a name of 1", name=PREFIX[0], key=long_key)
    if short_name.code != "invalid_request":
        accepts_key(run, short_name)
        if short_name.ok:
            run.evidence.holds(_NAME_KEYS, short_name)
    elif accepts_key(run, create(purpose, key=long_key)):
        run.evidence.differs(_NAME_KEYS, short_name, "the name is within bounds")
    # Use a character of two bytes, because the length of a name counts characters.
    wide_name = f"{PREFIX}{run.options.run_id}-".ljust(64, "é")
    other = create(
        "the same key with its case swapped, a name of 64", name=wide_name, key=long_key.swapcase()
    )
    if other.code == "invalid_request":
        run.evidence.differs(_NAME_KEYS, other, "the name is within bounds")
    else:
        has_other_id = same_value(_key_id(short_name), _key_id(other)) is not True
        judge_other_case(run, other, is_new=has_other_id or other["replayed"] is False)
    send_short_key(run, create)


def _key_id(creation: ServerResponse) -> object:
    return creation.part("key").get("id")


def _judge_creation(run: CheckRun, first: ServerResponse, name: str) -> None:
    is_new = first["replayed"] is False
    run.evidence.judge("key.replayed", is_new, first, "replayed is not false")
    value = first.text("value")
    run.evidence.judge(
        ("key.value", "keys.value-once"),
        bool(value),
        first,
        "the first creation shows no value",
    )
    if value:
        run.api_key = value
        run.secrets[value] = "keys.value-once"
        prefix = re.match("[a-z]{2,8}_", value)
        if prefix:
            run.behavior.record("key_prefix", prefix.group())
    if isinstance(first["key"], dict):
        _judge_metadata(run, first, name)
        _judge_validity(run, first)


def _judge_metadata(run: CheckRun, first: ServerResponse, name: str) -> None:
    key = first.part("key")
    if same_value(key.get("name"), name) is False:
        run.evidence.differs("key.metadata", first, "the key has another name")
    is_bound = same_value(key.get("organization_id"), run.options.organization_id)
    if is_bound is None:
        run.evidence.skips("auth.key-bound", f"{first}: the key names no organization")
    run.evidence.judge(
        "auth.key-bound", is_bound, first, "the key is bound to another organization"
    )
    value = first.text("value")
    if value and _shows(str(key.get("obfuscated_value")), value):
        run.evidence.differs("key.metadata", first, "obfuscated_value shows the value")


def _shows(obfuscated: str, value: str) -> bool:
    """Return whether a text contains a long part of a key's value, or all of a short value."""
    last_start = max(0, len(value) - _SHOWN_LENGTH)
    return any(
        value[start : start + _SHOWN_LENGTH] in obfuscated for start in range(last_start + 1)
    )


def _judge_validity(run: CheckRun, first: ServerResponse) -> None:
    key = first.part("key")
    created_ms = moment(key.get("created_at"))
    expires_ms = moment(key.get("expires_at"))
    is_fresh = run.times.judge_new_record(first, created_ms, "key.metadata")
    if created_ms is None or expires_ms is None:
        return
    valid_ms = expires_ms - created_ms
    is_right = is_fresh and abs(valid_ms - _VALID_MS) <= _VALID_TOLERANCE_MS
    run.evidence.judge(
        ("keys.days", "limit.key"),
        is_right,
        first,
        f"the key is valid {valid_ms / _DAY_MS:.7g} days from {key['created_at']}",
    )


def _judge_replay(run: CheckRun, first: ServerResponse, replay: ServerResponse) -> None:
    if not run.expect.success(_REPLAY_KEYS, replay):
        return
    run.behavior.record("key_replayed_status", replay.status)
    is_marked = replay["replayed"] is True
    run.evidence.judge("key.replayed", is_marked, replay, "replayed is not true")
    run.evidence.judge(
        ("key.value", "keys.value-once", "keys.replay"),
        replay["value"] is None,
        replay,
        "an exact replay shows the value",
    )
    is_same = same_value(_key_id(first), _key_id(replay))
    if is_same is None:
        run.evidence.skips(_REPLAY_KEYS, f"{replay}: the key has no id to compare")
    run.evidence.judge(_REPLAY_KEYS, is_same, replay, "it is another key")
    if not is_same:
        return
    for name in _REPEATED_FIELDS:
        first_value = first.part("key").get(name)
        new_value = replay.part("key").get(name)
        if same_value(_comparable(first_value), _comparable(new_value)) is False:
            run.evidence.differs("keys.replay", replay, f"the key has another {name}")


def _comparable(value: object) -> object:
    """Return the moment of a timestamp, which can have several forms, or any other value unchanged."""
    return moment(value) or value


@declare_check()
def use_user_api_key(run: CheckRun) -> None:
    """Read with a user API key, and check that the key is refused where a session is required."""
    key = run.api_key
    if key is None:
        reason = "it needs --user-api-key, or --allow keys to create one"
        run.evidence.skips((*_SESSION_KEYS, "auth.key-bound"), reason)
        run.evidence.skips_part("auth.kinds", reason)
        return
    _read_with_key(run, key)
    creation = run.call(
        "create_user_api_key",
        "with a user API key",
        body={"name": f"{PREFIX}no-session"},
        token=key,
    )
    run.expect.refusal(_SESSION_KEYS, creation)


def _read_with_key(run: CheckRun, key: str) -> None:
    response = run.read("with a user API key", token=key)
    if run.unreadable:
        run.evidence.skips_part("auth.kinds", run.unreadable)
    elif response.ok:
        run.evidence.holds("auth.kinds", response)
    elif response.code == "forbidden":
        run.evidence.judge("auth.kinds", True, response, "", call="dns.call")
    elif response.code == "resource_not_found":
        reason = f"{response}: the key may not have the permission"
        run.evidence.skips_part("auth.kinds", reason)
    elif run.options.api_key:
        run.expect.success("auth.kinds", response)
    else:
        # The check created the key itself, so the key is valid if its whole value was returned.
        run.expect.success(("auth.kinds", "key.value"), response)
