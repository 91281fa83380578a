"""Changes one part of a true response."""

from typing import ClassVar

from hosting_emulator.contract.alterations import Alteration
from hosting_emulator.faults.kinds import FaultKind


class Alter(FaultKind, Alteration, frozen=True):
    """Change one part of a true response after the call, within the contract or beyond it.

    Exactly one of: set ({pointer: value}), remove (a pointer or several), rename ({pointer: name}),
    duplicate (a pointer), reorder (a pointer, or {pointer: reversed or shuffled}), headers ({name: value
    or null}), status. A pointer is a JSON Pointer such as /progress/phase; * stands for every item of
    a list, and a final - for the position after its last item. The fault acts on successes and on
    problems, and has no phase. By default, only changes that the contract allows are possible, and
    values that repeat the part change with it. With breaking: true, any change is possible, and nothing
    else changes.
    """

    example: ClassVar = {"set": {"/progress/phase": "warming up"}}
    stage = "response"
