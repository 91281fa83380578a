"""How an assumption is declared: what is said of it, and which responses it affects."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hosting_emulator.contract.calls import CallName

#: Calls by what they have in common: `every`, those with an Idempotency-Key, those with a body, and
#: those that only a project's owner may make.
CallGroup = Literal["every", "idempotent", "body", "owner"]
#: Whose responses an assumption shapes: a call, a group of calls, or the calls that return a resource.
Affected: TypeAlias = CallName | CallGroup | type[Struct]


class OutsideTheLetter(Struct, frozen=True):
    """The alternatives of an assumption that contradict a sentence of the contract.

    `alternatives` are listed as a user reads them. Only the default is within the contract.
    """

    alternatives: tuple[str, ...]
    sentence: str


class Assumption(Struct, frozen=True, kw_only=True):
    """What is said of an assumption that can be set: it stands in the `Annotated` of its field.

    `doc` says what it decides, and `sentence` is the sentence of the contract that leaves that open.
    `affects` names the calls whose responses it shapes, beside those whose row names it. `unseen` says
    why the contract check never observes it, and `needs` which options the check needs to observe it.
    """

    doc: str
    sentence: str
    affects: tuple[Affected, ...] = ()
    unseen: str = ""
    needs: str = ""
    outside_the_letter: OutsideTheLetter | None = None


class FixedAssumption(Struct, frozen=True, kw_only=True):
    """A choice where the contract is silent that cannot be set; `reason` says why."""

    name: str
    doc: str
    sentence: str
    reason: str
    affects: tuple[Affected, ...] = ()
