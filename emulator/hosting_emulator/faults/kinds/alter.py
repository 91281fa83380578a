"""Changes one part of the response that a call returned."""

from typing import ClassVar

from hosting_emulator.contract.alterations import Alteration
from hosting_emulator.faults.kinds import FaultKind


class Alter(FaultKind, Alteration, frozen=True):
    """Change one part of the response that the call returned, within the contract or beyond it.

    Give exactly one of set ({pointer: value}), remove (a pointer or several), rename ({pointer:
    name}), duplicate (a pointer), reorder (a pointer, or {pointer: reversed or shuffled}), headers
    ({name: value or null}) and status. A pointer is a JSON Pointer such as /progress/phase. In a
    pointer, * stands for every item of a list, and a final - stands for the position after the last
    item. The fault acts on successes and on problems, and takes no after_commit. By default, the
    contract must allow the change, and other values that repeat the changed part change too. With
    breaking: true, any change is possible, and only the named part changes.

    Within the contract, ids, times, states and values that clients send back cannot change, and a
    replay equals the first response. A change that the contract forbids is refused, or leaves the
    response as it is, and `why` says so. A new field whose name is nearly that of an existing field
    is refused as a misspelling. The `result` or `error` of an operation can change only without
    `times`, because all responses must show the same end.
    """

    example: ClassVar = {"set": {"/progress/phase": "warming up"}}
    stage = "response"
