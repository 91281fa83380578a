"""Switches the flag, and restores its original state.

The contract has no call that reads the flag. The first response shows its earlier state: a flag that
was already on was switched on before the check began.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from hosting_emulator.contract.value_checks import is_timestamp, moment
from hosting_emulator_lab.contract_check.checks.authentication import replay_as_others
from hosting_emulator_lab.contract_check.checks.idempotency_keys import (
    accepts_key,
    judge_other_case,
    send_short_key,
)
from hosting_emulator_lab.contract_check.checks.request_ids import accept_request_ids
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.refusal_codes import BUSY_CODES
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import CheckRun, UsedKey
from hosting_emulator_lab.contract_check.service_times import ServiceTime, happened_between

_RETRY_KEYS = ("flag.retry", "flag.replay")
_HIDING_REFUSED_KEYS = ("flag.off-refused", "flag.hiding-refused")
_REUSED_KEYS = ("flag.reused", "condition.reused")
_KEYS = (
    "flag.call",
    "flag.project_id",
    "flag.enabled",
    "flag.enabled_at",
    "flag.closed",
    "flag.200",
    "flag.on",
    "flag.off",
    *_HIDING_REFUSED_KEYS,
    *_RETRY_KEYS,
    *_REUSED_KEYS,
)
#: Codes of refusals that do not depend on a domain.
_OTHER_REFUSALS = BUSY_CODES | {
    "unauthenticated",
    "forbidden",
    "organization_required",
    "invalid_request",
}
#: A wait in seconds after which every clock shows a different second.
_NEXT_SECOND_S = 1.1


def _put(run: CheckRun, enabled: bool, purpose: str = "", **request: Any) -> ServerResponse:
    action = "show" if enabled else "hide"
    if purpose:
        action = f"{action}, {purpose}"
    body = {"enabled": enabled}
    return run.call("set_project_powered_by_flag", action, body=body, **request)


@declare_check(allow=("flag",), judges=_KEYS)
def switch_flag(run: CheckRun) -> None:
    """Show the flag, retry, reuse the key, hide the flag, show it again, and restore its original state."""
    before = run.now()
    key = run.new_key()
    first = _put(run, True, key=key)
    if not first.status:
        run.behavior.note("whether the flag was switched on is unknown: no response arrived")
    if not run.expect.success(("flag.call", "flag.on"), first):
        return
    run.used_key = UsedKey(key, first.call_id)
    was_off: bool | None = None
    try:
        switched_ms = moment(first["enabled_at"])
        if switched_ms is not None:
            was_off = happened_between(switched_ms, before, run.now(), 0)
        is_shown = first["enabled"] is True
        run.evidence.judge(("flag.enabled", "flag.on"), is_shown, first, "the flag is not shown")
        _repeat_first_request(run, first, key)
        _reuse_key(run, key)
        _hide_and_show(run, first, key)
        other = _put(run, False, "the first key with its case swapped", key=key.swapcase())
        judge_other_case(run, other, is_new=other.document != first.document)
    finally:
        _put_back(run, was_off)


def _repeat_first_request(run: CheckRun, first: ServerResponse, key: str) -> None:
    """Retry the first request: unchanged, with different request ids, and as different users."""
    _judge_retry(run, first, _put(run, True, "the same key and body", key=key))
    accept_request_ids(run, partial(_put, run, True, key=key))
    replay_as_others(run, partial(_put, run, True, key=key), run.expect.not_found)
    reader_token = run.options.reader_token
    if reader_token is not None:
        as_reader = _put(
            run, True, "as a reader, with the owner's key", key=key, token=reader_token
        )
        run.expect.refusal(("flag.owner-only", "auth.roles"), as_reader)


def _judge_retry(run: CheckRun, first: ServerResponse, retried: ServerResponse) -> None:
    if run.expect.success(_RETRY_KEYS, retried):
        is_same = retried.document == first.document
        run.evidence.judge(_RETRY_KEYS, is_same, retried, "it is not the first result")


def _reuse_key(run: CheckRun, key: str) -> None:
    changed = _put(run, False, "the same key, another body", key=key)
    if changed.ok:
        run.evidence.differs(_REUSED_KEYS, changed, "the key was used for another request")
    else:
        run.expect.refusal(_REUSED_KEYS, changed, "idempotency_key_reused")


def _put_back(run: CheckRun, was_off: bool | None) -> None:
    """Hide the flag again if it was hidden, and record a state that could not be restored."""
    if was_off is None:
        run.behavior.note("the flag's earlier state is unknown: it stays shown")
    is_restored = False
    try:
        restored = _put(run, was_off is not True, "as it was")
        is_restored = restored.ok
        if is_restored:
            run.created.mark_undone(restored.call_id)
    finally:
        if not is_restored:
            state = "hidden" if was_off else "shown"
            run.behavior.note(f"the flag could not be switched back: it was {state} before")


def _hide_and_show(run: CheckRun, first: ServerResponse, first_key: str) -> None:
    """Hide the flag, retry the first request, and show the flag again.

    The retry must not switch the flag on, although its response is the result of switching it on.
    """
    hide_response = _put(run, False)
    _judge_hidden(run, hide_response)
    before_retry = run.now()
    if hide_response.ok:
        _judge_retry(run, first, _put(run, True, "the first key and body", key=first_key))
    after_retry = run.now()
    run.wait(_NEXT_SECOND_S)
    before = run.now()
    show_response = _put(run, True, "an Idempotency-Key of 128", key=run.new_long_key())
    after = run.now()
    if not accepts_key(run, show_response) or not run.expect.success("flag.on", show_response):
        return
    shown_ms = moment(show_response["enabled_at"])
    if hide_response.ok and _was_then(shown_ms, before_retry, after_retry, before):
        run.evidence.differs(
            _RETRY_KEYS, show_response, "the retry before this request had switched the flag on"
        )
    elif hide_response.ok:
        _judge_switch_time(run, show_response, before, after)
    elif show_response["enabled_at"] == first["enabled_at"]:
        # Hiding was refused, and the flag is still on as it was. A different time would prove
        # nothing, because showing a flag that is already shown may renew the time.
        run.evidence.holds("flag.off-refused", show_response)
    if run.wait(_NEXT_SECOND_S):
        _show_although_shown(run, first, hide_response, show_response)
    send_short_key(run, partial(_put, run, True))


def _judge_switch_time(
    run: CheckRun, show_response: ServerResponse, before: ServiceTime, after: ServiceTime
) -> None:
    keys = ("flag.on", "flag.enabled_at")
    shown_ms = moment(show_response["enabled_at"])
    if shown_ms is None and not is_timestamp(show_response["enabled_at"]):
        run.evidence.differs(keys, show_response, "enabled_at is not a timestamp")
    is_right = happened_between(shown_ms, before, after)
    run.evidence.judge(keys, is_right, show_response, "enabled_at is not the time of the switch")


def _show_although_shown(
    run: CheckRun,
    first: ServerResponse,
    hide_response: ServerResponse,
    show_response: ServerResponse,
) -> None:
    """Show the flag once more, and record whether that renews the time."""
    response = _put(run, True, "although it is shown")
    if not response.ok:
        return
    is_renewed = response["enabled_at"] != show_response["enabled_at"]
    run.behavior.record("flag_reenabled", "renewed" if is_renewed else "kept")
    has_changed = show_response["enabled_at"] != first["enabled_at"]
    if not is_renewed and has_changed and _may_depend_on_domain(hide_response):
        run.evidence.differs(
            "flag.off-refused",
            show_response,
            "the flag had been hidden although the request was refused",
        )


def _was_then(at_ms: int | None, begin: ServiceTime, end: ServiceTime, now: ServiceTime) -> bool:
    """Return whether a moment lies in a span that ended more than a second before `now`."""
    if at_ms is None:
        return False
    if begin.observed_ms is None or end.observed_ms is None or now.observed_ms is None:
        return False
    return begin.observed_ms <= at_ms <= end.observed_ms <= now.observed_ms - 1000


def _may_depend_on_domain(hide_response: ServerResponse) -> bool:
    """Return whether hiding may have been refused because a Free workspace's domain depends on it."""
    return hide_response.refused and hide_response.code not in _OTHER_REFUSALS


def _judge_hidden(run: CheckRun, hide_response: ServerResponse) -> None:
    if hide_response.ok:
        _judge_hidden_flag(run, hide_response)
    elif _may_depend_on_domain(hide_response):
        _judge_refused_hiding(run, hide_response)
    elif hide_response.code == "forbidden":
        run.evidence.skips(
            ("flag.off", *_HIDING_REFUSED_KEYS),
            f"{hide_response}: the response does not say whether a Free workspace's domain is the reason",
        )
    elif not run.expect.success("flag.off", hide_response):
        run.evidence.skips(_HIDING_REFUSED_KEYS, hide_response)


def _judge_hidden_flag(run: CheckRun, hide_response: ServerResponse) -> None:
    is_hidden = hide_response["enabled"] is False
    run.evidence.judge(
        ("flag.off", "flag.enabled"), is_hidden, hide_response, "the flag is not hidden"
    )
    has_no_time = hide_response["enabled_at"] is None
    run.evidence.judge("flag.off", has_no_time, hide_response, "enabled_at is not null")
    run.evidence.skips(
        _HIDING_REFUSED_KEYS, "no Free workspace's domain depends on this project's flag"
    )


def _judge_refused_hiding(run: CheckRun, hide_response: ServerResponse) -> None:
    if hide_response.code == "powered_by_flag_required":
        run.evidence.holds(_HIDING_REFUSED_KEYS, hide_response)
    else:
        run.evidence.cannot_decide(
            _HIDING_REFUSED_KEYS,
            f"{hide_response}: this code does not say that a Free workspace's domain is the reason",
        )
    run.evidence.skips("flag.off", f"{hide_response}: a Free workspace's domain may depend on it")
