"""The documents that an emulator serves about one world, for a world in this process."""

from __future__ import annotations

from typing import Any

from hosting_emulator.variation.world_openapi import world_document
from tests.support.in_process import InProcess


def openapi_of(api: InProcess) -> dict[str, Any]:
    """Return the OpenAPI document of a world, as it would be served for the port of its origins."""
    return world_document(api.world, "http://127.0.0.1", api.dev_port)
