"""Commands that a message tells its reader to run, as they can be typed into a shell."""

from __future__ import annotations

import shlex

from hosting_emulator import DEFAULT_PORT, DEFAULT_WORLD

_DEFAULT_URLS = (f"http://127.0.0.1:{DEFAULT_PORT}", f"http://localhost:{DEFAULT_PORT}")


def command_line(command: str, base_url: str, world: str) -> str:
    """Return a command of ours with the options that choose a server and a world.

    An option is left out where its default chooses the same.
    """
    options = ""
    if world != DEFAULT_WORLD:
        options += f" --world {world}"
    if base_url not in _DEFAULT_URLS:
        options += f" --url {shlex.quote(base_url)}"
    return f"hosting-emulator {command}{options}"
