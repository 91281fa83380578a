"""Declares assumptions: their documentation, and the responses that they affect."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hosting_emulator.contract.calls import CallName

#: Groups of calls: all calls, calls with an Idempotency-Key, calls with a body, and calls for
#: owners only.
CallGroup = Literal["every", "idempotent", "body", "owner"]
#: The calls whose responses an assumption affects: a single call, a group of calls, or all calls
#: that return a particular resource.
Affected: TypeAlias = CallName | CallGroup | type[Struct]


class OutsideTheLetter(Struct, frozen=True):
    """The alternatives for an assumption that contradict a sentence of the contract.

    `alternatives` lists these values, in the form in which users see them. Only the default
    conforms to the contract.
    """

    alternatives: tuple[str, ...]
    sentence: str


class Assumption(Struct, frozen=True, kw_only=True):
    """Documents an assumption that users can set.

    The `Annotated` type of every field in `Assumptions` contains one.

    `doc` describes what the assumption determines. `sentence` is the sentence of the contract that
    leaves the point open. `affects` names the calls whose responses the assumption affects.
    `affects` can omit calls whose rows in `calls.py` already name the assumption. `unseen` is the
    reason why the contract check cannot observe the assumption. `needs` names the options without
    which the contract check cannot observe the assumption.
    """

    doc: str
    sentence: str
    affects: tuple[Affected, ...] = ()
    unseen: str = ""
    needs: str = ""
    outside_the_letter: OutsideTheLetter | None = None


class FixedAssumption(Struct, frozen=True, kw_only=True):
    """A choice that users cannot set, about a point on which the contract is silent.

    `reason` explains why users cannot set it.
    """

    name: str
    doc: str
    sentence: str
    reason: str
    affects: tuple[Affected, ...] = ()
