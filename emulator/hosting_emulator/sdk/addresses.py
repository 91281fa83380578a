"""Parses an emulator's address, or reads it from the environment."""

from __future__ import annotations

import os
import re

from hosting_emulator import DEFAULT_PORT, EXEC_URL_VARIABLE

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

#: The address that `hosting-emulator start` uses by default.
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
_URL = re.compile(r"(?P<server>(?i:https?)://.*?)(?:/_emulator)?(?:/worlds/(?P<world>[^/]+))?/*")


def read_address(url: str | None) -> tuple[str | None, str | None]:
    """Parse the address of an emulator or a world.

    Returns the control URL and the world's name, or None if no world is named. If `url` is empty or
    None, both come from environment variables. The control URL is None if no variable specifies an
    emulator. Raises ValueError if the address is invalid.
    """
    default_world = None
    text = url
    if not text:
        default_world = os.environ.get("HOSTING_EMULATOR_WORLD") or None
        text = os.environ.get("HOSTING_EMULATOR_URL") or os.environ.get(EXEC_URL_VARIABLE)
    if not text:
        return None, default_world
    match = _URL.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an address: write it like {DEFAULT_URL}")
    return f"{match['server'].rstrip('/')}/_emulator", match["world"] or default_world
