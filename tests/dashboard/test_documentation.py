"""The pages with Swagger UI for both APIs: what they load, and under which policy."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from aiohttp import web

from hosting_emulator.dashboard.documentation import (
    show_control_documentation,
    show_documentation,
)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@pytest.mark.parametrize(
    ("show", "title", "script"),
    [
        (show_documentation, "Documentation", "docs.js"),
        (show_control_documentation, "Control API", "control-docs.js"),
    ],
)
def test_a_documentation_page_loads_swagger_ui_and_its_own_script(
    show: Callable[[], web.Response], title: str, script: str
) -> None:
    response = show()
    text = str(response.text)

    assert response.headers["Content-Security-Policy"] == POLICY
    assert f"<title>{title} - hosting-emulator</title>" in text
    assert f'<script type="module" src="/_emulator/static/{script}"></script>' in text
    assert '<section id="swagger"' in text
    assert 'href="/_emulator/static/swagger-ui/swagger-ui.css"' in text
