"""A world with one fault or outcome, which tests copy, rewind, restart or record between requests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace

from hosting_emulator.engine.triggers import triggers_of
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.kinds import RUNNING_CLOCKS, fault_kinds, needs_running_clock
from hosting_emulator.http.endpoint import ControlRefusal
from hosting_emulator.messages import Trigger
from hosting_emulator.world.tables import CLOCK, FAULTS, OUTCOMES
from hosting_emulator.world.value import World
from tests.support.fault_kinds import Noun, fault_examples, outcome_examples
from tests.support.in_process import Machine, fresh_world
from tests.support.journaled_worlds import JournalKeeper
from tests.support.world_changes import ControlledWorld
from tests.support.worlds_on_disk import world_content

Mode: TypeAlias = Literal["frozen", "real", "scaled", "skip"]
MODES: tuple[Mode, ...] = ("frozen", "real", "scaled", "skip")
#: Conditions on which matches a trigger acts. In addition, every trigger acts at most twice.
OCCASIONS: dict[str, dict[str, Any]] = {
    "after the first": {"skip_first": 1},
    "every second": {"every": 2},
    "by chance": {"probability": 0.5},
    "on a condition": {"while": {"flag": True}},
}
_PHASES = ("before_commit", "after_commit")
#: The calls that a fault may match. Only the first call has a request body.
_CALLS = ("set_project_powered_by_flag", "get_dns_authorization")


@dataclass(frozen=True)
class Combination:
    """A kind of fault or outcome with its commit phase, its condition, and the mode of the world's clock.

    `phase` is None for a kind without a commit phase.
    """

    noun: Noun
    kind: str
    phase: str | None
    mode: Mode
    occasion: str = "after the first"

    def __str__(self) -> str:
        parts = [self.kind, self.phase or "no phase", self.mode, self.occasion]
        return ", ".join(parts)

    @property
    def document(self) -> dict[str, Any]:
        """The fault or outcome to arm, in the form used in scenarios. Its `times` is 2."""
        examples = fault_examples() if self.noun == "fault" else outcome_examples()
        document = {self.kind: examples[self.kind], "times": 2, **OCCASIONS[self.occasion]}
        if self.acts_on_requests:
            document["call"] = self.call
        if self.phase is not None:
            document["after_commit"] = self.phase == "after_commit"
        return document

    @property
    def acts_on_requests(self) -> bool:
        """Whether the fault or outcome acts on requests, and not on TLS handshakes."""
        return self.noun == "outcome" or fault_kinds()[self.kind].stage != "handshake"

    @property
    def can_be_recorded(self) -> bool:
        """Whether a recording can repeat the fault or outcome, which must not need a running clock."""
        return not needs_running_clock(self.kind)

    @property
    def call(self) -> str:
        """The call that the fault or outcome matches.

        For `alter`, this is a call whose response contains the member that the example alters.
        """
        if self.noun == "outcome":
            return "initialize_managed_source"
        if self.kind == "alter":
            return "apply_project_domains"
        return _possible_call(self.kind)


def combinations() -> list[Combination]:
    """Return every kind of fault and outcome with each phase, each clock and each occasion."""
    rows = []
    for kind in fault_examples():
        phases: list[str | None] = [phase for phase in _PHASES if _can_have(kind, phase)]
        modes = [mode for mode in MODES if _can_act(kind, mode)]
        for phase, mode, occasion in product(phases or [None], modes, _occasions_of(kind)):
            rows.append(Combination("fault", kind, phase, mode, occasion))
    for kind, mode, occasion in product(outcome_examples(), MODES, OCCASIONS):
        rows.append(Combination("outcome", kind, None, mode, occasion))
    return rows


def _occasions_of(kind: str) -> list[str]:
    """Return the conditions that a kind of fault supports.

    The condition on a project is impossible for a TLS handshake, which has no project.
    """
    if fault_kinds()[kind].stage == "handshake":
        return [name for name in OCCASIONS if name != "on a condition"]
    return [*OCCASIONS]


def _can_act(kind: str, mode: Mode) -> bool:
    """Return whether a kind of fault can act with a clock mode. Some kinds need a running clock."""
    return mode in RUNNING_CLOCKS or not needs_running_clock(kind)


def _can_have(kind: str, phase: str) -> bool:
    return _can_be_armed(Combination("fault", kind, phase, "real").document)


@cache
def _possible_call(kind: str) -> str:
    """Return the first of the calls on which a kind of fault can act, or the first call if there is none."""
    options = fault_examples()[kind]
    possible = (call for call in _CALLS if _can_be_armed({kind: options, "call": call}))
    return next(possible, _CALLS[0])


def _can_be_armed(document: dict[str, Any]) -> bool:
    try:
        ControlledWorld(fresh_world(mode="real")).add_fault(**document)
    except ControlRefusal:
        return False
    return True


class TriggeredWorld:
    """A world with one fault or outcome (the trigger), and a sequence of requests with different keys."""

    def __init__(
        self, api: ControlledWorld, keeper: JournalKeeper, combination: Combination
    ) -> None:
        self.api = api
        self._keeper = keeper
        self._combination = combination
        self._key_count = 0

    @classmethod
    def with_trigger(cls, combination: Combination) -> TriggeredWorld:
        """Create a world in which the fault or outcome of a combination is armed."""
        machine = Machine()
        rate = 10.0 if combination.mode == "scaled" else None
        world = fresh_world(
            seed=str(combination), mode=combination.mode, rate=rate, machine=machine
        )
        keeper = JournalKeeper(world)
        api = ControlledWorld(world, keeper, machine)
        if combination.noun == "fault":
            api.add_fault(**combination.document)
        else:
            api.add_outcome(**combination.document)
        return cls(api, keeper, combination)

    def send(self) -> int:
        """Send a request that the trigger matches, and then other requests. Return the first status."""
        self._key_count += 1
        key = f"key-{self._key_count}"
        self.api.machine.at_ms += 100
        if self._combination.call == "initialize_managed_source":
            response = self.api.initialize(self._key_count, key=key)
            self.api.set_flag(self._key_count % 2 == 0, key=f"{key}-flag")
        elif self._combination.call == "apply_project_domains":
            response = self.api.apply_domains(key=key)
        elif self._combination.call == "get_dns_authorization":
            response = self.api.dns()
        else:
            response = self.api.set_flag(self._key_count % 2 == 0, key=key)
        self.api.compute()
        return response.status

    @property
    def trigger(self) -> Trigger:
        (trigger,) = triggers_of(self.api.engine)
        return trigger

    @property
    def counts(self) -> tuple[int, int]:
        """How many requests the trigger has matched, and on how many of them it has acted."""
        return self.trigger.seen, self.trigger.hits

    def contradictions(self) -> list[str]:
        """Return the contradictions between the trigger, the world and the request log."""
        trigger = self.trigger
        table = FAULTS if self._combination.noun == "fault" else OUTCOMES
        (entry,) = faults_in_order(self.api.world, table)
        claims = {
            "hits are not greater than seen": trigger.hits <= trigger.seen,
            "its counts equal those in the world": (entry.seen, entry.hits) == self.counts,
            "it is spent if and only if it has acted twice": trigger.spent == (trigger.hits == 2),
            "it has a reason in unused until it has acted": self._explains(trigger),
            "the log names it in exactly the exchanges on which it acted": self._log_agrees(),
        }
        if self._combination.noun == "fault":
            waits = trigger.waits_for is not None
            claims["it waits if and only if it is not spent"] = waits != trigger.spent
        return [f"{claim}: {trigger}" for claim, holds in claims.items() if not holds]

    def _explains(self, trigger: Trigger) -> bool:
        if trigger.hits and self._combination.noun == "outcome":
            # For an outcome, `unused` can also explain that its operation has not changed yet.
            return True
        return (trigger.unused is None) == (trigger.hits > 0)

    def _log_agrees(self) -> bool:
        """Return whether `why` names the fault in exactly those exchanges on which the fault acted."""
        for exchange in self.api.engine.log.after(0):
            is_named = any(
                note.startswith("fault-1 (") and " acted" in note for note in exchange.why
            )
            if is_named != any(fault.id == "fault-1" for fault in exchange.acted):
                return False
        return True

    @property
    def logged_hits(self) -> int:
        """The number of exchanges in the request log on which the fault acted."""
        return sum(bool(exchange.acted) for exchange in self.api.engine.log.after(0))

    @property
    def state(self) -> tuple[Any, ...]:
        """All rows of the world except its clock, in a form that can be compared."""
        _, _, _, _, *rows = world_content(self.api.world)
        return tuple(row for row in rows if row[0] != CLOCK.name)

    def mark(self) -> tuple[int, int]:
        """Return a mark for `rewind`: the latest commit, and the number of requests so far."""
        return self.api.world.commit, self._key_count

    def fork(self) -> TriggeredWorld:
        """Return an independent copy of the world."""
        return self._continued(replace(self.api.world, name="copy"))

    def restart(self) -> TriggeredWorld:
        """Return the world that a new process would read from the journal."""
        return self._continued(self._keeper.read())

    def rewind(self, mark: tuple[int, int]) -> None:
        """Rewind the world to a mark. Later requests have the same keys as those after the mark."""
        commit, self._key_count = mark
        self.api.rewind_to_commit(commit)

    def _continued(self, world: World) -> TriggeredWorld:
        keeper = JournalKeeper(world)
        api = ControlledWorld(world, keeper, Machine(self.api.machine.at_ms))
        other = TriggeredWorld(api, keeper, self._combination)
        other._key_count = self._key_count
        return other
