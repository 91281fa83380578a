"""The start page, which is the dashboard."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from hosting_emulator.control.worlds import list_worlds
from hosting_emulator.dashboard.start_body import start_body
from hosting_emulator.dashboard.static_files import static_files
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.pages import STATIC_PATH, Html, Templates
from hosting_emulator.world.naming import DEFAULT_WORLD

_TEMPLATES: Final = Templates(__package__)
#: The page's content security policy. The page loads only files from this server, and no page can
#: embed it in a frame.
_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_STYLES: Final = "dashboard/style/"
#: The style sheets that are loaded first, in this order. Other style sheets, such as those for
#: panels, can override them.
_FIRST_STYLES: Final = [f"{_STYLES}{name}.css" for name in ("base", "parts", "frame")]


def start(context: Context) -> web.Response:
    """Show the dashboard."""
    # Put the default world first, because without scripts only the first world is shown in detail.
    worlds = sorted(list_worlds(context), key=lambda world: world.name != DEFAULT_WORLD)
    body = start_body(context.base_url, _storage_text(context), worlds)
    text = _TEMPLATES.fill("dashboard", styles=_style_links(), fallback=body)
    return responses.html(text, _POLICY)


def _storage_text(context: Context) -> str:
    """Describe where the worlds' state is stored."""
    facts = context.facts
    if facts.data_dir is None:
        return "in memory only; lost when this process ends"
    return f"{facts.data_dir} (durability: {facts.durability})"


def _style_links() -> Html:
    names = sorted(name for name in static_files() if name.startswith(_STYLES))
    others = [name for name in names if name not in _FIRST_STYLES]
    links = [
        f'<link rel="stylesheet" href="{STATIC_PATH}/{name}">' for name in [*_FIRST_STYLES, *others]
    ]
    return Html("\n".join(links))
