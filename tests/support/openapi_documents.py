"""Creates the OpenAPI document of a new world, without a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.openapi import openapi_document
from hosting_emulator.variation.world_openapi import example_values
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import WorldSource


def document_of_new_world(assumptions: Mapping[str, Any], base_url: str) -> dict[str, Any]:
    """Return the OpenAPI document of a new default world with some changed assumptions."""
    world = new_world("default", DEFAULT_SEED, WorldSource("frozen"), 0)
    return openapi_document(
        Assumptions().changed(assumptions), server_url=base_url, values=example_values(world)
    )
