"""Failures on demand: faults, interventions and scenarios, as methods of the client.

It must not know which kinds there are: the emulator reads what is sent and refuses what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from hosting_emulator.sdk.answers import (
    Fault,
    FaultKinds,
    InterventionKind,
    JsonObject,
    Report,
    Said,
    Scenario,
    ScenarioEntry,
    Variation,
    VariationPoint,
    World,
)
from hosting_emulator.sdk.wire import DEFAULT_WORLD, Wire, given, world_path


class OnDemand(Wire):
    """The part of `ControlClient` that makes things go wrong."""

    # --- Faults ------------------------------------------------------------------------------

    def faults(self, world: str = DEFAULT_WORLD) -> list[Fault]:
        """The armed faults of a world, in the order in which they are tried."""
        return cast("list[Fault]", self.get(f"{world_path(world)}/faults")["items"])

    def fault(self, fault_id: str, world: str = DEFAULT_WORLD) -> Fault:
        """One armed fault with its counts."""
        return cast(Fault, self.get(_fault(fault_id, world)))

    def add_fault(self, fault: Mapping[str, Any], world: str = DEFAULT_WORLD) -> Fault:
        """Arm a fault, after all that are armed, and return it.

        `fault` is written as in a scenario: one effect with its options, what it matches, when it
        acts, such as `{"abort": {"code": "rate_limited"}, "call": "list_deployments", "times": 2}`.
        """
        return cast(Fault, self.post(f"{world_path(world)}/faults", dict(fault)))

    def remove_fault(self, fault_id: str, world: str = DEFAULT_WORLD) -> None:
        """Disarm one fault, by its id."""
        self.delete(_fault(fault_id, world))

    def clear_faults(self, world: str = DEFAULT_WORLD) -> int:
        """Disarm all faults of a world; returns how many there were."""
        return int(self.delete(f"{world_path(world)}/faults")["removed"])

    def fault_kinds(self) -> FaultKinds:
        """Every effect with its options, every way to match and to count, in words."""
        return cast(FaultKinds, self.get("contract/fault-kinds"))

    # --- Variation ---------------------------------------------------------------------------

    def variation(self, world: str = DEFAULT_WORLD) -> Variation | None:
        """How a world's answers vary; None: they do not."""
        return cast("Variation | None", self.get(f"{world_path(world)}/variation"))

    def vary(
        self, seed: str, world: str = DEFAULT_WORLD, *, only: Sequence[str] | None = None
    ) -> Variation:
        """Vary a world's answers from now on, as the seed draws: at all points, or those in `only`."""
        body = given(seed=seed, only=None if only is None else list(only))
        return cast(Variation, self.put(f"{world_path(world)}/variation", body))

    def unvary(self, world: str = DEFAULT_WORLD) -> None:
        """Let a world answer as usual again."""
        self.delete(f"{world_path(world)}/variation")

    def variation_points(self) -> list[VariationPoint]:
        """Every freedom that the contract leaves, and what is done with it."""
        return cast("list[VariationPoint]", self.get("contract/variation-points")["items"])

    # --- Interventions -----------------------------------------------------------------------

    def intervene(
        self,
        word: str,
        fields: Mapping[str, Any] | None = None,
        world: str = DEFAULT_WORLD,
    ) -> Said:
        """Change a world from outside the contract, such as `stick_operation` of `{"project": …}`.

        Where it makes no sense it is refused (409), and nothing is changed.
        """
        document = {word: dict(fields or {})}
        return cast(Said, self.post(f"{world_path(world)}/interventions", document))

    def interventions(self) -> list[InterventionKind]:
        """Every intervention with its fields."""
        return cast("list[InterventionKind]", self.get("contract/interventions")["items"])

    # --- Scenarios ---------------------------------------------------------------------------

    def scenarios(self) -> list[ScenarioEntry]:
        """The scenario library: names and descriptions."""
        return cast("list[ScenarioEntry]", self.get("scenarios")["items"])

    def scenario(self, name: str) -> Scenario:
        """One scenario of the library with its text."""
        return cast(Scenario, self.get(f"scenarios/{quote(name, safe='')}"))

    def load_scenario(
        self,
        name: str | None = None,
        *,
        text: str | None = None,
        file: str | None = None,
        world: str = DEFAULT_WORLD,
    ) -> World:
        """Replace a world by a scenario's: one of the library by `name`, or YAML as `text`.

        `file` is what errors call the text. The old state stays until the new one is ready.
        """
        body = given(name=name, text=text, file=file)
        return cast(World, self.post(f"{world_path(world)}/scenario", body))

    def run_scenario(
        self,
        name: str | None = None,
        *,
        text: str | None = None,
        file: str | None = None,
        world: str | None = None,
        vary: str | None = None,
        only: Sequence[str] | None = None,
    ) -> Report:
        """Run a scenario's story and return the report, step by step.

        It runs in a throw-away world, or in `world`, which it replaces and leaves as the story
        left it. Scenario and errors as for `load_scenario`; `vary` and `only` as for `create_world`.
        """
        points = None if only is None else list(only)
        body = given(name=name, text=text, file=file, world=world, vary=vary, only=points)
        return cast(Report, self.post("scenarios/run", body))

    def scenario_schema(self) -> JsonObject:
        """The JSON Schema of scenario files, for editors."""
        return cast(JsonObject, self.get("contract/scenario-schema.json"))


def _fault(fault_id: str, world: str) -> str:
    return f"{world_path(world)}/faults/{quote(fault_id, safe='')}"
