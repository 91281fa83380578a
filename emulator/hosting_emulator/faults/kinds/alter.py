"""Changes one part of the response that a call returned."""

from typing import ClassVar

from hosting_emulator.contract.alterations import Alteration
from hosting_emulator.faults.kinds import FaultKind


class Alter(FaultKind, Alteration, frozen=True):
    """Change parts of the response that the call returned, in a way that the contract allows or not.

    Specify exactly one of set ({pointer: value}), remove (one or more pointers), rename ({pointer:
    name}), duplicate (a pointer), reorder (a pointer, or {pointer: reversed or shuffled}), headers
    ({name: value or null}) and status. A pointer is a JSON Pointer such as /progress/phase. In a
    pointer, `*` stands for every item in a list, and `-` at the end for the position after the last
    item. The fault acts on both successful responses and problems, and does not accept
    after_commit. By default, the contract must allow the change, and any other values that repeat a
    changed part change too. With breaking: true, the change may contradict the contract, and only
    the named parts change.

    Without breaking: true, ids, times, states and values that clients send back cannot change, and
    a replay must equal the first response. A change that the contract forbids is refused, or leaves
    the response unchanged. In the second case, the request's `trail` gives the reason, and
    `hosting-emulator why N` prints it. A new field with almost the same name as an existing field
    is refused as a misspelling. The `result` or `error` of an operation can be changed only without
    conditions such as `times`, because all responses must show the same end.
    """

    example: ClassVar = {"set": {"/progress/phase": "warming up"}}
    stage = "response"
