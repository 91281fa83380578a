"""Implements `open`, which opens the emulator's page in a browser."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import click

from hosting_emulator import DEFAULT_WORLD
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import prints

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator

#: Variables that show that a browser can open a window, or that select a browser.
_SCREEN_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def _remark(page: dict[str, Any]) -> str | None:
    if page["opened"]:
        return None
    return "The page could not be opened in a browser. Open the address yourself."


@click.command(
    "open",
    cls=HelpCommand,
    epilog=examples(
        """
        hosting-emulator open
        hosting-emulator open --world checkout
        """
    ),
)
@prints("{value[url]}", words=_remark)
@opt.with_world
def open_(world: HostingEmulator) -> dict[str, Any]:
    """Open the emulator's page in a browser, and print the page's address.

    The page shows requests as they arrive and the reasons for their responses, and lets you control
    the world. If there is no browser, for example in a container, the command only prints the
    address.
    """
    name = world.summary.name  # an unknown world is an error
    url = f"{world.control.control_url}/"
    if name != DEFAULT_WORLD:
        url = f"{url}#/requests?{urlencode({'world': name})}"
    return {"url": url, "opened": _open_in_browser(url)}


def _open_in_browser(url: str) -> bool:
    """Open a URL in a browser. Return whether this was possible."""
    has_screen = sys.platform == "darwin" or any(map(os.environ.get, _SCREEN_VARIABLES))
    if not has_screen:
        # Without this check, `webbrowser` would start a text browser in this terminal.
        return False
    import webbrowser

    return webbrowser.open(url)
