"""Arms, lists and removes a world's faults and outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hosting_emulator import messages
from hosting_emulator.sdk.transport import Transport, without_none
from hosting_emulator.sdk.world_handle import WorldHandle, ignore_missing

if TYPE_CHECKING:
    from hosting_emulator.contract.calls import CallName, DoorName

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

Credentials: TypeAlias = Literal["token", "key", "none", "invalid", "any"]
ConnectionUse: TypeAlias = Literal["new", "reused"]


class ArmedFault(WorldHandle, AbstractContextManager["ArmedFault", None]):
    """An armed fault or outcome. If used in a `with` statement, it is disarmed at the end of the block."""

    def __init__(
        self, transport: Transport, world: str, collection: str, document: messages.JsonObject
    ) -> None:
        super().__init__(transport, world)
        self._collection = collection
        self.state = self._read(document)
        """The state of the fault or outcome when it was armed or listed."""
        self.id: str = self.state.id
        self._last: messages.FaultState | messages.OutcomeState | None = None

    def __repr__(self) -> str:
        return f"<ArmedFault {self.id!r} of {self.name!r}>"

    @property
    def considered(self) -> int:
        """How many requests have been checked against the fault.

        For an outcome, only requests that start an operation are counted.
        """
        return self.now.considered

    @property
    def unused(self) -> str | None:
        """Why the fault or outcome has never acted, or None if it has acted."""
        return self.now.unused

    @property
    def seen(self) -> int:
        """How many requests or operations the fault or outcome has matched."""
        return self.now.seen

    @property
    def hits(self) -> int:
        """How many requests or operations the fault or outcome has acted on."""
        return self.now.hits

    @property
    def spent(self) -> bool:
        """Whether the fault or outcome is used up and can no longer act."""
        return self.now.spent

    @property
    def now(self) -> messages.FaultState | messages.OutcomeState:
        """The current state or, if this object has removed the fault or outcome, the last state
        before that.

        Raises ControlRefused if the fault or outcome was removed by other means.
        """
        return self._last or self._read(self._ask("GET", self._collection, self.id))

    def _read(self, document: messages.JsonObject) -> messages.FaultState | messages.OutcomeState:
        if self._collection == "outcomes":
            split = messages.split_written(document, messages.OutcomeState)
            return self._transport.read(messages.OutcomeState, split)
        split = messages.split_written(document, messages.FaultState)
        return self._transport.read(messages.FaultState, split)

    def remove(self) -> None:
        """Disarm the fault or outcome. Its counts remain available in this object.

        Raises ControlRefused if the fault or outcome no longer exists.
        """
        last = self.now
        self._ask("DELETE", self._collection, self.id)
        self._last = last

    def __exit__(self, *_: object) -> None:
        with ignore_missing():  # the block may already have removed it or reset the world
            self.remove()


class WorldFaults(WorldHandle):
    """A world's faults and outcomes."""

    def fault(
        self,
        effect: str | None = None,
        *,
        call: CallName | DoorName | None = None,
        project: str | None = None,
        organization: str | None = None,
        principal: str | None = None,
        method: str | None = None,
        path: str | None = None,
        header: dict[str, str] | None = None,
        query: dict[str, str] | None = None,
        body: messages.JsonObject | None = None,
        credentials: Credentials | None = None,
        connection: ConnectionUse | None = None,
        times: int | None = None,
        skip_first: int | None = None,
        every: int | None = None,
        probability: float | None = None,
        from_: str | None = None,
        until: str | None = None,
        pauses: Sequence[str] | None = None,
        while_: messages.JsonObject | None = None,
        after_commit: bool | None = None,
        optional: bool | None = None,
        **options: Any,
    ) -> ArmedFault:
        """Arm a fault in this world. In a `with` statement, it is disarmed at the end of the block.

        Pass the effect's options as keyword arguments: `fault("abort", code="rate_limited",
        times=2)`. The form used in scenarios also works: `fault(abort={"code": "rate_limited"},
        times=2)`. Reports mention a fault that never acted, unless it is `optional`. If the fault
        is invalid, raises ControlRefused with a description of the mistake.
        """
        return self.arm(_entry(locals(), "effect"))

    def arm(self, fault: Mapping[str, Any]) -> ArmedFault:
        """Arm a fault given in the form used in scenarios: one effect, request filters and conditions."""
        return self._armed("faults", self._ask("POST", "faults", body=fault))

    @property
    def faults(self) -> list[ArmedFault]:
        """The armed faults in the order in which they apply."""
        documents = self._ask("GET", "faults")["items"]
        return [self._armed("faults", document) for document in documents]

    def remove_fault(self, fault_id: str) -> None:
        """Disarm the fault with this id. Raises ControlRefused (404) if no such fault is armed."""
        self._ask("DELETE", "faults", fault_id)

    def clear_faults(self) -> int:
        """Disarm all faults, and return how many there were."""
        return int(self._ask("DELETE", "faults")["removed"])

    def outcome(
        self,
        kind: str | None = None,
        *,
        call: CallName | None = None,
        project: str | None = None,
        organization: str | None = None,
        principal: str | None = None,
        times: int | None = None,
        skip_first: int | None = None,
        every: int | None = None,
        probability: float | None = None,
        from_: str | None = None,
        until: str | None = None,
        pauses: Sequence[str] | None = None,
        while_: messages.JsonObject | None = None,
        optional: bool | None = None,
        **options: Any,
    ) -> ArmedFault:
        """Arm an outcome, which determines how the next operation (or the next `times` operations)
        proceeds and ends.

        In a `with` statement, it is disarmed at the end of the block. For example, `outcome("fail",
        phase="deploying", project="blog")` makes an operation fail. The form used in scenarios also
        works: `outcome(reconcile={"attempts": 2, "then": "exhaust"})`. If the outcome is invalid,
        raises ControlRefused with a description of the mistake.
        """
        return self.add_outcome(_entry(locals(), "kind"))

    def add_outcome(self, outcome: Mapping[str, Any]) -> ArmedFault:
        """Arm an outcome given in the form used in scenarios."""
        return self._armed("outcomes", self._ask("POST", "outcomes", body=outcome))

    @property
    def outcomes(self) -> list[ArmedFault]:
        """The armed outcomes in the order in which they apply."""
        documents = self._ask("GET", "outcomes")["items"]
        return [self._armed("outcomes", document) for document in documents]

    def remove_outcome(self, outcome_id: str) -> None:
        """Disarm the outcome with this id. Raises ControlRefused (404) if no such outcome is armed."""
        self._ask("DELETE", "outcomes", outcome_id)

    def clear_outcomes(self) -> int:
        """Disarm all outcomes, and return how many there were."""
        return int(self._ask("DELETE", "outcomes")["removed"])

    @property
    def triggers(self) -> list[messages.Trigger]:
        """The world's faults, outcomes and timeline entries.

        For each entry, `waits_for` says what it is waiting for. `considered`, `seen` and `hits` are
        the counts that stories check. `unused` says why the entry has not acted yet. `result` says
        what a timeline entry did or why it was refused.
        """
        return self._fetch_list(messages.Trigger, "GET", "triggers")

    def _armed(self, collection: str, document: messages.JsonObject) -> ArmedFault:
        return ArmedFault(self._transport, self.name, collection, document)


def _entry(arguments: Mapping[str, Any], kind_parameter: str) -> dict[str, Any]:
    """Convert the arguments of `fault` or `outcome` to the form used in scenarios.

    `kind_parameter` is the name of the argument that specifies the kind. If that argument is None,
    the options are already in the form used in scenarios.
    """
    rule = dict(arguments)
    del rule["self"]
    kind = rule.pop(kind_parameter)
    # Names such as `for_`, `from_` and `while_` end in an underscore, because without it they would
    # be Python keywords.
    options = rule.pop("options")
    options = without_none(**{name.rstrip("_"): value for name, value in options.items()})
    entry = without_none(**{name.rstrip("_"): value for name, value in rule.items()})
    if kind is None:
        return options | entry
    return {kind: options} | entry
