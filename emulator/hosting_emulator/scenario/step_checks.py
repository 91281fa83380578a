"""Checks a step before its story runs.

The checks cover the step's variables, the values of its keys, its aliases and its expectation. To
add a check for another key, write a function and add it to `_KEY_CHECKS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import UNSET

from hosting_emulator.contract.access import NOBODY
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.criteria.checks import check, has_variable
from hosting_emulator.criteria.patterns import PatternError
from hosting_emulator.criteria.value_types import Impossible, ValueType
from hosting_emulator.faults.arming import read_fault
from hosting_emulator.faults.categories import FAULT, OUTCOME
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.scenario.default_names import default_alias
from hosting_emulator.scenario.document import ExpectPart, StepPart
from hosting_emulator.scenario.log_checks import check_count
from hosting_emulator.scenario.log_filters import log_filters
from hosting_emulator.scenario.source import KeyPath, Location
from hosting_emulator.scenario.step_keys import is_request
from hosting_emulator.scenario.story_scope import StoryScope
from hosting_emulator.scenario.variable_syntax import (
    DEFAULT_ALIASES,
    MOMENT,
    NOW,
    saved_response_name,
    variables_in,
)
from hosting_emulator.world.value import Change

_LONGEST_QUOTE = 80
_FAULT_ID = re.compile("fault-[1-9][0-9]*")
_OUTCOME_ID = re.compile("outcome-[1-9][0-9]*")
_API_KEY_FIELDS = ("name", "permissions")


# --- Variables ---------------------------------------------------------------------------------


def check_variables(scope: StoryScope, location: Location) -> None:
    """Raise ScenarioError if a step uses a variable that will have no value when the step runs."""
    for path, name in variables_in(location.value):
        if path[-2:] == ("expect", "same_as"):
            continue  # `check_expectation` looks up the saved response
        if _is_note(path):
            continue  # a note is shown as it is written
        _check_variable(scope, location.below(path), name)


def _is_note(path: KeyPath) -> bool:
    """Return whether a path in a step leads to the note of the step or of a step inside `together`."""
    if path[:1] == ("together",):
        path = path[2:]
    return path == ("note",)


def _check_variable(scope: StoryScope, location: Location, name: str) -> None:
    base_name = name
    moment = MOMENT.fullmatch(name)
    if moment is not None and name not in scope.saved_values:
        with location.refusals():
            parse_duration_ms(moment[3])
        base_name = moment[1]
    if base_name in scope.saved_values or base_name == NOW:
        return
    kind, _, alias = name.partition(".")
    if kind in DEFAULT_ALIASES and alias:
        location.check_word(kind, alias, scope.aliases(kind))
        return
    if base_name in scope.saved_responses:
        message = (
            f"{base_name} is a whole response, which can only be compared, as in "
            f"expect: {{same_as: {base_name}}}"
        )
        raise location.error(message)
    hint = nearest(base_name, scope.saved_values)
    if not hint:
        hint = f"; saved so far: {', '.join(scope.saved_values) or 'nothing'}"
    raise location.error(f"there is no variable ${{{base_name}}}{hint}")


# --- The value of each key ---------------------------------------------------------------------


def check_keys(scope: StoryScope, location: Location, step: StepPart) -> None:
    """Check the values of all keys in a step. Raises ScenarioError for the first mistake."""
    for name, check_key in _KEY_CHECKS.items():
        value = getattr(step, name)
        if value is not None:
            check_key(scope, location / name, value)
    if step.api_key is not None and step.body is not UNSET:
        _check_api_key_body(location / "body", step.body)


def _check_call(scope: StoryScope, location: Location, call: str) -> None:
    location.check_word("call", call, CALLS)


def _check_request(scope: StoryScope, location: Location, request: str) -> None:
    if not is_request(request):
        raise location.error("a request needs a method and a path, such as GET /v1/projects")


def _check_rule(scope: StoryScope, location: Location, document: dict[str, Any]) -> None:
    check_manual_change(location, document, scope.change)


def _check_intervention(scope: StoryScope, location: Location, document: dict[str, Any]) -> None:
    check_manual_change(location, document, scope.change)
    scope.apply_addition(location, document)


def check_manual_change(location: Location, document: dict[str, Any], change: Change) -> None:
    """Raise ScenarioError if a fault, an outcome or an intervention is invalid in a world.

    The location's last key is `fault`, `outcome` or `intervene`. A fault or an outcome with
    variables is accepted here, because it will be checked when it is armed.
    """
    action = location.path[-1]
    if action == "intervene":
        with location.below([*document][:1]).refusals():
            read_intervention(document).check_names(change)
        return
    if any(variables_in(document)):
        return
    category = OUTCOME if action == "outcome" else FAULT
    with location.refusals():
        read_fault(change.fork(), document, category)


def _check_duration(scope: StoryScope, location: Location, text: str) -> None:
    if not has_variable(text):
        with location.refusals():
            parse_duration_ms(text)


def _check_timestamp(scope: StoryScope, location: Location, text: str) -> None:
    _check_not_a_name(scope, location, text)
    if not has_variable(text):
        with location.refusals():
            parse_timestamp(text)


def _check_pause(scope: StoryScope, location: Location, text: str) -> None:
    """Check a `pause`, which must be a duration without variables."""
    with location.refusals():
        parse_duration_ms(text)


def _check_assumptions(scope: StoryScope, location: Location, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if any(variables_in(value)):
            continue
        with (location / name).refusals():
            Assumptions().changed({name: value})


def _check_saved_values(scope: StoryScope, location: Location, values: dict[str, Any]) -> None:
    for name in values:
        (location / name).check_word("saved value", name, scope.saved_values)
    for name, value in values.items():
        _check_value(location / name, scope.type_of(name), value)


def _check_log(scope: StoryScope, location: Location, log: Any) -> None:
    filters = log_filters(scope.ids_by_alias("user"), scope.ids_by_alias("project"))
    for name, value in location.value.items():
        _check_value(location / name, filters[name], value)
    scope.log_paths.check(location, location.value)
    if "count" in location.value:
        check_count(location / "count", location.value["count"])


def _check_value(location: Location, kind: ValueType, value: Any) -> None:
    """Raise ScenarioError if an expected value can never match."""
    try:
        check(kind, value, variables=True)
    except Impossible as error:
        raise location.below(error.path).error(str(error), key=error.key) from None
    except PatternError as error:  # matching the pattern against the possible words took too long
        raise location.error(str(error)) from None


def _check_not_a_name(scope: StoryScope, location: Location, text: str) -> None:
    """Raise ScenarioError if a text is just the name of a saved value, such as `id` instead of `${id}`."""
    hint = _variable_hint(scope, text)
    if hint:
        raise location.error(f"{text!r} is the name of a saved value, not its value{hint}")


def _variable_hint(scope: StoryScope, text: str) -> str:
    """Return a hint if a text is the name of a saved value, or an empty string otherwise."""
    if text not in scope.saved_values:
        return ""
    return f"; did you mean ${{{text}}}?"


def _check_operation_id(scope: StoryScope, location: Location, id_: str) -> None:
    if not has_variable(id_) and not is_ulid(id_):
        message = f"{id_[:_LONGEST_QUOTE]!r} is not the id of an operation"
        raise location.error(message + _variable_hint(scope, id_))


def _check_fault_id(scope: StoryScope, location: Location, id_: str) -> None:
    if not has_variable(id_) and not _FAULT_ID.fullmatch(id_):
        message = f"{id_[:_LONGEST_QUOTE]!r} is not the id of a fault, such as fault-1"
        raise location.error(message + _variable_hint(scope, id_))


def _check_outcome_id(scope: StoryScope, location: Location, id_: str) -> None:
    if not has_variable(id_) and not _OUTCOME_ID.fullmatch(id_):
        message = f"{id_[:_LONGEST_QUOTE]!r} is not the id of an outcome, such as outcome-1"
        raise location.error(message + _variable_hint(scope, id_))


def _check_api_key_body(location: Location, body: Any) -> None:
    """Raise ScenarioError if the body of an `api_key` step has an unknown field."""
    if not isinstance(body, dict):
        raise location.error("the body of api_key must be a mapping with name and permissions")
    for name in body:
        if name not in _API_KEY_FIELDS:
            hint = nearest(str(name), _API_KEY_FIELDS) or "; the fields are name and permissions"
            message = f"the body of api_key has no field {name!r}{hint}"
            raise (location / name).error(message, key=True)


_KeyCheck: TypeAlias = Callable[[StoryScope, Location, Any], None]
#: The check for each key, in the order in which mistakes are reported.
_KEY_CHECKS: dict[str, _KeyCheck] = {
    "call": _check_call,
    "poll": _check_not_a_name,
    "redeem": _check_not_a_name,
    "token": _check_not_a_name,
    "request": _check_request,
    "fault": _check_rule,
    "outcome": _check_rule,
    "intervene": _check_intervention,
    "advance": _check_duration,
    "to": _check_timestamp,
    "pause": _check_pause,
    "assume": _check_assumptions,
    "check": _check_saved_values,
    "log": _check_log,
    "until": _check_operation_id,
    "remove_fault": _check_fault_id,
    "remove_outcome": _check_outcome_id,
}


# --- Combinations of keys ----------------------------------------------------------------------


def check_aliases(scope: StoryScope, location: Location, step: StepPart) -> None:
    """Raise ScenarioError if a step uses an unknown alias or does not name a record that it must name."""
    needed_kinds = _needed_kinds(step)
    for kind, field in _alias_fields(step).items():
        alias = getattr(step, field)
        if alias is not None:
            _check_alias(scope, location / field, kind, alias)
        elif kind in needed_kinds and default_alias(scope.change.world, kind) is None:
            aliases = ", ".join(scope.aliases(kind)) or "none"
            raise location.error(f"set `{field}` to name the {kind}; the world has {aliases}")


def _needed_kinds(step: StepPart) -> set[str]:
    """Return which kinds of records a step's request needs, such as `project`."""
    kinds: set[str] = set()
    spec = CALLS.get(step.call or "")
    if spec is not None:
        kinds.add(spec.subject)
    if step.token is None and (step.call or step.poll):
        kinds.add("user")
    return kinds


def _alias_fields(step: StepPart) -> dict[str, str]:
    """Return the fields in which a step names a record, by the kind of record."""
    user_field = "user"
    if step.sign_in is not None:
        user_field = "sign_in"
    elif step.api_key is not None:
        user_field = "api_key"
    return {"project": "project", "organization": "organization", "user": user_field}


def _check_alias(scope: StoryScope, location: Location, kind: str, alias: str) -> None:
    is_nobody = alias == NOBODY and location.path[-1] == "user"
    if is_nobody or has_variable(alias) or scope.has_alias(kind, alias):
        return
    location.check_word(kind, alias, scope.aliases(kind))


def _check_saved_response(scope: StoryScope, location: Location, text: str) -> None:
    name = saved_response_name(text)
    if name in scope.saved_values and name not in scope.saved_responses:
        raise location.error(
            f"{name} is a saved value, not a whole response: save `{name}: response`, or compare "
            f"a field with the value, as in body: {{id: {{same_as: ${{{name}}}}}}}"
        )
    location.check_word("saved response", name, scope.saved_responses)


def check_expectation(
    scope: StoryScope, location: Location, step: StepPart, expect: ExpectPart
) -> None:
    """Raise ScenarioError if no response to a step can meet the step's expectation."""
    if isinstance(expect.same_as, str):
        _check_saved_response(scope, location / "same_as", expect.same_as)
    try:
        scope.types.check(step, expect, location.value)
    except Impossible as error:
        raise location.below(error.path).error(str(error), key=error.key) from None
    except PatternError as error:  # matching the pattern against the possible words took too long
        raise location.error(str(error)) from None
