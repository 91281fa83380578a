"""The report on a world: a single document that describes what happened in it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from hosting_emulator.messages.clock import ClockState
from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc
from hosting_emulator.messages.operations import Why
from hosting_emulator.messages.requests import ReportedRequests
from hosting_emulator.messages.worlds import VariationState

#: The JSON form of a FaultState or an OutcomeState, with the members of `written` at its top level.
FaultJson = Annotated[
    JsonObject, Meta(extra_json_schema={"$ref": "#/components/schemas/FaultState"})
]
OutcomeJson = Annotated[
    JsonObject, Meta(extra_json_schema={"$ref": "#/components/schemas/OutcomeState"})
]


class WorldReport(ControlMessage, frozen=True, kw_only=True):
    """A report on one world, with its latest requests and its oldest unfinished operations."""

    world: Annotated[str, doc("The name of the world.")]
    base_url: Annotated[str, doc("The base URL of the world, without `/v1`.")]
    scenario: Annotated[
        str | None, doc("The scenario file that defined the world; null if there was none.")
    ]
    clock: Annotated[ClockState, doc("The state of the world's clock.")]
    commit: Annotated[int, doc("The number of the latest commit.")]
    assumptions: Annotated[JsonObject, doc("The assumptions that differ from their defaults.")]
    variation: Annotated[
        VariationState | None, doc("How responses vary; null if no variation is set.")
    ]
    requests: Annotated[ReportedRequests, doc("The latest exchanges.")]
    refused: Annotated[
        list[str], doc("Messages about timeline entries that were refused when they became due.")
    ]
    operations: Annotated[list[Why], doc("The oldest unfinished operations, at most 10.")]
    faults: Annotated[list[FaultJson], doc("The armed faults.")]
    outcomes: Annotated[list[OutcomeJson], doc("The armed outcomes.")]
