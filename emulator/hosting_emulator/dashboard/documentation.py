"""The documentation pages: an overview, and Swagger UI for both APIs."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.dashboard.manual.pages import STYLE, overview_of_groups
from hosting_emulator.http import responses
from hosting_emulator.http.pages import Templates, page

_TEMPLATES: Final = Templates(__package__)
#: The content security policy for Swagger UI, which needs inline styles and sends requests only to
#: this server. No other page is allowed inline styles.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def show_documentation() -> web.Response:
    """Show links to the manual and all other documents, and the documentation of the public API."""
    body = _TEMPLATES.fill("docs", count=len(PROBLEMS), manual=overview_of_groups())
    head = STYLE + _TEMPLATES.fill("docs-head", script="docs.js")
    return responses.html(page("Documentation", body, head=head), _POLICY)


def show_control_documentation() -> web.Response:
    """Show the documentation of the control API."""
    body = _TEMPLATES.fill("control-docs")
    head = _TEMPLATES.fill("docs-head", script="control-docs.js")
    return responses.html(page("Control API", body, head=head), _POLICY)
