"""Describes the assumptions for the documentation, and warns about values that contradict the
contract.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from hosting_emulator.contract.assumption_declarations import (
    Affected,
    Assumption,
    FixedAssumption,
    OutsideTheLetter,
)
from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions, plain_value
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.fields import resource_name
from hosting_emulator.contract.fixed_assumptions import FIXED


def describe(assumptions: Assumptions) -> list[dict[str, Any]]:
    """Return a row for each assumption, with its name, value, default, alternatives, description
    and sentence.

    `outside_the_letter` lists the alternatives that contradict the contract, and `contradicts` is
    the sentence that they contradict. `warning` is empty unless the value contradicts the contract.
    The last rows are the choices that users cannot set, with the reason in `fixed`.
    """
    rows = [_row(assumptions, name) for name in Assumptions.__struct_fields__]
    return rows + [_fixed_row(fixed) for fixed in FIXED.values()]


def _row(assumptions: Assumptions, name: str) -> dict[str, Any]:
    declaration = _declarations()[name]
    outside = declaration.outside_the_letter
    return {
        "name": name,
        "value": plain_value(getattr(assumptions, name)),
        "default": plain_value(getattr(DEFAULTS, name)),
        "alternatives": alternatives(name) or "any",
        "outside_the_letter": list(outside.alternatives) if outside else [],
        "contradicts": outside.sentence if outside else "",
        "warning": _warning(name, getattr(assumptions, name)),
        "about": declaration.doc,
        "sentence": declaration.sentence,
        "fixed": "",
    }


def _fixed_row(fixed: FixedAssumption) -> dict[str, Any]:
    return {
        "name": fixed.name,
        "value": "fixed",
        "default": "fixed",
        "alternatives": [],
        "outside_the_letter": [],
        "contradicts": "",
        "warning": "",
        "about": fixed.doc,
        "sentence": fixed.sentence,
        "fixed": fixed.reason,
    }


def alternatives(name: str) -> list[Any]:
    """Return all values that an assumption can have, except for its default.

    An empty list means that it can have any value of its type.
    """
    default = getattr(DEFAULTS, name)
    if isinstance(default, tuple | dict):
        return []
    hint = _hints()[name]
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return [choice for choice in get_args(bare) if choice != default]


# --- Alternatives that contradict the contract -----------------------------------------------------


def outside_the_letter(name: str) -> OutsideTheLetter | None:
    """Return the alternatives for an assumption that contradict the contract, or None if there are
    none.
    """
    return _declarations()[name].outside_the_letter


def is_outside_the_letter(name: str, value: Any) -> bool:
    """Return whether an assumption with this value contradicts a sentence of the contract."""
    return outside_the_letter(name) is not None and value != getattr(DEFAULTS, name)


def warnings_of(assumptions: Assumptions) -> list[str]:
    """Return a warning for each assumption with a value that contradicts a sentence of the contract."""
    warnings = [_warning(name, value) for name, value in assumptions.changes().items()]
    return [warning for warning in warnings if warning]


def _warning(name: str, value: Any) -> str:
    outside = outside_the_letter(name)
    if outside is None or not is_outside_the_letter(name, value):
        return ""
    default = getattr(DEFAULTS, name)
    return (
        f"The assumption {name}={value} contradicts the contract, which says: "
        f'"{outside.sentence}" Only the default, {default}, conforms to the contract.'
    )


# --- The contract check ----------------------------------------------------------------------------


def why_unseen(name: str) -> str:
    """Return why the contract check cannot observe an assumption.

    Return an empty string if it can.
    """
    reason = _declarations()[name].unseen
    if not reason and isinstance(getattr(DEFAULTS, name), tuple):
        return "responses do not show the order in which the words are used"
    return reason


def needed_to_observe(name: str) -> str:
    """Return the options without which the contract check cannot observe an assumption.

    Return an empty string if no options are needed.
    """
    return _declarations()[name].needs


# --- Which calls an assumption affects -------------------------------------------------------------


def affects_every_call(name: str) -> bool:
    """Return whether an assumption can affect the responses to every call."""
    return "every" in _affected(name)


def affects_call(name: str, spec: CallSpec) -> bool:
    """Return whether an assumption affects the responses to this call in particular.

    An assumption affects a call if the call's row names the assumption, or if the assumption's
    `affects` covers the call. An assumption that affects every call affects none in particular.
    """
    if name in spec.assumptions:
        return True
    return any(_covers(affected, spec) for affected in _affected(name))


def _affected(name: str) -> tuple[Affected, ...]:
    if name in FIXED:
        return FIXED[name].affects
    return _declarations()[name].affects


def _covers(affected: Affected, spec: CallSpec) -> bool:
    if not isinstance(affected, str):
        return resource_name(affected) == spec.response
    if affected == "idempotent":
        return spec.idempotent
    if affected == "body":
        return spec.body is not None
    if affected == "owner":
        return spec.role == "owner"
    return affected == spec.call_id


# --- The declarations ------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _hints() -> dict[str, Any]:
    return get_type_hints(Assumptions, include_extras=True)


@lru_cache(maxsize=1)
def _declarations() -> dict[str, Assumption]:
    declarations: dict[str, Assumption] = {}
    for name, hint in _hints().items():
        for part in hint.__metadata__:
            if isinstance(part, Assumption):
                declarations[name] = part
    return declarations
