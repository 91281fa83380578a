"""Parses the address of an emulator, or reads it from the environment."""

from __future__ import annotations

import os
import re

from hosting_emulator import DEFAULT_PORT, EXEC_URL_VARIABLE

#: pytest shows the line of the test instead of the lines of this module.
__tracebackhide__ = True

#: The default address of `hosting-emulator start`.
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
_URL = re.compile(r"(?P<server>.*?)(?:/_emulator)?(?:/worlds/(?P<world>[^/]+))?/*")


def read_address(url: str | None) -> tuple[str | None, str | None]:
    """Parse the address of an emulator or of a world.

    Return the control URL, and the world's name (None if no world is named). If `url` is empty or
    None, the URL and the name come from variables. The control URL is None if no variable names an
    emulator. Raises ValueError for an invalid address.
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
