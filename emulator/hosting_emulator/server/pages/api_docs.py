"""The entrance to the documentation: the API's calls, to read and to try, and links to the rest.

The calls are shown by Swagger UI, which is shipped with the emulator; `docs.js` gives it a world's
OpenAPI document and the token of a person who can be chosen. Without scripts the links remain.
"""

from __future__ import annotations

from html import escape
from typing import Final

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.server.pages.layout import (
    ASSUMPTIONS_PATH,
    ERRORS_PATH,
    HEALTH_PATH,
    OPENAPI_PATH,
    page,
    prose,
)
from hosting_emulator.server.static import STATIC_PATH

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Swagger UI writes styles into its elements; only this page allows that. It asks this server only."""

_HEAD: Final = f"""<link rel="stylesheet" href="{STATIC_PATH}/swagger-ui/swagger-ui.css">
<link rel="stylesheet" href="{STATIC_PATH}/docs.css">
<script src="{STATIC_PATH}/swagger-ui/swagger-ui-bundle.js" defer></script>
<script type="module" src="{STATIC_PATH}/docs.js"></script>
"""
_LINKS: Final = (
    (
        ERRORS_PATH,
        "Problem catalogue",
        f"The {len(PROBLEMS)} problem codes: what each means, when it comes and what a client"
        " should do about it.",
    ),
    (
        OPENAPI_PATH,
        "OpenAPI document",
        "The calls of the contract as an OpenAPI 3.1 document, for generators and checkers.",
    ),
    (
        ASSUMPTIONS_PATH,
        "Assumptions",
        "Every point on which the contract is silent: our default, the alternatives, and the"
        " name to set it by.",
    ),
    (HEALTH_PATH, "Health", "Whether the emulator is up, and its version."),
)


def docs_page(*, base: str = "") -> str:
    """Return the page; `base` stands before its links, such as an origin."""
    cards = "".join(
        f'<li><a href="{escape(base)}{path}">{escape(name)}</a><p>{prose(about)}</p></li>'
        for path, name, about in _LINKS
    )
    body = f"""<h1>Documentation</h1>
<p class="lead">What this emulator answers, and how much of that the contract stands behind.</p>
<ul class="cards">{cards}</ul>
<h2 id="calls">The calls</h2>
<p>Open a call and press <b>Execute</b>: it is sent to the world, as the person,
that you choose here, and changes that world.</p>
<noscript><p>The list of calls needs scripts. The OpenAPI document above says the same.</p></noscript>
<form id="who" hidden>
<label>World <select id="world"></select></label>
<label>Person <select id="person"></select></label>
<p id="said" role="status"></p>
</form>
<section id="swagger" aria-label="The calls"></section>"""
    return page("Documentation", body, base=base, head=_HEAD)
