"""The content of a world as the control API returns it, to compare with what the page showed."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from tests.support.http_world import HttpWorld


def items(api: HttpWorld, path: str) -> list[dict[str, Any]]:
    """Return the items at a path below the control URL of the world of `api`."""
    return list(document_at(api, path)["items"])


def document_at(api: HttpWorld, path: str) -> dict[str, Any]:
    """Return the document at a path below the control URL of the world of `api`; "" is its own."""
    control_url = api.emulator.base_url.replace("/worlds/", "/_emulator/worlds/", 1)
    with urllib.request.urlopen(f"{control_url}/{path}".rstrip("/")) as response:
        return dict(json.load(response))
