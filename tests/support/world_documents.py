"""The OpenAPI document that an emulator serves for a world, for a world in this process."""

from __future__ import annotations

from typing import Any

from hosting_emulator.variation.world_openapi import world_document
from tests.support.in_process import InProcess


def openapi_of(api: InProcess) -> dict[str, Any]:
    """Return the OpenAPI document of a world, with the port of its dev origins."""
    return world_document(api.world, "http://127.0.0.1", api.dev_port)
