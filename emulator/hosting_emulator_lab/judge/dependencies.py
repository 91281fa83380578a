"""What a client depends on: the parts of responses whose alteration changes what it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.client_behavior import Effect

#: The effects, strongest first.
EFFECTS: tuple[Effect, ...] = ("depends", "shows", "ignores")


@dataclass(frozen=True, slots=True)
class PartEffect:
    """What an altered part changes in what a client does.

    `is_allowed` tells whether the contract allows the alteration, so that a client must expect it.
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
    """What altered responses showed about a client.

    `effects` has one entry for each trial that altered a response. `not_tried` are the other trials.
    """

    effects: Sequence[PartEffect] = ()
    not_tried: Sequence[AlteredTrial] = ()

    @property
    def parts(self) -> list[PartEffect]:
        """The tried parts, each once, with the strongest effect of its alterations."""
        strongest: dict[tuple[str, str], PartEffect] = {}
        for effect in self.effects:
            other = strongest.setdefault(effect.part, effect)
            if EFFECTS.index(effect.effect) < EFFECTS.index(other.effect):
                strongest[effect.part] = effect
        return list(strongest.values())

    @property
    def untried_parts(self) -> list[AlteredTrial]:
        """The parts that no trial altered, each once."""
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
