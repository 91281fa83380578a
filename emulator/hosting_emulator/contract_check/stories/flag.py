"""The flag is shown, hidden and put back as it was. Needs --allow flag.

The contract has no call that reads the flag. How it was is seen from the first answer: a flag that
was on already was switched on before we came.
"""

from __future__ import annotations

import secrets
import string

from hosting_emulator.contract_check.asking import EXCUSES
from hosting_emulator.contract_check.moments import is_timestamp, moment
from hosting_emulator.contract_check.scene import Scene, story
from hosting_emulator.contract_check.wire import Answer

_OTHER_REFUSALS = ("unauthenticated", "forbidden", "organization_required", "invalid_request")
_ONCE = "flag.retry flag.replay"
#: Long enough for a clock to show another time.
_LATER_S = 1.1


def _put(scene: Scene, enabled: bool, key: str, about: str = "") -> Answer:
    """Put the flag, and remember the key of a success for the story of key scopes."""
    word = "show" if enabled else "hide"
    answer = scene.ask.call(
        "set_project_powered_by_flag",
        key=key,
        body={"enabled": enabled},
        about=f"{word}{about and ', '}{about}",
    )
    return answer


@story(
    "the flag is shown, hidden and put back",
    allow=("flag",),
    judges="flag.call flag.project_id flag.enabled flag.enabled_at flag.closed flag.200 flag.on "
    "flag.off flag.off-refused flag.hiding-refused flag.retry flag.replay flag.reused "
    "condition.reused",
)
def switch(scene: Scene) -> None:
    """Show it, retry, reuse the key, hide it, show it again."""
    before = scene.now()
    key = scene.ask.new_key()
    first = _put(scene, True, key)
    if not first.status:
        scene.observed.note("whether the flag was switched on is not known: no answer came")
    if not scene.succeeded("flag.call flag.on", first):
        return
    scene.ask.created.append("the flag of the project was switched, and put back as it was")
    scene.used_key = (key, "set_project_powered_by_flag")
    just_now: bool | None = None
    try:
        switched = moment(first.fields.get("enabled_at"))
        if switched is not None:
            just_now = scene.happened_between(switched, before, scene.now(), 0)
        _first_result(scene, first, key)
        _changed_request(scene, key)
        _hide_and_show(scene, first, key)
    finally:
        _put_back(scene, just_now)


def _put_back(scene: Scene, just_now: bool | None) -> None:
    """Leave the flag as it was before it was switched on just now, or was on already."""
    if just_now is None:
        scene.observed.note("how the flag was before cannot be seen: it is left shown")
    put_back = False
    try:
        put_back = _put(scene, just_now is not True, scene.ask.new_key(), "as it was").ok
    finally:
        if not put_back:
            how = "hidden" if just_now else "shown"
            scene.observed.note(f"the flag could not be put back: it was {how} before")


def _first_result(scene: Scene, first: Answer, key: str) -> None:
    enabled = first.fields.get("enabled")
    scene.ledger.judge("flag.enabled flag.on", enabled is True, first.said, "it is not shown")
    project = first.fields.get("project_id")
    wrong = "it is another project's"
    same = project in (None, scene.options.project_id)
    scene.ledger.judge("flag.project_id", same, first.said, wrong)
    again = _put(scene, True, key, "the same key and body")
    _same(scene, first, again)


def _same(scene: Scene, first: Answer, again: Answer) -> None:
    if scene.succeeded(_ONCE, again):
        same = again.document == first.document
        scene.ledger.judge(_ONCE, same, again.said, "it is not the first result")


def _changed_request(scene: Scene, key: str) -> None:
    changed = _put(scene, False, key, "the same key, another body")
    if changed.ok:
        scene.ledger.differs(
            "flag.reused condition.reused", f"{changed.said}: the key was used for another request"
        )
    else:
        scene.refused("flag.reused condition.reused", changed, "idempotency_key_reused")


def _hide_and_show(scene: Scene, first: Answer, first_key: str) -> None:
    hidden = _put(scene, False, scene.ask.new_key())
    if hidden.ok:
        _hidden(scene, hidden)
        _same(scene, first, _put(scene, True, first_key, "the first key and body"))
    elif hidden.refused and hidden.code not in (*_OTHER_REFUSALS, *EXCUSES):
        said = hidden.said
        scene.ledger.holds("flag.off-refused flag.hiding-refused", said)
        scene.ledger.skips("flag.off", f"{said}: a Free workspace's domain may depend on it")
    elif hidden.code == "forbidden":
        why = f"{hidden.said}: whether a Free workspace's domain is the reason is not shown"
        scene.ledger.skips("flag.off flag.off-refused flag.hiding-refused", why)
    elif not scene.succeeded("flag.off", hidden):
        scene.ledger.skips("flag.off-refused flag.hiding-refused", hidden.said)
    scene.ask.wait(_LATER_S)
    before = scene.now()
    long_key = (scene.ask.new_key() + "-").ljust(128, "x")
    shown = _put(scene, True, long_key, "an Idempotency-Key of 128")
    after = scene.now()
    _accepts_key(scene, shown)
    if not scene.succeeded("flag.on", shown):
        return
    if hidden.ok:
        _switch_on_time(scene, shown, before, after)
    else:
        _unchanged(scene, first, shown)
    _shown_again(scene, shown)
    # An earlier check may have used it, so nothing may depend on its answer.
    short_key = secrets.choice(string.ascii_letters + string.digits)
    _accepts_key(scene, _put(scene, True, short_key, "an Idempotency-Key of 1"))


def _accepts_key(scene: Scene, answer: Answer) -> None:
    keys = "idempotency-key limit.idempotency-key"
    if answer.code == "invalid_request":
        scene.ledger.differs(keys, f"{answer.said}: the key is within bounds")
    elif answer.ok or answer.code == "idempotency_key_reused":
        scene.ledger.holds(keys, answer.said)
    else:
        scene.ledger.skips(keys, answer.said)


def _hidden(scene: Scene, hidden: Answer) -> None:
    off, at = hidden.fields.get("enabled"), hidden.fields.get("enabled_at")
    scene.ledger.judge("flag.off flag.enabled", off is False, hidden.said, "it is not hidden")
    scene.ledger.judge("flag.off", at is None, hidden.said, "enabled_at is not null")
    why = "no Free workspace's domain depends on this project's flag"
    scene.ledger.skips("flag.off-refused flag.hiding-refused", why)


def _switch_on_time(
    scene: Scene,
    shown: Answer,
    before: tuple[int | None, int | None],
    after: tuple[int | None, int | None],
) -> None:
    told = shown.fields.get("enabled_at")
    at = moment(told)
    if at is None:
        if not is_timestamp(told):
            wrong = f"{shown.said}: enabled_at is no timestamp"
            scene.ledger.differs("flag.on flag.enabled_at", wrong)
        return
    right = scene.happened_between(at, before, after)
    if right is not None:
        wrong = "enabled_at is not the time of switching on"
        scene.ledger.judge("flag.on flag.enabled_at", right, shown.said, wrong)


def _unchanged(scene: Scene, first: Answer, shown: Answer) -> None:
    """After a refusal the flag is on as it was, unless showing it again renews the time."""
    if shown.fields.get("enabled_at") == first.fields.get("enabled_at"):
        scene.ledger.holds("flag.off-refused", shown.said)


def _shown_again(scene: Scene, shown: Answer) -> None:
    if not scene.ask.wait(_LATER_S):
        return
    again = _put(scene, True, scene.ask.new_key(), "although it is shown")
    if again.ok:
        kept = again.fields.get("enabled_at") == shown.fields.get("enabled_at")
        scene.observed.see("flag_reenabled", "kept" if kept else "renewed")
