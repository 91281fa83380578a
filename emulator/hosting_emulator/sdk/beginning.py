"""How a throw-away world begins: as a scenario, as an exported state, or as the default world."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hosting_emulator.sdk.answers import ClockMode, ClockRequest, JsonObject, World
from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.varying import VaryLike, asked_variation

_NAMED = {"name": "inline", "description": "Written where it is used."}
_FILES = (".yaml", ".yml", ".json")


def begin_world(
    control: ControlClient,
    *,
    name: str | None,
    scenario: str | Path | None,
    document: Mapping[str, Any] | None,
    document_name: str,
    state: Mapping[str, Any] | None,
    clock: ClockMode | ClockRequest | None,
    seed: str | None,
    assumptions: Mapping[str, Any] | None,
    vary: VaryLike | None,
    vary_only: str | Sequence[str] | None,
) -> World:
    """Make a world. Arguments as for `HostingEmulator.fresh`, errors too."""
    if sum(given is not None for given in (scenario, document, state)) > 1:
        raise ValueError("a world begins in one way: give scenario, document or state")
    varied_by, only = asked_variation(vary, vary_only)
    if clock is None and scenario is None and document is None and state is None:
        clock = "frozen"
    return control.create_world(
        name,
        ephemeral=True,
        clock={"mode": clock} if isinstance(clock, str) else clock,
        seed=seed,
        assumptions=assumptions,
        state=state,
        vary=varied_by,
        only=only,
        **_scenario(scenario, document, document_name),
    )


def _scenario(
    scenario: str | Path | None, document: Mapping[str, Any] | None, document_name: str
) -> JsonObject:
    if document is not None:
        # What a library needs to list a scenario is nothing to ask of one that is written in place.
        named = {name: text for name, text in _NAMED.items() if name not in document}
        text = json.dumps({**document, **named})
        return {"scenario_text": text, "scenario_file": document_name}
    if scenario is None:
        return {}
    if isinstance(scenario, Path) or scenario.endswith(_FILES):
        text = Path(scenario).read_text(encoding="utf-8")
        return {"scenario_text": text, "scenario_file": str(scenario)}
    return {"scenario": scenario}
