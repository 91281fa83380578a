"""Outcomes: how the next operation ends, set in advance.

Each kind has a file in this package, and no other file needs to name it. A kind is a struct. Its fields
are its options, and its docstring is its help text. It creates the record that an operation carries from
its beginning to its end.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.plans import DEPLOYING_PLAN, INITIALIZE, PLAIN_PLAN, Step
from hosting_emulator.world.records import OperationOutcome

OperationPhase = Literal["queued", "building", "deploying", "verifying"]
Text = Annotated[str, Meta(min_length=1)]

#: The order of the kinds in lists. A kind that is not named here follows, by its name.
_LIST_ORDER = ("succeed", "fail", "cancel", "stick", "reconcile")


def phases_of(call: str | None) -> tuple[str, ...]:
    """Return the phases of an operation that a call begins, without the final one.

    Without a call, return those of the operation with the most phases.
    """
    if call is None or call == INITIALIZE:
        return _phases(DEPLOYING_PLAN)
    return _phases(PLAIN_PLAN)


def _phases(plan: Sequence[Step]) -> tuple[str, ...]:
    return tuple(step.phase for step in plan[:-1])


def read_ms(duration: str | None) -> int | None:
    """Return a duration in milliseconds of world time. Raises ValueError."""
    if duration is None:
        return None
    return parse_duration_ms(duration)


class OutcomeKind(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """Base of all kinds. `queued` and `running` are durations: how long the operation is each.

    `steps` happen one after the other at the end of the phase `at` (see `OperationOutcome`).
    """

    example: ClassVar[Mapping[str, Any]] = {}
    steps: ClassVar[tuple[str, ...]] = ()

    queued: str | None = None
    running: str | None = None

    def __post_init__(self) -> None:
        # It reads each duration, and so refuses a text that is not a duration.
        self.operation_outcome("", INITIALIZE)

    @property
    def name(self) -> str:
        """The name of the kind, which is the name of its file."""
        return _name_of(type(self))

    @property
    def at(self) -> str:
        """The phase at whose end the steps happen. Empty: there are no steps."""
        return getattr(self, "phase", "")

    def operation_outcome(self, id_: str, call: str) -> OperationOutcome | None:
        """Return the outcome of an operation that a call begins. None: it has no phase `at`."""
        if self.at and self.at not in phases_of(call):
            return None
        return OperationOutcome(
            id=id_,
            kind=self.name,
            phase=self.at,
            steps=self.steps,
            queued_ms=read_ms(self.queued),
            running_ms=read_ms(self.running),
        )


@cache
def outcome_kinds() -> Mapping[str, type[OutcomeKind]]:
    """Return every kind by its name, in the order of lists."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds = {_name_of(kind): kind for kind in OutcomeKind.__subclasses__()}
    others = sorted(kinds.keys() - set(_LIST_ORDER))
    return {name: kinds[name] for name in [*_LIST_ORDER, *others]}


def outcome_of(armed: Fault) -> OutcomeKind:
    """Return an armed outcome's kind with its options. Raises msgspec.ValidationError or KeyError."""
    return convert(armed.options, outcome_kinds()[armed.kind])


def _name_of(kind: type[OutcomeKind]) -> str:
    return kind.__module__.rpartition(".")[2]
