"""Checks that plain data has the shape of a scenario, and reports each mistake with its location.

The meaning of the parts is checked later by other modules. `build` checks the world and the
timeline, and `story_check` checks the story.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, get_args, get_origin

import msgspec

from hosting_emulator.contract.access import NOBODY
from hosting_emulator.contract.calls import ALL_CALLS, call_named
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.documents import (
    part_at,
    plain_reason,
    plain_types,
    type_name,
    words_of,
)
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.scenario.document import PlannedPart, ScenarioPart, SharedPart, StepPart
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.key_hints import key_hint, value_hint
from hosting_emulator.scenario.mistakes import Mistakes
from hosting_emulator.scenario.source import Location, Source
from hosting_emulator.scenario.step_keys import (
    ACTIONS,
    EXCLUSIVE_OPTIONS,
    HEADER_OPTIONS,
    JOINED_ACTIONS,
    OPTION_ACTIONS,
    TIMELINE_ACTIONS,
)
from hosting_emulator.scenario.variable_syntax import WHOLE_RESPONSE

_LONGEST_QUOTE = 60
#: How many times, at most, an entry is converted to find values of the wrong type.
_MOST_TYPE_ERRORS = 20
#: The paths of texts on which nothing else in a scenario depends. If such a text is invalid, it is
#: replaced with a placeholder, so that the rest of the scenario can be checked.
_TEXTS = (("name",), ("description",))
_PLACEHOLDER = "unnamed"
#: Returns the fields of a part. The result is cached, because the lookup is slow.
_fields = cache(msgspec.structs.fields)


def check_shape(top: Location) -> None:
    """Check the shape of a scenario. Raises one ScenarioError that lists all mistakes."""
    if not isinstance(top.value, dict):
        raise top.error("a scenario must be a mapping with name, description and other keys")
    mistakes = Mistakes(_field_errors(top, ScenarioPart))
    for field in _fields(ScenarioPart):
        if field.encode_name not in top.value:
            continue
        for location, kind in _parts_of(top / field.encode_name, field.type):
            type_errors, _ = _type_errors(location, kind)
            mistakes.extend(type_errors)
            if not type_errors:
                with mistakes.collect(location):
                    _check_keys(location, kind)
    mistakes.raise_error()


def without_shape_errors(top: Location) -> Source | None:
    """Return the source of a scenario that `check_shape` refused, without the invalid fields.

    If the scenario's name or description is invalid, it is replaced. Invalid fields are removed
    from the steps' expectations. Returns None if any error cannot be removed in this way, because
    later checks would then report false mistakes.
    """
    if not isinstance(top.value, dict) or any(_field_errors(top, ScenarioPart)):
        return None
    rest = top.copy()
    for field in _fields(ScenarioPart):
        if field.encode_name not in top.value:
            continue
        for location, kind in _parts_of(top / field.encode_name, field.type):
            _, left_out = _type_errors(location, kind)
            if location.path in _TEXTS and left_out:
                rest.value[field.encode_name] = _PLACEHOLDER
            elif not all(_is_in_expectation(error_location) for error_location in left_out):
                return None
            else:
                _leave_out(rest, left_out)
    try:
        check_shape(rest)
    except ScenarioError:
        return None
    return rest.source


def _is_in_expectation(location: Location) -> bool:
    return location.path[0] == "story" and "expect" in location.path[2:-1]


def _parts_of(section: Location, kind: Any) -> Iterator[tuple[Location, Any]]:
    """Yield a section or, if it is a list, each of its entries, together with the type."""
    is_list = isinstance(section.value, list) and get_origin(kind) is list
    if not is_list or not section.value:
        yield section, kind
        return
    (entry_kind,) = get_args(kind)
    for index in range(len(section.value)):
        yield section / index, entry_kind


# --- Types -------------------------------------------------------------------------------------


def _type_errors(location: Location, kind: Any) -> tuple[list[ScenarioError], list[Location]]:
    """Return an error for each value of the wrong type, and the fields that contain these values.

    After each error, the conversion is repeated without the field that caused it. If a required
    field is then missing, the search ends, because it may be a field that was left out.
    """
    errors: list[ScenarioError] = []
    left_out: list[Location] = []
    remaining = location
    for _ in range(_MOST_TYPE_ERRORS):
        try:
            convert(remaining.value, kind)
        except msgspec.ValidationError as error:
            message = str(error)
        else:
            break
        reason, _, path = message.partition(" - at `$")
        if errors and "missing required field" in reason:
            break  # the missing field may have been removed because of its own error
        new_errors, excluded = _errors_at(remaining, reason, path)
        errors += new_errors
        left_out += excluded
        if remaining is location:
            remaining = location.copy()
        if not _leave_out(remaining, excluded):
            break
    return errors, left_out


def _leave_out(entry: Location, excluded: Sequence[Location]) -> bool:
    """Remove fields from an entry.

    Returns False if `excluded` is empty or contains the entry itself.

    If a field is an item of a list, the whole list is removed, because the indexes of later items
    must not change.
    """
    for location in excluded:
        path = location.path
        while path and isinstance(path[-1], int):
            path = path[:-1]
        if len(path) <= len(entry.path):
            return False
        parent = Location(entry.source, path[:-1]).value
        parent.pop(path[-1], None)  # the list may have been removed because of an earlier error
    return bool(excluded)


def _errors_at(
    location: Location, reason: str, path: str
) -> tuple[list[ScenarioError], list[Location]]:
    """Return the errors that a message from msgspec reports, and the locations of the invalid
    fields.

    `reason` is the first part of the message. `path`, the rest of it, is a path relative to the
    location.
    """
    words: list[str] = []
    for name in re.findall(r"\.{3}|\w+", path):
        key = name
        if name == "...":  # msgspec writes `...` instead of the key of a mapping
            words = words_of(part_at(ScenarioPart, location.path), str(location.path[-1]))
            key = _first_misfit(location.value, words)
        location /= int(key) if key.isdecimal() else key
    part = part_at(ScenarioPart, location.path)
    if reason.startswith("Object "):
        unknown_fields = [location / name for name in _unknown_names(location, part)]
        return list(_field_errors(location, part)), unknown_fields
    return [_value_error(location, reason, part, words)], [location]


def _value_error(
    location: Location, reason: str, part: type[msgspec.Struct], words: Sequence[str]
) -> ScenarioError:
    """Return the error for a value that msgspec refused.

    `reason` is the first part of msgspec's message. If the value is in a mapping whose values must
    be certain words, `words` contains these words.
    """
    field = next(name for name in reversed(location.path) if isinstance(name, str))
    subject = field if field == location.path[-1] else f"an entry of {field}"
    value = location.value
    if "Invalid enum value" in reason:
        words = words or words_of(part, field)
        hint = nearest(str(value), words) or f"; it must be one of {', '.join(words)}"
        return location.error(f"{subject} cannot be {_display(value)}{hint}")
    wrong_type = re.search("Expected `([^`]*)`, got `", reason)
    if wrong_type is None:
        explanation = plain_reason(reason, part, field)
        return location.error(f"{subject} cannot be {_display(value)}: {explanation}")
    expected = type_name(part, field) or plain_types(wrong_type[1])
    hint = value_hint(location.path, value)
    if expected == "a string" and isinstance(value, int | float):
        hint = "; put it in quotes"
    return location.error(f"{subject} must be {expected}, not {_display(value)}{hint}")


def _unknown_names(location: Location, kind: type[msgspec.Struct]) -> list[str]:
    """Return the keys of a mapping that are not fields of the part."""
    names = {field.encode_name for field in _fields(kind)}
    return [name for name in location.value if name not in names]


def _first_misfit(mapping: dict[str, Any], words: Sequence[str]) -> str:
    """Return the first key whose value is not in `words`.

    If `words` is empty, returns the first key whose value is not a string.
    """
    for key, value in mapping.items():
        fits = value in words if words else isinstance(value, str)
        if not fits:
            return key
    raise LookupError("every value of the mapping is valid")


def _field_errors(location: Location, kind: type[msgspec.Struct]) -> Iterator[ScenarioError]:
    """Yield an error for each unknown field in a mapping.

    If all fields are known, yields an error for each missing field instead.
    """
    fields = {field.encode_name: field for field in _fields(kind)}
    unknown_names = _unknown_names(location, kind)
    for name in unknown_names:
        hint = key_hint(str(name), location.value[name], kind, fields)
        yield (location / name).error(f"unknown field {name!r}{hint}", key=True)
    if unknown_names:
        return  # otherwise a misspelled field would also be reported as missing
    for name, field in fields.items():
        if field.required and name not in location.value:
            yield location.error(f"the field {name!r} is missing")


def _display(value: Any) -> str:
    """Format an invalid value for a message.

    A mapping becomes `a mapping`, and a list becomes `a list`. Any other value is truncated to 60
    characters.
    """
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if len(str(value)) <= _LONGEST_QUOTE:
        return repr(value)
    return repr(str(value)[:_LONGEST_QUOTE]) + "…"


# --- Keys that depend on each other ------------------------------------------------------------


def _check_keys(location: Location, kind: Any) -> None:
    if kind is SharedPart:
        _check_steps(location / "steps", ACTIONS)
    elif kind is StepPart:
        _check_step(location, ACTIONS)
    elif kind is PlannedPart:
        _check_planned(location)


def _check_planned(location: Location) -> None:
    present = {name for name, value in location.value.items() if value is not None}
    if ("at" in present) == ("after_calls" in present):
        raise location.error("a timeline entry must have either at or after_calls")
    if len(present.intersection(TIMELINE_ACTIONS)) != 1:
        actions = ", ".join(TIMELINE_ACTIONS)
        raise location.error(f"a timeline entry must have exactly one of {actions}")


def _check_steps(location: Location, allowed_actions: Sequence[str]) -> None:
    for index in range(len(location.value)):
        _check_step(location / index, allowed_actions)


def _check_step(location: Location, allowed_actions: Sequence[str]) -> None:
    step = location.value
    is_joined = allowed_actions is JOINED_ACTIONS
    actions = [name for name in ACTIONS if step.get(name) is not None]
    is_note = not actions and step.get("note") and not is_joined
    if not is_note:
        _check_single_action(location, actions, allowed_actions)
    _check_option_actions(location, actions)
    _check_exclusive_options(location)
    _check_headers(location)
    _check_omitted_headers(location)
    _check_clears(location)
    _check_call_options(location)
    _check_retry_options(location, is_joined=is_joined)
    _check_giving_up(location)
    _check_token_options(location)
    _check_plain_values(location)
    if step.get("together") is not None:
        _check_steps(location / "together", JOINED_ACTIONS)
        _check_request_count(location / "together")


def _check_request_count(location: Location) -> None:
    """Raise ScenarioError if `together` contains only one request."""
    if sum(request.get("times", 1) for request in location.value) < 2:
        raise location.error("together needs at least two requests: add another request, or times")


def _check_single_action(
    location: Location, actions: Sequence[str], allowed_actions: Sequence[str]
) -> None:
    if len(actions) == 1 and actions[0] in allowed_actions:
        return
    subject = "a request inside together" if allowed_actions is JOINED_ACTIONS else "a step"
    allowed = ", ".join(allowed_actions)
    present = " and ".join(actions) or "none"
    raise location.error(f"{subject} must have exactly one of {allowed}, but has {present}")


def _check_option_actions(location: Location, actions: Sequence[str]) -> None:
    """Raise ScenarioError if the step has a key that its action does not accept."""
    for name in location.value:
        owners = OPTION_ACTIONS.get(name)
        if owners is None or set(actions) & set(owners):
            continue
        action = " ".join(actions) or "note"
        message = f"{name} is an option of {' or '.join(owners)}, not of {action}"
        if actions == ["together"] and set(owners) & set(JOINED_ACTIONS):
            message += f": write {name} in the requests inside together"
        raise (location / name).error(message, key=True)


def _check_exclusive_options(location: Location) -> None:
    for first, second in EXCLUSIVE_OPTIONS:
        if first in location.value and second in location.value:
            message = f"{first} and {second} are mutually exclusive: remove one of them"
            raise (location / second).error(message, key=True)


def _check_headers(location: Location) -> None:
    """Raise ScenarioError if `headers` contains a header that another key of the step also sends."""
    for name in location.value.get("headers") or {}:
        for option in HEADER_OPTIONS.get(str(name).lower(), ()):
            if option in location.value:
                message = f"the header {name} and {option} are mutually exclusive: remove one"
                raise (location / option).error(message, key=True)


def _check_omitted_headers(location: Location) -> None:
    """Raise ScenarioError if key, user or token is empty, because that would not make the step omit
    the header.
    """
    step = location.value
    if step.get("key", "step-1") in (None, ""):
        message = (
            "key cannot be empty: omit key to send a generated Idempotency-Key, write "
            "headers: {Idempotency-Key: null} to send no key, or "
            'headers: {Idempotency-Key: ""} to send an empty key'
        )
        raise (location / "key").error(message)
    for option in ("user", "token"):
        if step.get(option, NOBODY) in (None, ""):
            message = f"{option} cannot be empty: write user: {NOBODY} to send no credentials"
            raise (location / option).error(message)


def _check_clears(location: Location) -> None:
    for name in ("clear_faults", "clear_outcomes"):
        if location.value.get(name) is False:
            message = f"{name} must be true: to clear nothing, remove the step"
            raise (location / name).error(message)


def _check_call_options(location: Location) -> None:
    """Raise ScenarioError if a step names a project for a call that acts on an organization."""
    step = location.value
    if "project" in step and _is_about_organization(step):
        message = f"{step['call']} is a call on an organization: remove the project"
        raise (location / "project").error(message, key=True)


def _is_about_organization(step: dict[str, Any]) -> bool:
    spec = ALL_CALLS.get(call_named(str(step.get("call"))))
    return spec is not None and spec.subject == "organization"


def _check_retry_options(location: Location, *, is_joined: bool) -> None:
    step = location.value
    if "pause" in step and step.get("tries", 1) == 1:
        raise (location / "pause").error("pause requires tries greater than 1", key=True)
    if not is_joined:
        return
    for name in ("tries", "pause"):
        if name in step:
            message = f"concurrent requests are sent only once: remove {name}"
            raise (location / name).error(message, key=True)


def _check_giving_up(location: Location) -> None:
    """Raise ScenarioError if the client gives up but the step has a key that needs the response."""
    step = location.value
    if not step.get("gives_up"):
        return
    for name in ("expect", "save", "tries"):
        if name in step:
            message = f"a client that gives up receives no response: remove {name}"
            raise (location / name).error(message, key=True)
    for name, path in (step.get("collect") or {}).items():
        if str(path).partition(".")[0] != WHOLE_RESPONSE:
            message = "a client that gives up receives no response: collect only `response`"
            raise (location / "collect" / name).error(message)


def _check_token_options(location: Location) -> None:
    """Raise ScenarioError if a step has an option for a new token but creates no token."""
    step = location.value
    if step.get("user") != NOBODY and "token" not in step:
        return
    options = ["interactive"]
    if not _is_about_organization(step):
        options.append("organization")
    for name in options:
        if name in step:
            message = f"{name} is an option of a new access token, but this step creates no token"
            raise (location / name).error(message, key=True)


def _check_plain_values(location: Location) -> None:
    """Raise ScenarioError if a value in a query or form is null, a list or a mapping."""
    for section in ("query", "form"):
        for name, value in (location.value.get(section) or {}).items():
            if value is None or isinstance(value, list | dict):
                message = (
                    f"{section} values must be strings, numbers or booleans, not {_display(value)}"
                )
                raise (location / section / name).error(message)
