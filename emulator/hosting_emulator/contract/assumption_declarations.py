"""The declaration of an assumption: its documentation, and the responses that it affects."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hosting_emulator.contract.calls import CallName

#: Groups of calls: every call, calls with an Idempotency-Key, calls with a body, and owner-only
#: calls.
CallGroup = Literal["every", "idempotent", "body", "owner"]
#: The calls whose responses an assumption affects: a single call, a group of calls, or all calls
#: that return a certain resource.
Affected: TypeAlias = CallName | CallGroup | type[Struct]


class OutsideTheLetter(Struct, frozen=True):
    """The alternatives of an assumption that contradict a sentence of the contract.

    `alternatives` lists the values in the form shown to users. The default is the only value that
    conforms to the contract.
    """

    alternatives: tuple[str, ...]
    sentence: str


class Assumption(Struct, frozen=True, kw_only=True):
    """The documentation of an assumption that users can set.

    Every field of `Assumptions` has an Assumption in its `Annotated` type.

    `doc` describes what the assumption decides. `sentence` is the sentence of the contract that
    leaves the decision open. `affects` names the calls whose responses the assumption affects, but
    may omit the calls whose rows in `calls.py` already name the assumption. `unseen` is the reason
    why the contract check never observes the assumption. `needs` names the options that the
    contract check needs to observe the assumption.
    """

    doc: str
    sentence: str
    affects: tuple[Affected, ...] = ()
    unseen: str = ""
    needs: str = ""
    outside_the_letter: OutsideTheLetter | None = None


class FixedAssumption(Struct, frozen=True, kw_only=True):
    """A choice that users cannot set, on a point where the contract is silent.

    `reason` explains why users cannot set the choice.
    """

    name: str
    doc: str
    sentence: str
    reason: str
    affects: tuple[Affected, ...] = ()
