"""The page at the control URL: where things are, and what worlds there are."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.server.pages.layout import page
from hosting_emulator.server.sites import world_prefix
from hosting_emulator.world import tables as t
from hosting_emulator.world.value import World


def start_page(base_url: str, worlds: Sequence[World]) -> str:
    """Return the page; `base_url` is where its reader reached the server."""
    base = escape(base_url)
    rows = "".join(_row(base_url, world) for world in worlds)
    return page(
        "hosting-emulator",
        f"<p>The Project Hosting Control API answers at <code>{base}/v1</code>, the control API at "
        f"<code>{base}/_emulator</code>. <a href='/_emulator/docs'>Documentation</a></p>"
        "<h2>Worlds</h2><table><thead><tr><th scope='col'>World</th><th scope='col'>Base URL</th>"
        "<th scope='col'>Clock</th><th scope='col'>World time</th><th scope='col'>Projects</th>"
        f"<th scope='col'>Operations</th></tr></thead><tbody>{rows}</tbody></table>",
    )


def _row(base_url: str, world: World) -> str:
    cells = (
        world.name,
        base_url + world_prefix(world.name),
        world.clock.mode,
        format_timestamp(world.at_ms),
        str(world.count(t.PROJECTS)),
        str(world.count(t.OPERATIONS)),
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
