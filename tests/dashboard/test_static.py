"""Pages can load only the listed files, each with a media type and a validator."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

from hosting_emulator.dashboard.static_files import static_files
from hosting_emulator.http.pages import STATIC_PATH
from tests.support.http_world import HttpWorld


def fetch(api: HttpWorld, name: str, **headers: str):
    parts = urlsplit(api.emulator.base_url)
    request_headers = {key.replace("_", "-"): value for key, value in headers.items()}
    url = f"{parts.scheme}://{parts.netloc}{STATIC_PATH}/{name}"
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, headers=request_headers)
        ) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("docs.js", "text/javascript; charset=utf-8"),
        ("sign-in.css", "text/css; charset=utf-8"),
        ("swagger-ui/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
        ("swagger-ui/LICENSE", "text/plain; charset=utf-8"),
    ],
)
def test_a_static_file_is_served_and_revalidated_by_its_etag(api: HttpWorld, name: str, kind: str):
    status, headers, body = fetch(api, name)

    assert (status, body) == (200, static_files()[name].read_bytes())
    assert headers["Content-Type"] == kind
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-cache"
    assert re.fullmatch(r'"[0-9a-f]{32}"', headers["ETag"])
    for etag in (headers["ETag"], f'"other", W/{headers["ETag"]}', "*"):
        assert fetch(api, name, If_None_Match=etag)[::2] == (304, b"")
    assert fetch(api, name, If_None_Match='"other"')[0] == 200


def test_the_style_sheet_of_the_documentation_is_served(api: HttpWorld):
    url = f"{api.emulator.control.control_url}/docs/style.css"

    with urllib.request.urlopen(url) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/css; charset=utf-8"


@pytest.mark.parametrize(
    "name",
    [
        "../__init__.py",
        "..%2f__init__.py",
        "%2e%2e/__init__.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "swagger-ui",
        "swagger-ui/",
        "swagger-ui/../docs.js",
        "docs.js%00",
        "DOCS.JS",
        "",
    ],
)
def test_no_other_path_reaches_a_file(api: HttpWorld, name: str):
    assert fetch(api, name)[0] == 404


def test_vendored_files_are_served_with_their_licenses():
    names = set(static_files())

    assert {"swagger-ui/LICENSE", "swagger-ui/NOTICE"} <= names
    assert not [name for name in names if name.endswith((".py", ".map"))]
