"""Changes one part of a true response."""

from typing import ClassVar

from hosting_emulator.contract.alterations import Alteration
from hosting_emulator.faults.kinds import FaultKind


class Alter(FaultKind, Alteration, frozen=True):
    """Change one part of a true response, after the call: what the contract allows, or anything.

    Exactly one of: set ({pointer: value}), remove (a pointer or several), rename ({pointer: name}),
    duplicate (a pointer), reorder (a pointer, or {pointer: reversed or shuffled}), headers ({name: value
    or null}), status. A pointer is a JSON Pointer such as /progress/phase; * stands for every item of
    a list, and a last - for the place behind it. It acts on successes and on problems, and has no phase.
    Only what the contract allows can be changed, and what repeats the part changes with it. With
    breaking: true anything can be changed, and nothing else changes.
    """

    example: ClassVar = {"set": {"/progress/phase": "warming up"}}
    stage = "response"
