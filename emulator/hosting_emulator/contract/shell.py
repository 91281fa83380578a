"""Builds the shell commands that messages suggest to the reader."""

from __future__ import annotations

import shlex

from hosting_emulator import DEFAULT_PORT, DEFAULT_WORLD

_DEFAULT_URLS = (f"http://127.0.0.1:{DEFAULT_PORT}", f"http://localhost:{DEFAULT_PORT}")


def command_line(command: str, base_url: str, world: str) -> str:
    """Return a hosting-emulator command with the options that select a server and a world.

    An option is omitted if it would have no effect.
    """
    options = ""
    if world != DEFAULT_WORLD:
        options += f" --world {world}"
    if base_url not in _DEFAULT_URLS:
        options += f" --url {shlex.quote(base_url)}"
    return f"hosting-emulator {command}{options}"
