"""Builds the OpenAPI document for a world.

The document describes the world's variation, and uses values from the world as examples.
"""

from __future__ import annotations

from typing import Any

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.openapi import openapi_document
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.world.indexes import latest_deployments
from hosting_emulator.world.naming import DEFAULT_WORLD, in_order
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import Variation, WorldSource
from hosting_emulator.world.tables import ORGANIZATIONS, PROJECTS
from hosting_emulator.world.value import World

#: The maximum number of operations used as examples. The examples are the operations that created
#: the newest deployments of the first project.
_EXAMPLE_OPERATIONS = 3


def document_absent(variation: Variation | None) -> dict[str, tuple[str, ...]]:
    """Return, by resource, the fields that a variation can omit from responses.

    The OpenAPI document must not require any of these fields.
    """
    if variation is None or "absent-fields" not in (variation.only or ("absent-fields",)):
        return {}
    return {
        name: resource.omissible_fields
        for name, resource in RESOURCES.items()
        if resource.omissible_fields
    }


def world_document(world: World, server_url: str, dev_port: int | None = None) -> dict[str, Any]:
    """Return the OpenAPI document for a world at `server_url` with dev origins on port `dev_port`."""
    absent = document_absent(world.variation)
    document = openapi_document(world.assumptions, server_url, absent, example_values(world))
    if dev_port not in (None, 443):
        ticket = document["components"]["schemas"]["DevAccessTicket"]["properties"]
        for field in (
            ticket["origin"],
            ticket["redeem_url"],
        ):  # the contract's pattern does not allow a port
            field["pattern"] = field["pattern"].replace("[a-z0-9.-]+", f"[a-z0-9.-]+:{dev_port}")
    return document


def default_document() -> dict[str, Any]:
    """Return the OpenAPI document for a default world with a frozen clock, for use without a
    running emulator.
    """
    world = new_world(DEFAULT_WORLD, DEFAULT_SEED, WorldSource("frozen"), 0)
    return world_document(world, "http://127.0.0.1:4620")


def example_values(world: World) -> dict[str, dict[str, Any]]:
    """Return example values for the inputs of calls, taken from the world's first organization.

    The outer keys are the names of parameters and fields. The inner keys are labels, such as a
    project's alias. The result is empty if the world has no organizations.
    """
    organizations = in_order(world, ORGANIZATIONS)
    if not organizations:
        return {}
    first_organization = organizations[0]
    projects = [
        project
        for project in in_order(world, PROJECTS)
        if project.organization_id == first_organization.id
    ]
    operations: dict[str, str] = {}
    for first in projects[:1]:
        for number, deployment in enumerate(
            latest_deployments(world.indexes, first.id, _EXAMPLE_OPERATIONS), 1
        ):
            operations[f"{first.alias}-{number}"] = deployment.operation_id
    return {
        "organization_id": {first_organization.alias: first_organization.id},
        "project_id": {project.alias: project.id for project in projects},
        "operation_id": operations,
        "expected_source_generation": {
            project.alias: project.source_generation for project in projects[:1]
        },
    }
