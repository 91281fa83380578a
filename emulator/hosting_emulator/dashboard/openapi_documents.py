"""The OpenAPI documents for the public API and the control API.

The form of these documents is defined by OpenAPI, so the functions return plain JSON objects.
"""

from __future__ import annotations

from hosting_emulator.control.openapi import control_document
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.guard import world_prefix
from hosting_emulator.messages import JsonObject
from hosting_emulator.variation.world_openapi import example_values, world_document


def openapi(context: Context, engine: Engine) -> JsonObject:
    """Return the OpenAPI 3.1 document for a world's public API, under that world's assumptions."""
    url = context.base_url + world_prefix(engine.world.name)
    return world_document(engine.world, url, context.site.tls_port)


def control_openapi(context: Context, engine: Engine) -> JsonObject:
    """Return the OpenAPI 3.1 document for the control API, with examples from the default world."""
    operation_ids = example_values(engine.world).get("operation_id", {}).values()
    operation_id = next(iter(operation_ids), None)
    return control_document(context.base_url, context.facts.version, operation_id)
