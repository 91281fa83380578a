"""The frame of the identity provider's pages."""

from __future__ import annotations

from typing import Final

from hosting_emulator.http.pages import STATIC_PATH, Html, Templates, frame

TEMPLATES: Final = Templates(__package__)


def sign_in_page(title: str, body: Html) -> str:
    """Return a page of the identity provider. It has no links to other pages, and names the emulator."""
    head = Html(f'<link rel="stylesheet" href="{STATIC_PATH}/sign-in.css">\n')
    kind = Html(' class="sign-in"')
    foot = TEMPLATES.fill("sign-in-foot")
    return frame(title, body, head=head, kind=kind, top="", foot=foot)
