"""The parts of responses on which a client depends: if they are altered, the client behaves differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.client_behavior import Effect

#: The effects, strongest first.
EFFECTS: tuple[Effect, ...] = ("depends", "shows", "ignores")


@dataclass(frozen=True, slots=True)
class PartEffect:
    """The effect of an altered part on a client's behavior.

    `is_allowed` tells whether the contract allows the alteration, so a client must expect it.
    """

    trial: AlteredTrial
    effect: Effect
    is_allowed: bool

    @property
    def part(self) -> tuple[str, str]:
        """The place and the name of the part."""
        return self.trial.place, self.trial.part_name


@dataclass(frozen=True, slots=True)
class ClientDependencies:
    """The results of all trials that altered responses.

    `effects` contains one entry for each trial that altered a response, and `not_tried` contains
    the other trials.
    """

    effects: Sequence[PartEffect] = ()
    not_tried: Sequence[AlteredTrial] = ()

    @property
    def parts(self) -> list[PartEffect]:
        """Each tried part, with the strongest effect of its alterations."""
        strongest: dict[tuple[str, str], PartEffect] = {}
        for effect in self.effects:
            other = strongest.setdefault(effect.part, effect)
            if EFFECTS.index(effect.effect) < EFFECTS.index(other.effect):
                strongest[effect.part] = effect
        return list(strongest.values())

    @property
    def untried_parts(self) -> list[AlteredTrial]:
        """The parts that no trial altered, without duplicates."""
        tried = {effect.part for effect in self.effects}
        untried: dict[tuple[str, str], AlteredTrial] = {}
        for trial in self.not_tried:
            part = (trial.place, trial.part_name)
            if part not in tried:
                untried.setdefault(part, trial)
        return list(untried.values())

    def with_effect(self, effect: Effect) -> list[PartEffect]:
        """Return the parts whose strongest effect is `effect`."""
        return [part for part in self.parts if part.effect == effect]

    @property
    def not_promised(self) -> list[PartEffect]:
        """The parts on which the client depends although the contract does not promise them."""
        return [
            part
            for part in self.with_effect("depends")
            if part.is_allowed and part.trial.change != "set"
        ]


NO_DEPENDENCIES = ClientDependencies()
