"""The declaration of an assumption: its documentation, and the responses that it affects."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hosting_emulator.contract.calls import CallName

#: Groups of calls: every call, calls with an Idempotency-Key, calls with a body, and owner-only
#: calls.
CallGroup = Literal["every", "idempotent", "body", "owner"]
#: The calls whose responses an assumption affects: a call, a group, or all calls that return a
#: resource.
Affected: TypeAlias = CallName | CallGroup | type[Struct]


class OutsideTheLetter(Struct, frozen=True):
    """The alternatives of an assumption that contradict a sentence of the contract.

    `alternatives` are in the form shown to users. Only the default is within the contract.
    """

    alternatives: tuple[str, ...]
    sentence: str


class Assumption(Struct, frozen=True, kw_only=True):
    """The documentation of an assumption that can be set.

    It is part of the `Annotated` type of the field.

    `doc` describes what the assumption decides. `sentence` is the sentence of the contract that
    leaves this open. `affects` names the calls whose responses it affects, in addition to calls
    whose row names it. `unseen` is the reason why the contract check never observes it. `needs`
    names the options that the check needs to observe it.
    """

    doc: str
    sentence: str
    affects: tuple[Affected, ...] = ()
    unseen: str = ""
    needs: str = ""
    outside_the_letter: OutsideTheLetter | None = None


class FixedAssumption(Struct, frozen=True, kw_only=True):
    """A choice that cannot be set, on a point where the contract is silent. `reason` explains why."""

    name: str
    doc: str
    sentence: str
    reason: str
    affects: tuple[Affected, ...] = ()
