"""Where an emulator is, as people and the environment write it."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

#: Where `hosting-emulator start` listens unless told otherwise.
DEFAULT_URL = "http://127.0.0.1:4620"
_URL = re.compile(r"(?P<server>.*?)(?:/_emulator)?(?:/worlds/(?P<world>[^/]+))?/*")


class Address(NamedTuple):
    """A control API, and a world if the address names one."""

    control_url: str
    world: str | None


def read_address(url: str | None) -> Address:
    """Read the address of an emulator or of one of its worlds: a base URL or a control URL.

    Without one, the environment's HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD hold, as they do
    for the command line; without these, an emulator that was started with no options.
    """
    named = None if url else os.environ.get("HOSTING_EMULATOR_WORLD")
    text = url or os.environ.get("HOSTING_EMULATOR_URL") or DEFAULT_URL
    found = _URL.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not an address: write it like {DEFAULT_URL}")
    return Address(f"{found['server'].rstrip('/')}/_emulator", found["world"] or named or None)


def read_control_token(token: str | None) -> str | None:
    """Return the control token to send: the one given, else HOSTING_EMULATOR_CONTROL_TOKEN's."""
    return token or os.environ.get("HOSTING_EMULATOR_CONTROL_TOKEN") or None
