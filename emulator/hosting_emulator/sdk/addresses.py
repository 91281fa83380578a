"""Parses the address of an emulator, or finds it in the environment or the settings file."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path

from hosting_emulator import DEFAULT_PORT, EXEC_URL_VARIABLE
from hosting_emulator.settings_file import port_of_file

#: The default address of `hosting-emulator start`.
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
_URL = re.compile(r"(?P<server>.*?)(?:/_emulator)?(?:/worlds/(?P<world>[^/]+))?/*")


def default_url() -> str:
    """Return the address of an emulator on this machine.

    The address comes from the ready file in HOSTING_EMULATOR_READY_FILE. If that file is missing or
    unreadable, the port comes from HOSTING_EMULATOR_PORT, or from the settings file of the working
    folder.
    """
    # The ready file may be missing, or another program may have written it.
    with suppress(OSError, ValueError, TypeError, KeyError):
        ready = Path(os.environ["HOSTING_EMULATOR_READY_FILE"]).read_bytes()
        return str(json.loads(ready)["local_url"])
    port = os.environ.get("HOSTING_EMULATOR_PORT", "") or str(port_of_file())
    if port == "0":
        return DEFAULT_URL
    return f"http://127.0.0.1:{port}"


def read_address(url: str | None) -> tuple[str, str | None]:
    """Parse the address of an emulator or of a world.

    Return the control URL, and the world's name (None if no world is named). If `url` is empty or
    None, the URL and the name come from the environment. Raises ValueError for an invalid address.
    """
    default_world = None
    text = url
    if not text:
        default_world = os.environ.get("HOSTING_EMULATOR_WORLD") or None
        text = os.environ.get("HOSTING_EMULATOR_URL") or os.environ.get(EXEC_URL_VARIABLE)
    if not text:
        text = default_url()
    match = _URL.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an address: write it like {DEFAULT_URL}")
    return f"{match['server'].rstrip('/')}/_emulator", match["world"] or default_world
