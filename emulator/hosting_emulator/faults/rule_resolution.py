"""Resolves the rule of a fault or an outcome: replaces names with ids and durations with timestamps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from msgspec.structs import replace

from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import call_named
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.faults.categories import METHODS, RECORD_TABLES, RuleCategory
from hosting_emulator.faults.possible_rules import check_possible
from hosting_emulator.world.fault_records import Rule
from hosting_emulator.world.naming import id_of, not_found_message
from hosting_emulator.world.value import World


def resolve_rule(rule: Rule, world: World, now_ms: int, category: RuleCategory) -> Rule:
    """Return a rule with its times and names resolved.

    Raises DocumentRefused if a time or a name is invalid, or if no request could match the rule.
    """
    rule = _resolve_times(rule, now_ms)
    rule = _resolve_names(rule, world, category)
    calls = calls_at(world.assumptions.operation_path)
    check_possible(rule, [spec for spec in calls if spec.call_id in category.calls])
    return rule


def _resolve_times(rule: Rule, now_ms: int) -> Rule:
    """Return a rule with all of its times converted to timestamps."""
    from_ms = _read_moment(rule.from_, "from", now_ms)
    ends_ms = _read_moment(rule.until, "until", now_ms)
    if ends_ms is not None:
        _check_end(rule, ends_ms, from_ms, now_ms)
    pauses = _resolve_pauses(rule, now_ms, from_ms, ends_ms)
    return replace(rule, from_=_timestamp(from_ms), until=_timestamp(ends_ms), pauses=pauses)


def _resolve_pauses(
    rule: Rule, now_ms: int, from_ms: int | None, ends_ms: int | None
) -> tuple[str, ...] | None:
    """Return a rule's pauses as timestamps. Raises DocumentRefused if they are invalid."""
    if not rule.pauses:
        return None
    moments = [_required_moment(text, "pauses", now_ms) for text in rule.pauses]
    reason = ""
    if len(moments) % 2:
        reason = "each pause needs a start and an end, such as 30s, 90s"
    elif any(later <= earlier for earlier, later in pairwise(moments)):
        reason = "each time must be later than the previous time"
    elif from_ms is not None and moments[0] <= from_ms:
        reason = f"the first pause must begin after from ({rule.from_})"
    elif ends_ms is not None and moments[-1] >= ends_ms:
        reason = f"the last pause must end before the fault ends ({format_timestamp(ends_ms)})"
    if reason:
        raise DocumentRefused(f"pauses: {reason}", "pauses")
    return tuple(format_timestamp(moment) for moment in moments)


def _check_end(rule: Rule, end_ms: int, from_ms: int | None, now_ms: int) -> None:
    """Raise DocumentRefused if a rule ends before it could act."""
    message = ""
    if end_ms <= now_ms:
        message = f"until ({rule.until}) is not after the world's time, {format_timestamp(now_ms)}"
    elif from_ms is not None and end_ms <= from_ms:
        message = f"until ({rule.until}) is not after from ({rule.from_})"
    if message:
        raise DocumentRefused(message, "until")


def _timestamp(at_ms: int | None) -> str | None:
    return None if at_ms is None else format_timestamp(at_ms)


def _read_moment(text: str | None, field: str, now_ms: int) -> int | None:
    """Return a world time in milliseconds, or None if `text` is None.

    Raises DocumentRefused if `text` is neither a timestamp nor a duration.
    """
    if text is None:
        return None
    at_ms = moment_ms(text, now_ms)
    if at_ms is None:
        form = "a timestamp (2026-01-31T09:30:00Z) nor a duration from now (10m)"
        raise DocumentRefused(f"{field} {text!r} is neither {form}", field)
    return at_ms


def _required_moment(text: str, field: str, now_ms: int) -> int:
    at_ms = _read_moment(text, field, now_ms)
    assert at_ms is not None
    return at_ms


def moment_ms(text: str, now_ms: int) -> int | None:
    """Return the world time, in milliseconds, that is given as a timestamp or as a duration from now.

    Return None if the text is neither a timestamp nor a duration.
    """
    with suppress(ValueError):
        return now_ms + parse_duration_ms(text)
    with suppress(ValueError):
        return parse_timestamp(text)
    return None


def _resolve_names(rule: Rule, world: World, category: RuleCategory) -> Rule:
    """Return a rule with record names replaced by ids. Raises DocumentRefused for an unknown name."""
    call = rule.call
    if call is not None:
        call = call_named(call)
        _check_word(call, "call", category.calls)
    ids: dict[str, str] = {}
    for field, table in RECORD_TABLES.items():
        name = getattr(rule, field)
        if name is not None:
            ids[field] = id_of(world, table, name)
            if world.get(table, ids[field]) is None:
                raise DocumentRefused(not_found_message(world, table, name), field)
    method = rule.method
    if method is not None:
        method = method.upper()
        _check_word(method, "method", METHODS)
    return replace(rule, call=call, method=method, **ids)


def _check_word(word: str, field: str, words: Sequence[str]) -> None:
    """Raise DocumentRefused if a word is not in `words`."""
    if word not in words:
        hint = nearest(word, words) or f"; use one of {', '.join(words)}"
        raise DocumentRefused(f"there is no {field} {word!r}{hint}", field)
