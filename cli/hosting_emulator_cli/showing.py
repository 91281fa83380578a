"""Showing a whole exchange, as whoever looks can best read it: in colours, or as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hosting_emulator_cli.exchanges import whole_text
from hosting_emulator_cli.looks.terminal import console, is_terminal
from hosting_emulator_cli.output import put

if TYPE_CHECKING:
    from hosting_emulator.sdk import WholeExchange


def show_whole(found: WholeExchange, projects: Mapping[str, str]) -> None:
    """Print a whole exchange, with colours on a terminal."""
    if not is_terminal():
        put(whole_text(found, projects))
        return
    from hosting_emulator_cli.looks.exchanges import whole

    out = console()
    out.print(whole(found, projects, out.width))
