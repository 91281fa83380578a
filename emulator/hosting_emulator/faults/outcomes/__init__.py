"""Outcomes. An armed outcome determines how a matching operation proceeds and ends.

To add a kind, add a file to this package. A kind is a struct whose fields are its options and whose
docstring is its help text. Each kind creates an OperationOutcome, which is stored with the
operation.
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
from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.plans import INITIALIZE, Step, plan_for
from hosting_emulator.world.records import OperationOutcome, PartialEffects

OperationPhase = Literal["queued", "building", "deploying", "verifying"]
Text = Annotated[str, Meta(min_length=1)]

#: The type of the option `phase` in kinds that can act in any phase under a condition. None means
#: that the document does not set a phase.
OptionalPhase = OperationPhase | None

#: The order in which lists show the kinds. Any other kinds follow in alphabetical order.
_LIST_ORDER = ("succeed", "fail", "cancel", "stick", "reconcile")


def phases_of(call: str | None) -> tuple[str, ...]:
    """Return the phases that an operation started by a call goes through, except for the last one.

    If `call` is None, return those of the operation that has the most phases.
    """
    return _phases(plan_for(call or INITIALIZE))


def _phases(plan: Sequence[Step]) -> tuple[str, ...]:
    return tuple(step.phase for step in plan[:-1])


def read_ms(duration: str | None) -> int | None:
    """Return a duration in milliseconds of world time, or None if `duration` is None.

    Raises ValueError for an invalid duration.
    """
    if duration is None:
        return None
    return parse_duration_ms(duration)


class OutcomeKind(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """The base class of all kinds of outcomes.

    `queued` and `running` set how long the operation stays in these states. The `steps` are taken
    one after another, beginning at the end of the phase `at`. With a condition, a first step other
    than `stuck` is taken as soon as the condition holds. See `OperationOutcome` for the details.
    """

    example: ClassVar[Mapping[str, Any]] = {}
    steps: ClassVar[tuple[str, ...]] = ()

    queued: Duration | None = None
    running: Duration | None = None

    def __post_init__(self) -> None:
        # Build an outcome, so that an invalid duration is refused here rather than later.
        self.operation_outcome("", INITIALIZE)

    @property
    def name(self) -> str:
        """The name of the kind, which is also the name of its file."""
        return _name_of(type(self))

    @property
    def reacts(self) -> bool:
        """Whether the condition is evaluated while the operation is in progress, rather than at its
        start.
        """
        return bool(self.steps)

    @property
    def at(self) -> str:
        """The phase that the document sets, or an empty string if it does not set one."""
        return getattr(self, "phase", None) or ""

    @property
    def left_behind(self) -> PartialEffects | None:
        """The effects that an operation with this outcome leaves behind, or None if it leaves none."""
        return getattr(self, "leaves", None)

    @property
    def default_phase(self) -> str:
        """The default phase if there is no condition, or an empty string if the kind has no steps."""
        return "deploying" if self.steps else ""

    def operation_outcome(
        self, id_: str, call: str, condition: Condition | None = None
    ) -> OperationOutcome | None:
        """Return the outcome for an operation that a call starts.

        Return None if such an operation never enters the outcome's phase.
        """
        if not self.reacts:
            condition = None
        phase = self.at
        if condition is None:
            phase = phase or self.default_phase
        if phase and phase not in phases_of(call):
            return None
        return OperationOutcome(
            id=id_,
            kind=self.name,
            phase=phase,
            steps=self.steps,
            queued_ms=read_ms(self.queued),
            running_ms=read_ms(self.running),
            while_=condition,
            leaves=self.left_behind,
        )


@cache
def outcome_kinds() -> Mapping[str, type[OutcomeKind]]:
    """Return all kinds by name, in the order used by lists."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds = {_name_of(kind): kind for kind in OutcomeKind.__subclasses__()}
    others = sorted(kinds.keys() - set(_LIST_ORDER))
    return {name: kinds[name] for name in [*_LIST_ORDER, *others]}


def outcome_of(armed: Fault) -> OutcomeKind:
    """Return an instance of an armed outcome's kind with its options.

    Raises KeyError for an unknown kind, and msgspec.ValidationError for invalid options.
    """
    return convert(armed.options, outcome_kinds()[armed.kind])


def _name_of(kind: type[OutcomeKind]) -> str:
    return kind.__module__.rpartition(".")[2]
