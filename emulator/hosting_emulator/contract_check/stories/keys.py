"""A user API key is created, its creation replayed, and the key used. Needs --allow keys."""

from __future__ import annotations

import re

from hosting_emulator.contract_check.asking import PREFIX
from hosting_emulator.contract_check.moments import moment
from hosting_emulator.contract_check.scene import Scene, story
from hosting_emulator.contract_check.wire import Answer

_DAYS_MS = 90 * 86_400_000
_JUDGED = (
    "keys.call keys.response keys.days limit.key keys.value-once keys.replay keys.uncertainty "
    "key.replayed key.value key.request_id key.key key.metadata auth.key-bound"
)


@story("a user API key is created", allow=("keys",), judges=_JUDGED)
def create(scene: Scene) -> None:
    """Create one, and ask for the same again."""
    name = f"{PREFIX}{scene.options.run_id}-".ljust(64, "x")
    body: dict[str, object] = {"name": name, "hosting_emulator_check": 1}
    key = scene.ask.new_key()
    about = "a name of 64, a field more"
    first = scene.ask.call("create_user_api_key", key=key, body=body, about=about)
    if first.ok:
        scene.observed.see("unknown_body_fields", "ignored")
    elif first.status == 400:
        scene.observed.see("unknown_body_fields", "refused")
        body, key = {"name": name}, scene.ask.new_key()
        first = scene.ask.call("create_user_api_key", key=key, body=body, about="a name of 64")
    if first.code in ("interactive_login_required", "forbidden"):
        scene.ledger.skips(_JUDGED, f"{first.said}: --token must be of an interactive session")
        return
    if not scene.succeeded("keys.call keys.body limit.key-name", first):
        return
    scene.ledger.holds("keys.body limit.key-name", first.said)
    scene.ask.created.append(f"a user API key named {name}, valid 90 days")
    scene.observed.see("key_created_status", first.status)
    scene.used_key = scene.used_key or (key, "create_user_api_key")
    _creation(scene, first, name)
    again = scene.ask.call("create_user_api_key", key=key, body=body, about="exact replay")
    _replay(scene, first, again)
    changed = {**body, "name": name[:-1] + "y"}
    about = "the same key, another name"
    reused = scene.ask.call("create_user_api_key", key=key, body=changed, about=about)
    if scene.refused("condition.reused", reused):
        scene.refused("condition.reused", reused, "idempotency_key_reused")


def _creation(scene: Scene, first: Answer, name: str) -> None:
    ledger, said, found = scene.ledger, first.said, first.fields
    ledger.judge("key.replayed", found.get("replayed") is False, said, "replayed is not false")
    value = found.get("value")
    shown = isinstance(value, str) and value != ""
    ledger.judge("key.value keys.value-once", shown, said, "the first creation shows no value")
    if isinstance(value, str) and value:
        scene.api_key = value
        prefix = re.match("[a-z]{2,8}_", value)
        if prefix:
            scene.observed.see("key_prefix", prefix.group())
    key = found.get("key")
    if not isinstance(key, dict):
        return
    if key.get("name") not in (None, name):
        ledger.differs("key.metadata", f"{said}: the key's name is another")
    bound = key.get("organization_id")
    if bound is None:
        ledger.skips("auth.key-bound", f"{said}: the key names no organization")
    else:
        mine = bound == scene.options.organization_id
        ledger.judge("auth.key-bound", mine, said, "it is bound to another organization")
    if isinstance(value, str) and key.get("obfuscated_value") == value:
        ledger.differs("key.metadata", f"{said}: obfuscated_value is the whole value")
    made, ends = moment(key.get("created_at")), moment(key.get("expires_at"))
    if made is not None and ends is not None:
        days = (ends - made) / 86_400_000
        right = abs(ends - made - _DAYS_MS) <= 1_000
        ledger.judge("keys.days limit.key", right, said, f"it is valid {days:.4g} days")


def _replay(scene: Scene, first: Answer, again: Answer) -> None:
    keys = "keys.replay keys.uncertainty"
    if not scene.succeeded(keys, again):
        return
    ledger, said, found = scene.ledger, again.said, again.fields
    scene.observed.see("key_replayed_status", again.status)
    ledger.judge("key.replayed", found.get("replayed") is True, said, "replayed is not true")
    hidden = found.get("value") is None
    wrong = "an exact replay shows the value"
    ledger.judge("key.value keys.value-once keys.replay", hidden, said, wrong)
    if _id(first) is None or _id(again) is None:
        ledger.skips(keys, f"{said}: the key has no id to compare")
    else:
        ledger.judge(keys, _id(first) == _id(again), said, "it is another key")


def _id(answer: Answer) -> object:
    key = answer.fields.get("key")
    return key.get("id") if isinstance(key, dict) else None


@story("a user API key is used")
def use(scene: Scene) -> None:
    """Read with a key, and be refused where a session is needed."""
    key = scene.api_key or scene.options.api_key
    if key is None:
        why = "it needs --api-key, or --allow keys to create one"
        scene.ledger.skips("keys.session auth.session auth.kinds auth.key-bound", why)
        return
    read = scene.ask.call("get_dns_authorization", token=key, about="with a user API key")
    if scene.unreadable:
        scene.ledger.skips("auth.kinds", scene.unreadable)
    elif read.ok:
        scene.ledger.holds("auth.kinds", read.said)
    elif read.code == "forbidden":
        scene.ledger.refusal("auth.kinds", "dns.call", read.said)
    elif read.code == "resource_not_found":
        scene.ledger.skips("auth.kinds", f"{read.said}: it may lie outside what the key is for")
    else:
        scene.succeeded("auth.kinds", read)
    body = {"name": f"{PREFIX}no-session"}
    made = scene.ask.call(
        "create_user_api_key",
        key=scene.ask.new_key(),
        body=body,
        token=key,
        about="with a user API key",
    )
    scene.refused("keys.session auth.session", made)
