"""Refuses an `alter` fault that could not alter any response."""

from __future__ import annotations

from hosting_emulator.contract.alterations import CHANGES
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import DOORS
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.possible_alterations import impossible_reason
from hosting_emulator.faults.kinds.alter import Alter
from hosting_emulator.faults.possible_rules import possible_calls
from hosting_emulator.world.fault_records import Rule

#: The fields that restrict a rule to some of the responses that show the same operation.
_PARTIAL = (
    "times",
    "skip_first",
    "every",
    "probability",
    "from_",
    "until",
    "pauses",
    "while_",
    "header",
    "query",
    "principal",
    "connection",
)


def check_alteration(alter: Alter, rule: Rule, assumptions: Assumptions) -> None:
    """Raise DocumentRefused if no response can be altered in this way.

    If the contract forbids the alteration, the message quotes the contract.
    """
    if rule.call in DOORS:
        message = (
            f"alter only changes responses of the API, but {rule.call} is not one of its calls; "
            "use respond"
        )
        raise DocumentRefused(message, "call")
    code = "unauthenticated" if rule.credentials in ("none", "invalid") else None
    specs = possible_calls(rule, calls_at(assumptions.operation_path))
    reason = impossible_reason(alter, specs, assumptions, code=code)
    if reason is not None:
        raise _refusal(alter, reason)
    if alter.changes_lasting_part and not alter.breaking:
        _check_acts_always(alter, rule)


def _refusal(alter: Alter, reason: str) -> DocumentRefused:
    """Return the error for an impossible alteration, with the location of the pointer that causes it.

    If there are several pointers and the reason names none of them, the location is that of the
    field that contains them, such as `remove`.
    """
    change = next(word for word in CHANGES if getattr(alter, word) is not None)
    named_pointers = [pointer for pointer in alter.pointers if pointer and pointer in reason]
    if len(alter.pointers) == 1:
        named_pointers = list(alter.pointers)
    if not named_pointers:
        return DocumentRefused(f"alter {change}: {reason}", f"alter.{change}")
    pointer = max(named_pointers, key=len)
    value = getattr(alter, change)
    field = f"alter.{change}"
    if isinstance(value, dict):
        field += f".{pointer}"
    elif isinstance(value, tuple):
        field += f".{value.index(pointer)}"
    return DocumentRefused(f"alter {change} {pointer!r}: {reason}", field)


def _check_acts_always(alter: Alter, rule: Rule) -> None:
    """Raise DocumentRefused if a rule would alter an operation's final values in some responses but
    not in others.
    """
    usual = Rule()
    for name in _PARTIAL:
        if getattr(rule, name) == getattr(usual, name):
            continue
        word = name.removesuffix("_")
        message = (
            f"{alter.pointers[0]} of a finished operation never changes, so all responses "
            f"must show the same value; leave out {word}, or write `breaking: true`"
        )
        raise DocumentRefused(message, word)
