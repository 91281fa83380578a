"""The OpenAPI document of a world's public API: what it assumes, how it varies, and its own ids."""

from __future__ import annotations

from typing import Any

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.openapi import openapi_document
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.world.naming import DEFAULT_WORLD, in_order
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import Origin, Variation
from hosting_emulator.world.tables import ORGANIZATIONS, PROJECTS
from hosting_emulator.world.value import World, deployment_count, deployment_runs, in_runs

#: So many of the first project's newest operations are shown.
_OPERATIONS = 3


def document_absent(variation: Variation | None) -> dict[str, tuple[str, ...]]:
    """Return the members by resource that a document may not require: answers may lack them."""
    if variation is None or "absent-fields" not in (variation.only or ("absent-fields",)):
        return {}
    return {name: found.may_lack for name, found in RESOURCES.items() if found.may_lack}


def world_document(world: World, server_url: str, dev_port: int | None = None) -> dict[str, Any]:
    """Return the document of a world that is served at `server_url`, its dev origins at a port."""
    absent = document_absent(world.variation)
    found = openapi_document(world.assumptions, server_url, absent, example_values(world))
    if dev_port not in (None, 443) and world.assumptions.dev_origin_port == "shown":
        ticket = found["components"]["schemas"]["DevAccessTicket"]["properties"]
        for field in (ticket["origin"], ticket["redeem_url"]):  # the contract's form has no port
            field["pattern"] = field["pattern"].replace("[a-z0-9.-]+", f"[a-z0-9.-]+:{dev_port}")
    return found


def default_document() -> dict[str, Any]:
    """Return the document of a default world, for when none is served."""
    world = new_world(DEFAULT_WORLD, DEFAULT_SEED, Origin(), 0)
    return world_document(world, "http://127.0.0.1:4620")


def example_values(world: World) -> dict[str, dict[str, Any]]:
    """Return values that a call may name, by parameter or field, each with what it is of.

    All are of the first organization; there are none in a world that has none.
    """
    organizations = in_order(world, ORGANIZATIONS)
    if not organizations:
        return {}
    home = organizations[0]
    projects = [found for found in in_order(world, PROJECTS) if found.organization_id == home.id]
    operations: dict[str, str] = {}
    for first in projects[:1]:
        count = deployment_count(world.indexes, first.id)
        start = max(0, count - _OPERATIONS)
        newest = in_runs(deployment_runs(world.indexes, first.id, start, count), start, count)
        for number, deployment in enumerate(reversed(newest), 1):
            operations[f"{first.alias}-{number}"] = deployment.operation_id
    return {
        "organization_id": {home.alias: home.id},
        "project_id": {project.alias: project.id for project in projects},
        "operation_id": operations,
        "expected_source_generation": {p.alias: p.source_generation for p in projects[:1]},
    }
